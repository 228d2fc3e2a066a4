/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sample_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace gr::spead {

namespace {

__extension__ using wide = __int128;

sample_decoder
make_decoder(const sample_reader::plan& how, unsigned bits, byte_order order)
{
    const float full_scale = bits == 16 ? INT16_MAX : INT8_MAX;
    return sample_decoder(how.type, order, how.scale > 0 ? how.scale : full_scale, bits);
}

} // namespace

sample_reader::sample_reader(const plan& how,
                             sample_window& window,
                             std::vector<source_counter_set>& counters)
    : d_plan(how),
      d_window(window),
      d_counters(counters),
      d_decoders{ make_decoder(how, 8, byte_order::big),
                  make_decoder(how, 16, byte_order::big),
                  make_decoder(how, 16, byte_order::little) },
      d_outputs(counters.size())
{
    for (auto& out : d_outputs)
        out.skipped.reserve(window.most_items());
}

void sample_reader::read(const std::vector<std::byte*>& to,
                         std::size_t most,
                         std::vector<std::size_t>& read,
                         std::vector<sample_tag>& tags)
{
    for (std::size_t i = 0; i < d_outputs.size(); ++i) {
        d_outputs[i].to = to[i];
        d_outputs[i].done = 0;
    }
    const auto front = d_window.front();
    auto& begins = d_window.begins();
    auto at = d_window.base();
    for (;;) {
        while (begins.read_available() && begins.front().gap.begin == at) {
            begin_stream();
            at = d_stream.gap.end;
        }
        const auto stream_end =
            begins.read_available() ? begins.front().gap.begin : front;
        std::size_t room = most;
        for (const auto& out : d_outputs)
            room = std::min(room, most - out.done);
        const auto bytes = static_cast<std::int64_t>(room * d_stream.sample_bytes);
        const auto end = std::max(at + bytes, end_of_skipped(at));
        const position_range range{ at, std::min({ end, front, stream_end }) };
        if (range.size() <= 0)
            break;
        for (std::size_t i = 0; i < d_outputs.size(); ++i)
            read_output(i, range, tags);
        at = range.end;
    }
    d_window.release(at);
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        read[i] = d_outputs[i].done;
}

// Of samples from \p position on that no output gives.
std::int64_t sample_reader::end_of_skipped(std::int64_t position)
{
    if (d_plan.on_missing != missing_policy::skip)
        return position;
    auto end = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < d_outputs.size(); ++i) {
        auto& missing = d_window.missing(i);
        if (!missing.read_available() || missing.front().begin > position)
            return position;
        end = std::min(end, missing.front().end);
    }
    return end;
}

void sample_reader::begin_stream()
{
    d_window.begins().pop(d_stream);
    for (auto& out : d_outputs) {
        out.needs_timestamp = true;
        out.skipped.assign(d_stream.format->immediates.size(), std::nullopt);
    }
}

void sample_reader::read_output(std::size_t which,
                                position_range range,
                                std::vector<sample_tag>& tags)
{
    auto& out = d_outputs[which];
    auto& missing = d_window.missing(which);
    auto& counters = d_counters[which];
    while (range.size() > 0) {
        const bool has_gap =
            missing.read_available() && missing.front().begin < range.end;
        const auto gap =
            has_gap ? missing.front() : position_range{ range.end, range.end };
        const position_range arrived{ range.begin, std::max(range.begin, gap.begin) };
        if (arrived.size() > 0) {
            add_tags(which, arrived, tags);
            copy(which, arrived);
            counters.samples_received.add(samples_in(arrived));
        }
        if (!has_gap)
            return;
        const position_range lost{ arrived.end, std::min(range.end, gap.end) };
        if (lost.begin == gap.begin)
            add(tags, { which, out.done, sample_tag::kind::missing, samples_in(gap) });
        if (d_plan.on_missing == missing_policy::zero_fill) {
            add_tags(which, lost, tags);
            fill(which, lost);
        } else {
            skip_changes(which, lost.end);
            out.needs_timestamp = true;
        }
        counters.samples_missing.add(samples_in(lost));
        if (lost.end == gap.end)
            missing.pop();
        range.begin = lost.end;
    }
}

// Of samples that are about to be written.
void sample_reader::add_tags(std::size_t which,
                             position_range range,
                             std::vector<sample_tag>& tags)
{
    auto& out = d_outputs[which];
    if (out.needs_timestamp) {
        add(tags, { which, out.done, sample_tag::kind::timestamp, tick_at(range.begin) });
        skip_changes(which, range.begin + 1);
        for (std::size_t i = 0; i < out.skipped.size(); ++i)
            if (const auto value = std::exchange(out.skipped[i], std::nullopt))
                add(tags,
                    { which,
                      out.done,
                      sample_tag::kind::item,
                      *value,
                      i,
                      d_stream.format });
    }
    out.needs_timestamp = false;
    auto& changes = d_window.changes(which);
    while (changes.read_available() && changes.front().position < range.end) {
        const auto& change = changes.front();
        const auto behind = std::max(change.position, range.begin) - range.begin;
        add(tags,
            { which,
              out.done + static_cast<std::size_t>(behind) / d_stream.sample_bytes,
              sample_tag::kind::item,
              change.value,
              change.item,
              d_stream.format });
        changes.pop();
    }
}

// Their last values become tags of the next sample.
void sample_reader::skip_changes(std::size_t which, std::int64_t end)
{
    auto& changes = d_window.changes(which);
    for (; changes.read_available() && changes.front().position < end; changes.pop())
        d_outputs[which].skipped[changes.front().item] = changes.front().value;
}

// An exception would leave samples counted that nobody got.
void sample_reader::add(std::vector<sample_tag>& tags, sample_tag tag) noexcept
{
    try {
        tags.push_back(std::move(tag));
    } catch (const std::bad_alloc&) {
    }
}

void sample_reader::copy(std::size_t which, position_range range)
{
    auto& out = d_outputs[which];
    while (range.size() > 0) {
        const auto [from, unbroken] = d_window.memory(which, range.begin);
        const auto bytes = std::min(unbroken, static_cast<std::size_t>(range.size()));
        const auto n = bytes / d_stream.sample_bytes;
        const auto& with = decoder();
        with.decode(out.to + out.done * with.output_bytes(), from, n);
        out.done += n;
        range.begin += static_cast<std::int64_t>(bytes);
    }
}

void sample_reader::fill(std::size_t which, position_range range)
{
    auto& out = d_outputs[which];
    const auto size = decoder().output_bytes();
    const auto n = samples_in(range);
    std::memset(out.to + out.done * size, 0, n * size);
    out.done += n;
}

const sample_decoder& sample_reader::decoder() const
{
    const auto& format = *d_stream.format;
    return d_decoders[format.bits == 16 ? 1 + (format.order == byte_order::little) : 0];
}

std::uint64_t sample_reader::tick_at(std::int64_t position) const
{
    const auto samples = (position - d_stream.reference) /
                         static_cast<std::int64_t>(d_stream.sample_bytes);
    return d_stream.tick +
           static_cast<std::uint64_t>(wide(samples) * d_plan.ticks / d_plan.samples);
}

} // namespace gr::spead
