/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "output_window.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gr::spead {

namespace {

// Of each output.
constexpr std::size_t most_missing = 4096;
constexpr std::size_t most_item_changes = 255;

// Senders send heaps of several outputs in turn.
constexpr int delay_factor_of_other_outputs = 10;

} // namespace

output_window::output_window(const plan& how, std::vector<source_counter_set>& counters)
    : d_plan(how), d_counters(counters), d_decoder(sample_type::int8)
{
    for (std::size_t i = 0; i < how.outputs; ++i)
        d_outputs.push_back({ nullptr,
                              missing_ranges(most_missing),
                              0,
                              false,
                              {},
                              { how.items, item_values(most_item_changes) },
                              true,
                              0 });
}

void output_window::set_room(const std::vector<std::byte*>& at, std::int64_t samples)
{
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        d_outputs[i].at = at[i];
    d_room = samples;
    d_capacity = std::max(d_capacity, samples);
}

bool output_window::is_free(std::size_t which, position_range range) const
{
    const auto& of = d_outputs[which];
    return range.begin >= d_front && (range.begin >= of.top || of.missing.contain(range));
}

bool output_window::has_room(std::size_t which, position_range range)
{
    if (d_plan.on_missing == missing_policy::skip && is_empty() &&
        range.begin > d_front && range.end - d_front > d_room)
        skip_to(range.begin);
    if (range.end - d_front + d_shift <= d_room && !d_outputs[which].missing.is_full())
        return true;
    d_wanted = range.begin;
    return range.end <= d_front;
}

output_window::outcome output_window::place(std::size_t which,
                                            position_range range,
                                            const std::byte* data,
                                            clock::time_point now)
{
    auto& to = d_outputs[which];
    outcome done;
    const auto wire_bytes = static_cast<std::int64_t>(d_decoder.wire_bytes());
    if (range.begin < d_front) {
        const auto late = std::min(d_front, range.end) - range.begin;
        done.late = static_cast<std::size_t>(late);
        data += late * wire_bytes;
        range.begin += late;
        if (range.size() <= 0)
            return done;
    }
    const auto copy = [&](position_range part) {
        d_decoder.decode(address(to, part.begin),
                         data + (part.begin - range.begin) * wire_bytes,
                         static_cast<std::size_t>(part.size()));
        done.fresh += static_cast<std::size_t>(part.size());
    };
    if (range.begin < to.top)
        to.missing.remove({ range.begin, std::min(range.end, to.top) }, copy);
    if (range.end > to.top) {
        if (range.begin > to.top)
            to.missing.append({ to.top, range.begin }, now);
        copy({ std::max(range.begin, to.top), range.end });
        extend(which, range.end, now);
    }
    done.duplicate = static_cast<std::size_t>(range.size()) - done.fresh;
    return done;
}

void output_window::extend(std::size_t which, std::int64_t top, clock::time_point now)
{
    auto& of = d_outputs[which];
    of.top = top;
    of.is_behind = top < d_top;
    of.behind_since = now;
    if (of.is_behind)
        return;
    d_top = top;
    for (auto& other : d_outputs)
        if (other.top < d_top && !std::exchange(other.is_behind, true))
            other.behind_since = now;
}

bool output_window::set_item(std::size_t which,
                             std::size_t item,
                             position_range heap,
                             std::uint64_t value)
{
    return d_outputs[which].items[item].set({ std::max(heap.begin, d_front), heap.end },
                                            value);
}

void output_window::skip_to(std::int64_t position)
{
    const auto skipped = static_cast<std::uint64_t>(position - d_front);
    for (std::size_t i = 0; i < d_outputs.size(); ++i) {
        auto& of = d_outputs[i];
        d_counters[i].samples_skipped.add(skipped);
        of.skipped += skipped;
        of.needs_timestamp = true;
        of.top = position;
        of.is_behind = false;
    }
    d_front = d_top = position;
    d_shift = 0;
}

void output_window::give_up(std::int64_t end)
{
    d_top = std::max(d_top, std::min(end, d_front + d_room - d_shift));
    d_gives_up = !is_empty();
}

void output_window::begin_stream()
{
    for (auto& of : d_outputs) {
        of.needs_timestamp = true;
        of.is_behind = false;
        for (auto& item : of.items)
            item.restart(d_front);
    }
}

std::int64_t output_window::end_of_ready(clock::time_point now, bool is_blocked) const
{
    if (d_gives_up)
        return d_top;
    auto end = d_top;
    if (is_blocked)
        end = std::min(std::max(d_top, d_wanted), d_front + d_room - d_shift);
    for (const auto& of : d_outputs) {
        auto missing = of.missing.begin();
        const auto last = of.missing.end();
        const bool begins_with_missing =
            missing == last ? of.top == d_front : missing->begin == d_front;
        if (is_blocked && begins_with_missing) {
            if (missing == last)
                continue;
            ++missing;
        }
        while (missing != last && now - missing->since >= d_plan.max_delay)
            ++missing;
        if (missing != last)
            end = std::min(end, missing->begin);
        else if (of.top < end &&
                 (is_blocked || now - of.behind_since <
                                    delay_factor_of_other_outputs * d_plan.max_delay))
            end = std::min(end, of.top);
    }
    return end;
}

std::size_t output_window::produce(std::int64_t end, std::vector<sample_tag>& tags)
{
    std::int64_t produced = 0;
    for (std::size_t i = 0; i < d_outputs.size(); ++i)
        produced = produce_output(i, end, tags);
    d_shift += end - d_front - produced;
    d_front = end;
    d_top = std::max(d_top, end);
    d_room -= produced;
    d_wanted = end;
    for (auto& of : d_outputs)
        of.is_behind &= of.top < d_top; // not if what it lacked was given up
    if (is_empty())
        d_gives_up = false;
    if (is_empty() || d_shift > d_room / 2)
        close_up();
    return static_cast<std::size_t>(produced);
}

// Moves samples to their final addresses, so that what was skipped takes no room.
void output_window::close_up()
{
    for (auto& of : d_outputs)
        std::memmove(of.at,
                     address(of, d_front),
                     static_cast<std::size_t>(d_top - d_front) *
                         d_decoder.output_bytes());
    d_shift = 0;
}

// Calls visit(part, has_arrived) for each part of a range.
template <typename visitor>
void output_window::for_each_part(const output& of, position_range range, visitor&& visit)
{
    auto at = range.begin;
    const auto up_to = [&](std::int64_t position, bool has_arrived) {
        position = std::min(position, range.end);
        if (position > at)
            visit(position_range{ at, position }, has_arrived);
        at = std::max(at, position);
    };
    for (const auto& missing : of.missing) {
        if (missing.begin >= range.end)
            break;
        up_to(missing.begin, true);
        up_to(missing.end, false);
    }
    up_to(of.top, true);
    up_to(range.end, false);
}

std::int64_t output_window::produce_output(std::size_t which,
                                           std::int64_t end,
                                           std::vector<sample_tag>& tags)
{
    auto& of = d_outputs[which];
    auto& counters = d_counters[which];
    const auto bytes = static_cast<std::int64_t>(d_decoder.output_bytes());
    std::int64_t offset = 0;
    const auto add_tag = [&](sample_tag::kind what, std::uint64_t value) {
        tags.push_back({ which, static_cast<std::size_t>(offset), what, value });
    };
    for_each_part(of, { d_front, end }, [&](position_range part, bool has_arrived) {
        const auto size = static_cast<std::uint64_t>(part.size());
        if (!has_arrived && d_plan.on_missing == missing_policy::skip) {
            counters.samples_skipped.add(size);
            of.skipped += size;
            of.needs_timestamp = true;
            return;
        }
        if (const auto skipped = std::exchange(of.skipped, 0))
            add_tag(sample_tag::kind::missing, skipped);
        if (std::exchange(of.needs_timestamp, false))
            add_tag(sample_tag::kind::timestamp, static_cast<std::uint64_t>(part.begin));
        auto* const to = of.at + offset * bytes;
        const auto part_bytes = static_cast<std::size_t>(part.size() * bytes);
        if (has_arrived) {
            counters.samples_received.add(size);
            if (to != address(of, part.begin))
                std::memmove(to, address(of, part.begin), part_bytes);
        } else {
            counters.samples_missing.add(size);
            add_tag(sample_tag::kind::missing, size);
            std::memset(to, 0, part_bytes);
        }
        add_item_tags(which, part, offset, tags);
        offset += part.size();
    });
    of.missing.remove({ d_front, end }, [](position_range) {});
    of.top = std::max(of.top, end);
    of.at += offset * bytes;
    return offset;
}

// Those of changes before the part are for its first sample: they were skipped.
void output_window::add_item_tags(std::size_t which,
                                  position_range part,
                                  std::int64_t offset,
                                  std::vector<sample_tag>& tags)
{
    auto& items = d_outputs[which].items;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const auto first = tags.size();
        items[i].take(part.end, [&](std::int64_t position, std::uint64_t value) {
            const auto at = static_cast<std::size_t>(
                offset + std::max<std::int64_t>(position - part.begin, 0));
            if (tags.size() > first && tags.back().offset == at)
                tags.back().value = value;
            else
                tags.push_back({ which, at, sample_tag::kind::item, value, i });
        });
    }
}

void output_window::abandon(std::int64_t end)
{
    d_top = std::max(d_top, end);
    for (std::size_t i = 0; i < d_outputs.size(); ++i) {
        auto& of = d_outputs[i];
        const auto lost = static_cast<std::uint64_t>(d_top - d_front);
        d_counters[i].samples_skipped.add(lost);
        of.missing.clear();
        of.top = d_top;
        of.is_behind = false;
        of.needs_timestamp = true;
        of.skipped = 0;
    }
    d_front = d_top;
    d_shift = 0;
    d_gives_up = false;
}

} // namespace gr::spead
