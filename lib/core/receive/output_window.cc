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

output_window::output_window(const config& settings,
                             std::vector<source_counter_set>& counters)
    : d_config(settings),
      d_counters(counters),
      d_decoder(sample_format()),
      d_outputs(settings.outputs)
{
    for (auto& state : d_outputs) {
        state.missing.restart(all_positions);
        state.items = std::vector<item_values>(settings.items);
    }
}

void output_window::set_room(const std::vector<std::byte*>& write_pointers,
                             std::int64_t samples)
{
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        d_outputs[i].write_pointer = write_pointers[i];
    d_room = samples;
    d_capacity = std::max(d_capacity, samples);
}

bool output_window::reserve(std::size_t output,
                            position_range range,
                            clock::time_point now)
{
    if (range.end <= end_of_room() && !d_outputs[output].missing.is_full())
        return true;
    raise_top(std::min(range.begin, end_of_room()), now); // so that produce() makes room
    return false;
}

std::size_t output_window::place(std::size_t output,
                                 position_range range,
                                 const std::byte* data,
                                 clock::time_point now)
{
    auto& state = d_outputs[output];
    const auto before = [&](std::int64_t position) {
        return static_cast<std::size_t>(
            std::clamp<std::int64_t>(position - range.begin, 0, range.size()));
    };
    const auto early = d_first_position ? before(*d_first_position) : 0;
    const auto late = std::max(before(d_front), early) - early;
    std::size_t placed = 0;
    raise_top(range.end, now);
    if (range.end > state.missing.last().begin)
        state.missing.last().since = now;
    state.missing.remove(range, [&](position_range subrange) {
        const auto first = static_cast<std::size_t>(subrange.begin - range.begin);
        const auto subrange_samples = static_cast<std::size_t>(subrange.size());
        d_decoder.decode(address(state, subrange.begin), data, first, subrange_samples);
        placed += subrange_samples;
    });
    const auto samples = static_cast<std::size_t>(range.size());
    d_counters[output].samples_early.add(early);
    d_counters[output].samples_late.add(late);
    d_counters[output].samples_duplicate.add(samples - early - late - placed);
    return early + placed;
}

// Outputs that had all samples up to the top begin to miss samples now.
void output_window::raise_top(std::int64_t position, clock::time_point now)
{
    if (position <= d_top)
        return;
    for (auto& state : d_outputs)
        if (state.missing.last().begin == d_top)
            state.missing.last().since = now;
    d_top = position;
}

bool output_window::set_item(std::size_t output,
                             std::size_t item,
                             position_range heap,
                             std::uint64_t value)
{
    return d_outputs[output].items[item].set({ std::max(heap.begin, d_front), heap.end },
                                             value);
}

void output_window::withdraw(std::size_t output,
                             position_range heap,
                             clock::time_point now)
{
    auto& state = d_outputs[output];
    heap.begin = std::max(heap.begin, d_front);
    state.missing.add(heap, now);
    for (auto& item : state.items)
        item.erase(heap);
}

std::int64_t output_window::begin_stream(const opening& settings)
{
    d_front = d_top = d_flush_end = 0;
    d_opening_end = settings.end;
    d_alignment = settings.alignment;
    for (auto& state : d_outputs) {
        state.missing.restart(all_positions);
        state.needs_timestamp = true;
        for (auto& item : state.items)
            item.restart();
    }
    d_first_heap_position =
        std::min(d_room / 2, settings.max_earlier) / d_alignment * d_alignment;
    d_min_rounded_front = d_first_heap_position - settings.max_rounding;
    return d_first_heap_position;
}

void output_window::skip_to(std::int64_t position)
{
    if (d_opening_end) {
        d_top = position; // if nothing has arrived, the stream begins there
        end_opening();
    }
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        note_skipped(i, position - d_front);
    move_front(position);
}

void output_window::flush(std::int64_t end)
{
    d_top = std::max(d_top, std::min(end, end_of_room()));
    d_top = (d_top + d_config.alignment - 1) / d_config.alignment * d_config.alignment;
    d_flush_end = d_top;
}

void output_window::discard()
{
    skip_to(d_top);
    for (auto& state : d_outputs)
        state.skipped = 0; // the next run does not tag them
}

// Moves the front to the first sample of the first heap, or to an earlier one that has
// arrived. If none has arrived, moves it to the sample for which there was no room.
void output_window::end_opening()
{
    d_opening_end.reset();
    if (d_first_position) // the stream begins there, whether or not it has arrived
        return;
    auto first = d_top;
    for (const auto& state : d_outputs) {
        const auto& missing = *state.missing.begin();
        const auto first_arrived = missing.begin == d_front ? missing.end : d_front;
        if (first_arrived != all_positions.end)
            first = std::min({ first, first_arrived, d_first_heap_position });
    }
    const auto rounded = first / d_alignment * d_alignment;
    move_front(std::max(rounded, std::min(first, d_min_rounded_front)));
}

// Leaves the samples at their addresses.
void output_window::move_front(std::int64_t position)
{
    for (auto& state : d_outputs)
        state.missing.remove({ d_front, position }, [](position_range) {});
    d_shift += position - d_front;
    d_front = position;
    d_top = std::max(d_top, position);
    if (is_empty())
        d_shift = 0;
}

// Moves samples to their final addresses, so that skipped samples take no room.
void output_window::compact()
{
    for (auto& state : d_outputs)
        std::memmove(
            state.write_pointer, address(state, d_front), output_bytes(d_top - d_front));
    d_shift = 0;
}

std::int64_t output_window::update_ready_end(clock::time_point now, bool is_blocked)
{
    const bool is_flushing = d_flush_end > d_front;
    if (d_opening_end) {
        const bool is_over = now >= *d_opening_end && !is_empty();
        if (!is_over && !is_blocked && !is_flushing)
            return d_front;
        end_opening();
        compact();
        is_blocked = false; // there may be room now
    }
    if (is_flushing)
        return d_flush_end;
    const auto is_awaited = [&](const missing_ranges::range& missing) {
        const int delays =
            missing.end == all_positions.end ? delay_factor_of_other_outputs : 1;
        return !(is_blocked && missing.begin < d_front + d_config.alignment) &&
               (missing.begin >= d_top ||
                now - missing.since < delays * d_config.max_delay);
    };
    auto end = d_top;
    for (const auto& state : d_outputs) {
        const auto missing =
            std::find_if(state.missing.begin(), state.missing.end(), is_awaited);
        if (missing != state.missing.end())
            end = std::min(end, missing->begin);
    }
    return end / d_config.alignment * d_config.alignment;
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

std::int64_t output_window::produce_output(std::size_t output,
                                           std::int64_t end,
                                           std::vector<sample_tag>& tags)
{
    auto& state = d_outputs[output];
    auto& counters = d_counters[output];
    auto position = d_front;
    std::int64_t offset = 0;
    const auto add_tag = [&](sample_tag::kind type, std::uint64_t value) {
        tags.push_back({ output, static_cast<std::size_t>(offset), type, value });
    };
    const auto produce_up_to = [&](std::int64_t next, bool has_arrived) {
        const position_range range{ position, next };
        if (range.size() <= 0)
            return;
        position = next;
        if (!has_arrived && d_config.on_missing == missing_policy::skip) {
            note_skipped(output, range.size());
            return;
        }
        if (const auto skipped = std::exchange(state.skipped, 0))
            add_tag(sample_tag::kind::skipped, skipped);
        if (std::exchange(state.needs_timestamp, false))
            add_tag(sample_tag::kind::timestamp, static_cast<std::uint64_t>(range.begin));
        const auto size = static_cast<std::uint64_t>(range.size());
        auto* const destination = state.write_pointer + output_bytes(offset);
        if (has_arrived) {
            counters.samples_received.add(size);
            if (destination != address(state, range.begin))
                std::memmove(
                    destination, address(state, range.begin), output_bytes(range.size()));
        } else {
            counters.samples_missing.add(size);
            add_tag(sample_tag::kind::missing, size);
            std::memset(destination, 0, output_bytes(range.size()));
        }
        for (std::size_t i = 0; i < state.items.size(); ++i)
            state.items[i].report_changes(
                range, [&](std::int64_t change, std::uint64_t value) {
                    const auto tag_offset =
                        static_cast<std::size_t>(offset + change - range.begin);
                    tags.push_back(
                        { output, tag_offset, sample_tag::kind::item, value, i });
                });
        offset += range.size();
    };
    state.missing.remove({ position, end }, [&](position_range missing) {
        produce_up_to(missing.begin, true);
        produce_up_to(missing.end, false);
    });
    produce_up_to(end, true);
    state.write_pointer += output_bytes(offset);
    return offset;
}

void output_window::note_skipped(std::size_t output, std::int64_t samples)
{
    auto& state = d_outputs[output];
    d_counters[output].samples_skipped.add(static_cast<std::uint64_t>(samples));
    state.skipped += static_cast<std::uint64_t>(samples);
    state.needs_timestamp = true;
}

} // namespace gr::spead
