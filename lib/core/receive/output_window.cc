/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "output_window.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace gr::spead {

namespace {

// Senders send the heaps of several outputs in turn: other outputs lag behind.
constexpr int delay_factor_of_other_outputs = 10;

constexpr position_range all_positions{ 0, std::numeric_limits<std::int64_t>::max() };

} // namespace

output_window::output_window(const config& how, std::vector<source_counter_set>& counters)
    : d_config(how),
      d_counters(counters),
      d_decoder(sample_format()),
      d_outputs(how.outputs)
{
    for (auto& of : d_outputs) {
        of.missing.restart(all_positions);
        of.items = std::vector<item_values>(how.items);
    }
}

void output_window::set_room(const std::vector<std::byte*>& at, std::int64_t samples)
{
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        d_outputs[i].at = at[i];
    d_room = samples;
    d_capacity = std::max(d_capacity, samples);
}

bool output_window::request_room(std::size_t which,
                                 position_range range,
                                 clock::time_point now)
{
    if (range.end <= end_of_room() && !d_outputs[which].missing.is_full())
        return true;
    raise_top(std::min(range.begin, end_of_room()), now); // so that produce() makes room
    return false;
}

std::size_t output_window::place(std::size_t which,
                                 position_range range,
                                 const std::byte* data,
                                 clock::time_point now)
{
    auto& to = d_outputs[which];
    const auto late = static_cast<std::size_t>(
        std::clamp<std::int64_t>(d_front - range.begin, 0, range.size()));
    std::size_t placed = 0;
    raise_top(range.end, now);
    if (range.end > to.missing.last().begin)
        to.missing.last().since = now;
    to.missing.remove(range, [&](position_range part) {
        const auto first = static_cast<std::size_t>(part.begin - range.begin);
        const auto samples = static_cast<std::size_t>(part.size());
        d_decoder.decode(
            address(to, part.begin), data + first * d_decoder.wire_bytes(), samples);
        placed += samples;
    });
    const auto all = static_cast<std::size_t>(range.size());
    d_counters[which].samples_late.add(late);
    d_counters[which].samples_duplicate.add(all - late - placed);
    return placed;
}

// Outputs that had all samples up to the top begin to miss samples now.
void output_window::raise_top(std::int64_t to, clock::time_point now)
{
    if (to <= d_top)
        return;
    for (auto& of : d_outputs)
        if (of.missing.last().begin == d_top)
            of.missing.last().since = now;
    d_top = to;
}

bool output_window::set_item(std::size_t which,
                             std::size_t item,
                             position_range heap,
                             std::uint64_t value)
{
    return d_outputs[which].items[item].set({ std::max(heap.begin, d_front), heap.end },
                                            value);
}

void output_window::withdraw(std::size_t which,
                             position_range heap,
                             clock::time_point now)
{
    auto& of = d_outputs[which];
    heap.begin = std::max(heap.begin, d_front);
    of.missing.add(heap, now);
    for (auto& item : of.items)
        item.erase(heap);
}

std::int64_t output_window::begin_stream(clock::time_point until, std::int64_t granule)
{
    d_front = d_top = d_given_up = 0;
    d_open_until = until;
    d_granule = granule;
    for (auto& of : d_outputs) {
        of.missing.restart(all_positions);
        of.needs_timestamp = true;
        for (auto& item : of.items)
            item.restart();
    }
    return d_opened_at = d_room / 2 / granule * granule;
}

void output_window::skip_to(std::int64_t position)
{
    if (d_open_until) {
        d_top = position; // if nothing has arrived, the stream begins there
        end_opening();
    }
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        note_skipped(i, position - d_front);
    move_front(position);
}

void output_window::give_up(std::int64_t end)
{
    d_top = std::max(d_top, std::min(end, end_of_room()));
    d_top = (d_top + d_config.granule - 1) / d_config.granule * d_config.granule;
    d_given_up = d_top;
}

void output_window::abandon()
{
    skip_to(d_top);
    for (auto& of : d_outputs)
        of.skipped = 0; // the next run does not tag them
}

// Moves the front to the first sample of the first heap, or to an earlier one that has
// arrived. If none has arrived, moves it to the sample for which there was no room.
void output_window::end_opening()
{
    auto first = d_top;
    for (const auto& of : d_outputs) {
        const auto& missing = *of.missing.begin();
        const auto arrived = missing.begin == d_front ? missing.end : d_front;
        if (arrived != all_positions.end)
            first = std::min({ first, arrived, d_opened_at });
    }
    d_open_until.reset();
    move_front(first / d_granule * d_granule);
}

// Leaves the samples at their addresses.
void output_window::move_front(std::int64_t to)
{
    for (auto& of : d_outputs)
        of.missing.remove({ d_front, to }, [](position_range) {});
    d_shift += to - d_front;
    d_front = to;
    d_top = std::max(d_top, to);
    if (is_empty())
        d_shift = 0;
}

// Moves samples to their final addresses, so that skipped samples take no room.
void output_window::compact()
{
    for (auto& of : d_outputs)
        std::memmove(of.at, address(of, d_front), output_bytes(d_top - d_front));
    d_shift = 0;
}

std::int64_t output_window::end_of_ready(clock::time_point now, bool is_blocked)
{
    const bool gives_up = d_given_up > d_front;
    if (d_open_until) {
        const bool is_over = now >= *d_open_until && !is_empty();
        if (!is_over && !is_blocked && !gives_up)
            return d_front;
        end_opening();
        compact();
        is_blocked = false; // there may be room now
    }
    if (gives_up)
        return d_given_up;
    const auto is_awaited = [&](const missing_ranges::range& missing) {
        const int delays =
            missing.end == all_positions.end ? delay_factor_of_other_outputs : 1;
        return !(is_blocked && missing.begin < d_front + d_config.granule) &&
               (missing.begin >= d_top ||
                now - missing.since < delays * d_config.max_delay);
    };
    auto end = d_top;
    for (const auto& of : d_outputs) {
        const auto missing =
            std::find_if(of.missing.begin(), of.missing.end(), is_awaited);
        if (missing != of.missing.end())
            end = std::min(end, missing->begin);
    }
    return end / d_config.granule * d_config.granule;
}

std::size_t output_window::produce(std::int64_t end, std::vector<sample_tag>& tags)
{
    std::int64_t produced = 0;
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        produced = produce_output(i, end, tags);
    d_shift -= produced;
    d_room -= produced;
    move_front(end);
    if (d_shift > d_room / 2)
        compact();
    return static_cast<std::size_t>(produced);
}

std::int64_t output_window::produce_output(std::size_t which,
                                           std::int64_t end,
                                           std::vector<sample_tag>& tags)
{
    auto& of = d_outputs[which];
    auto& counters = d_counters[which];
    auto position = d_front;
    std::int64_t offset = 0;
    const auto add_tag = [&](sample_tag::kind what, std::uint64_t value) {
        tags.push_back({ which, static_cast<std::size_t>(offset), what, value });
    };
    const auto produce_up_to = [&](std::int64_t next, bool has_arrived) {
        const position_range part{ position, next };
        if (part.size() <= 0)
            return;
        position = next;
        if (!has_arrived && d_config.on_missing == missing_policy::skip) {
            note_skipped(which, part.size());
            return;
        }
        if (const auto skipped = std::exchange(of.skipped, 0))
            add_tag(sample_tag::kind::skipped, skipped);
        if (std::exchange(of.needs_timestamp, false))
            add_tag(sample_tag::kind::timestamp, static_cast<std::uint64_t>(part.begin));
        const auto size = static_cast<std::uint64_t>(part.size());
        auto* const to = of.at + output_bytes(offset);
        if (has_arrived) {
            counters.samples_received.add(size);
            if (to != address(of, part.begin))
                std::memmove(to, address(of, part.begin), output_bytes(part.size()));
        } else {
            counters.samples_missing.add(size);
            add_tag(sample_tag::kind::missing, size);
            std::memset(to, 0, output_bytes(part.size()));
        }
        for (std::size_t i = 0; i < of.items.size(); ++i)
            of.items[i].report_changes(part, [&](std::int64_t at, std::uint64_t value) {
                const auto tag_offset =
                    static_cast<std::size_t>(offset + at - part.begin);
                tags.push_back({ which, tag_offset, sample_tag::kind::item, value, i });
            });
        offset += part.size();
    };
    of.missing.remove({ position, end }, [&](position_range missing) {
        produce_up_to(missing.begin, true);
        produce_up_to(missing.end, false);
    });
    produce_up_to(end, true);
    of.at += output_bytes(offset);
    return offset;
}

void output_window::note_skipped(std::size_t which, std::int64_t samples)
{
    auto& of = d_outputs[which];
    d_counters[which].samples_skipped.add(static_cast<std::uint64_t>(samples));
    of.skipped += static_cast<std::uint64_t>(samples);
    of.needs_timestamp = true;
}

} // namespace gr::spead
