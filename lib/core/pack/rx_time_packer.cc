/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "rx_time_packer.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

namespace gr::spead {

namespace {

// Limits the zeros per call, as samples are limited: a call cannot be interrupted.
constexpr std::uint64_t zeros_per_write = 1 << 20;

// heap_address_bits is 40 or 48
constexpr unsigned max_address_bits = 48;

const char* const too_far_text =
    "an rx_time tag is too far from sync_time: it is ignored";

std::string rounded(double number)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(0) << number;
    return text.str();
}

} // namespace

rx_time_packer::rx_time_packer(input_packer& packer,
                               sink_counter_set& counters,
                               const tick_clock& clock,
                               const timestamp_aligner_config& config)
    : d_packer(packer),
      d_clock(clock),
      d_rate(config.sample_rate),
      d_aligner(config, counters)
{
}

void rx_time_packer::start_run()
{
    d_zeros = 0;
    d_is_filling = false;
    d_next_tag = 0;
    d_aligner.start_run();
}

std::size_t rx_time_packer::write(const std::byte* samples,
                                  std::size_t n,
                                  std::uint64_t first_sample,
                                  const std::vector<rx_time_tag>& tags)
{
    std::size_t n_taken = 0;
    std::uint64_t zeros_left = zeros_per_write;
    auto tag = tags.begin();
    while (n_taken < n && pack_zeros(zeros_left)) {
        const std::uint64_t position = first_sample + n_taken;
        while (tag != tags.end() && tag->sample < std::max(position, d_next_tag))
            ++tag;
        if (tag != tags.end() && tag->sample == position) {
            while (tag + 1 != tags.end() && (tag + 1)->sample == position)
                ++tag;
            apply_tag(*tag);
            continue;
        }
        const std::size_t end =
            tag == tags.end()
                ? n
                : std::min(n, static_cast<std::size_t>(tag->sample - first_sample));
        const auto n_packed =
            pack_samples(samples + n_taken * d_packer.input_bytes(), end - n_taken);
        if (!n_packed)
            break;
        n_taken += n_packed;
    }
    return n_taken;
}

void rx_time_packer::apply_tag(const rx_time_tag& tag)
{
    d_next_tag = tag.sample + 1;
    if (!tag.error.empty())
        return warn_once(d_no_time_warned, tag.error);
    const auto time = d_clock.to_tick(tag.seconds, tag.fraction);
    if (!time)
        return warn_once(d_too_far_warned, too_far_text);
    if (!std::exchange(d_has_time, true))
        check_first_tick(time->tick);
    const auto correction = d_aligner.process_tag(
        time->tick, time->residual, d_packer.heap_is_partly_published());
    if (correction.realign_timestamp)
        d_packer.skip_to(*correction.realign_timestamp);
    d_zeros = correction.zeros_to_pack;
}

// A long run may pass the largest timestamp, which receivers can notice. They cannot if
// the first timestamp is beyond it.
void rx_time_packer::check_first_tick(std::int64_t tick)
{
    const auto flavour = d_packer.config().regular.contents().flavour;
    const unsigned bits = flavour.heap_address_bits;
    if (tick < 0 || static_cast<std::uint64_t>(tick) <= flavour.address_mask())
        return;
    const double seconds = std::ldexp(static_cast<double>(d_rate.denominator) /
                                          static_cast<double>(d_rate.numerator),
                                      static_cast<int>(bits));
    d_warnings.push_back(
        "the first rx_time tag is " + std::to_string(tick) +
        " ticks after sync_time, but timestamps have " + std::to_string(bits) +
        " bits and wrap, so receivers see an earlier time: set sync_time, here and at "
        "the receivers, to less than " +
        rounded(std::floor(seconds)) + " s before the tag" +
        (bits < max_address_bits && tick >> max_address_bits == 0
             ? ", or heap_address_bits=" + std::to_string(max_address_bits)
             : ""));
}

void rx_time_packer::warn_once(bool& warned, const std::string& text)
{
    if (!std::exchange(warned, true))
        d_warnings.push_back(text);
}

// Packs up to \p zeros_left zeros before the next sample. Returns false if some remain.
bool rx_time_packer::pack_zeros(std::uint64_t& zeros_left)
{
    const auto n = std::min(d_zeros, zeros_left);
    const auto packed = n ? d_packer.write(nullptr, n) : 0;
    zeros_left -= packed;
    d_zeros -= packed;
    d_is_filling = d_zeros && packed == n;
    return d_zeros == 0;
}

std::size_t rx_time_packer::pack_samples(const std::byte* samples, std::size_t n)
{
    std::size_t n_taken = 0;
    if (const auto to_drop = d_aligner.samples_to_drop()) {
        n_taken = static_cast<std::size_t>(std::min<std::uint64_t>(n, to_drop));
        d_packer.drop(n_taken);
    } else {
        n_taken = static_cast<std::size_t>(d_packer.write(samples, n));
    }
    d_aligner.advance(n_taken);
    return n_taken;
}

std::vector<std::string> rx_time_packer::take_warnings()
{
    const auto warnings = d_aligner.take_warnings();
    if (warnings.no_tag)
        d_warnings.push_back("samples arrived without an rx_time tag before them: their "
                             "timestamps continue from the previous run, or from 0");
    if (warnings.residual != 0)
        d_warnings.push_back(
            "an rx_time tag is " + std::to_string(warnings.residual) +
            " samples from the nearest sample, whose time is sent: sample_rate "
            "or sync_time may not be that of the source, or a block upstream "
            "rounds the positions of tags");
    if (warnings.jump_samples != 0)
        d_warnings.push_back(
            "an rx_time tag is " + rounded(warnings.jump_samples) +
            " samples from the end of the samples before it: samples were lost "
            "or repeated, or sample_rate is not that of the source");
    if (warnings.jitter_samples != 0)
        d_warnings.push_back(
            "rx_time tags jump back and forth, here by " +
            rounded(warnings.jitter_samples) +
            " samples: a block upstream rounds the positions of tags, as Keep 1 in N "
            "does, or their times are not exact");
    if (warnings.before_sync)
        d_warnings.push_back(
            "an rx_time tag is before sync_time: samples are dropped up to "
            "that time");
    if (warnings.drop_seconds != 0)
        d_warnings.push_back(
            "an rx_time tag is " + std::to_string(warnings.drop_seconds) +
            " s behind the samples that have been sent: samples are dropped up "
            "to their end, since no timestamp is sent twice");
    if (warnings.out_of_range)
        warn_once(d_too_far_warned, too_far_text);
    return std::exchange(d_warnings, {});
}

} // namespace gr::spead
