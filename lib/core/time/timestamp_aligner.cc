/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "support/parameter_error.h"
#include "timestamp_aligner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::spead {

namespace {

// Seconds. After a longer gap, the source was switched off or reconfigured.
constexpr double max_fill_seconds = 10;
// Samples. More than 0.5, since a time half-way between two samples may be rounded either
// way.
constexpr double max_expected_offset = 0.6;
// Samples. Above any rounding error of a double: sample_rate or sync_time is not that of
// the source.
constexpr double noticeable_residual = 0.1;
// Seconds. Warn if a step back drops more.
constexpr double noticeable_loss_seconds = 1;
// Samples. A block that rounds the positions of tags moves them by a few samples, while
// an overrun loses packets.
constexpr double max_jitter = 8;
// Samples from tick 0. Counting can continue from there for years without overflow.
constexpr std::int64_t max_position = std::int64_t{ 7 } << 60;

// Valid for any two numbers: their difference may need all 64 bits.
std::uint64_t distance(std::int64_t begin, std::int64_t end)
{
    return static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
}

double samples_per_second(const timestamp_aligner_config& config)
{
    return static_cast<double>(config.sample_rate.numerator) /
           static_cast<double>(config.sample_rate.denominator) *
           static_cast<double>(config.heap_samples) /
           static_cast<double>(config.timestamp_step);
}

} // namespace

timestamp_aligner::timestamp_aligner(const timestamp_aligner_config& config,
                                     sink_counter_set& counters)
    : d_heap_samples(config.heap_samples),
      d_timestamp_step(config.timestamp_step),
      d_on_gap(config.on_gap),
      d_samples_per_second(samples_per_second(config)),
      d_counters(counters)
{
    if (d_timestamp_step < 1)
        throw parameter_error("timestamp_step",
                              std::to_string(d_timestamp_step),
                              "at least 1 with sample_rate");
}

void timestamp_aligner::start_run()
{
    if (d_has_tag)
        d_previous_end = d_expected;
    else if (d_has_untagged)
        d_previous_end = d_next;
    d_has_tag = d_has_untagged = false;
    d_to_drop = 0;
    d_next = round_up_to_heap(d_next);
}

void timestamp_aligner::advance(std::uint64_t samples)
{
    if (!d_has_tag && samples) {
        d_has_untagged = true;
        raise(&tag_warnings::no_tag, true);
    }
    const auto dropped = std::min(samples, d_to_drop);
    d_to_drop -= dropped;
    d_next += static_cast<std::int64_t>(samples - dropped);
    d_expected += static_cast<std::int64_t>(samples);
}

correction timestamp_aligner::process_tag(std::int64_t tick,
                                          double tick_residual,
                                          bool heap_is_partly_sent)
{
    const auto position = position_of(tick, tick_residual);
    if (!position) {
        raise(&tag_warnings::out_of_range, true);
        return {};
    }
    const bool is_as_expected = d_has_tag && is_expected(*position);
    const std::int64_t assumed = is_as_expected ? d_expected : position->nearest;
    const double residual =
        position->residual + static_cast<double>(position->nearest - assumed);
    if (std::abs(residual) > noticeable_residual)
        raise(&tag_warnings::residual, residual);
    if (assumed < 0)
        raise(&tag_warnings::before_sync, true);

    if (is_as_expected)
        return {};
    return d_has_tag ? close_gap(assumed) : start(assumed, heap_is_partly_sent);
}

// Returns nullopt if the tick is too far from tick 0.
std::optional<timestamp_aligner::tagged_position>
timestamp_aligner::position_of(std::int64_t tick, double tick_residual) const
{
    const std::int64_t heap = tick / d_timestamp_step;
    const std::int64_t max_heap = max_position / d_heap_samples;
    if (heap < -max_heap || heap > max_heap)
        return std::nullopt;
    // within a heap, a double is precise enough
    const double samples =
        (static_cast<double>(tick % d_timestamp_step) + tick_residual) *
        static_cast<double>(d_heap_samples) / static_cast<double>(d_timestamp_step);
    const double nearest = std::round(samples);
    return tagged_position{ heap * d_heap_samples + static_cast<std::int64_t>(nearest),
                            samples - nearest };
}

bool timestamp_aligner::is_expected(const tagged_position& position) const
{
    // may wrap around if they are far apart, but never to a small offset
    const auto offset = static_cast<std::int64_t>(distance(d_expected, position.nearest));
    return std::abs(static_cast<double>(offset) + position.residual) <=
           max_expected_offset;
}

correction timestamp_aligner::start(std::int64_t position, bool heap_is_partly_sent)
{
    // do not reuse the timestamps of heaps that were sent before the first tag
    d_next = heap_is_partly_sent ? round_up_to_heap(d_next) : round_down_to_heap(d_next);
    const std::int64_t previous_end = d_has_untagged ? d_next : d_previous_end;
    if (previous_end && position < previous_end)
        d_counters.steps_back.add(1);
    note_loss(position);
    d_expected = position;
    d_has_tag = true;
    return begin_at(position);
}

correction timestamp_aligner::close_gap(std::int64_t position)
{
    if (position > d_expected) {
        d_counters.gaps.add(1);
        d_counters.samples_missing.add(distance(d_expected, position));
    } else {
        d_counters.steps_back.add(1);
    }
    note_jump(position);
    d_expected = position;
    if (position <= d_next) {
        note_loss(position);
        d_to_drop = distance(position, d_next);
        return {};
    }
    const auto missing = distance(d_next, position);
    if (d_on_gap == gap_policy::zero_fill &&
        static_cast<double>(missing) <= max_fill_seconds * d_samples_per_second) {
        d_next = position;
        d_to_drop = 0;
        return { std::nullopt, missing };
    }
    return begin_at(position);
}

// Begins the first unused heap that starts at \p position or later.
correction timestamp_aligner::begin_at(std::int64_t position)
{
    d_next = round_up_to_heap(std::max(position, d_next));
    d_to_drop = distance(position, d_next);
    return { static_cast<std::uint64_t>(d_next / d_heap_samples) *
             static_cast<std::uint64_t>(d_timestamp_step) };
}

// Returns the start of the heap that contains \p position.
std::int64_t timestamp_aligner::round_down_to_heap(std::int64_t position) const
{
    return position / d_heap_samples * d_heap_samples;
}

// Returns the start of the first heap that begins at \p position or later.
std::int64_t timestamp_aligner::round_up_to_heap(std::int64_t position) const
{
    return round_down_to_heap(position + d_heap_samples - 1);
}

// Leaves larger steps back to note_loss().
void timestamp_aligner::note_jump(std::int64_t position)
{
    const double jump = static_cast<double>(position) - static_cast<double>(d_expected);
    if (jump >= -noticeable_loss_seconds * d_samples_per_second)
        raise(&tag_warnings::jump_samples, jump);
    if (std::abs(jump) > max_jitter)
        return;
    if (jump * d_last_small_jump < 0)
        raise(&tag_warnings::jitter_samples, jump);
    d_last_small_jump = jump;
}

// Samples from \p position to d_next have timestamps that are already in use: they are
// lost.
void timestamp_aligner::note_loss(std::int64_t position)
{
    if (d_next <= std::max<std::int64_t>(position, 0))
        return;
    const double loss = static_cast<double>(distance(position, d_next));
    if (loss > noticeable_loss_seconds * d_samples_per_second)
        d_new_warnings.drop_seconds = loss / d_samples_per_second;
}

tag_warnings timestamp_aligner::take_warnings()
{
    return std::exchange(d_new_warnings, {});
}

template <typename type>
void timestamp_aligner::raise(type tag_warnings::*warning, type value)
{
    if (d_raised.*warning == type{})
        d_raised.*warning = d_new_warnings.*warning = value;
}

} // namespace gr::spead
