/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sample_window.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>

namespace gr::spead {

namespace {

// Of an output, and not decided yet. With more, the oldest is given up.
constexpr std::size_t most_missing = 4096;
// Of an immediate item, and not decided yet.
constexpr std::size_t most_changes = 256;
// Streams that the reader has not come to.
constexpr std::size_t most_begins = 16;

// Streams begin at a multiple of it. All sizes of samples divide it.
constexpr std::size_t largest_sample = 8;

// Senders may send a heap of each output in turn. So an output that is behind the others
// gets so many times max_delay.
constexpr int delays_of_output = 10;

} // namespace

sample_window::output::output(std::size_t bytes,
                              std::size_t number_of_items,
                              clock::duration max_delay)
    : memory(new std::byte[bytes]()), // touched now, and not when samples come
      missing(most_missing),
      past_head(max_delay),
      items(number_of_items, item_values(most_changes)),
      gaps(most_missing + 1),
      changes(number_of_items * most_changes + 1)
{
}

sample_window::sample_window(const plan& how)
    : d_bytes(how.bytes / largest_sample * largest_sample),
      d_start_delay(how.start_delay),
      d_begins(most_begins),
      d_past_top(delays_of_output * how.max_delay)
{
    try {
        for (std::size_t i = 0; i < how.outputs; ++i)
            d_outputs.push_back(
                std::make_unique<output>(d_bytes, how.items, how.max_delay));
    } catch (const std::bad_alloc&) {
        throw std::runtime_error("no memory for " + std::to_string(how.outputs) +
                                 " buffers of " + std::to_string(how.bytes) +
                                 " bytes; buffer_size or num_outputs must be smaller");
    }
    d_sorted.reserve(how.items * most_changes);
}

std::int64_t sample_window::recent_gaps::overlap(position_range with) const
{
    std::int64_t bytes = 0;
    for (const auto& range : ranges)
        bytes += std::max<std::int64_t>(
            0, std::min(with.end, range.end) - std::max(with.begin, range.begin));
    return bytes;
}

void sample_window::clear()
{
    d_starting = false;
    d_begins.consume_all([](const auto&) {});
    d_top = d_decided = ceil(d_top);
    for (auto& out : d_outputs) {
        out->gaps.consume_all([](const auto&) {});
        out->changes.consume_all([](const auto&) {});
        out->missing.clear();
        out->head = out->reported_end = d_top;
        out->past_head.restart();
        for (auto& values : out->items)
            values.restart(d_top);
    }
    d_past_top.restart();
    d_front = d_decided;
    d_base = d_decided;
}

sample_window::outcome sample_window::place(std::size_t which,
                                            std::int64_t position,
                                            const std::byte* data,
                                            std::size_t n)
{
    position_range range{ position, position + static_cast<std::int64_t>(n) };
    if (!make_room(range.end))
        return { true };
    if (d_starting && range.end > d_earliest_begin)
        move_begin(range.begin);

    outcome result;
    auto& out = *d_outputs[which];
    const auto fresh = [&](position_range part) {
        copy(out,
             part.begin,
             data + (part.begin - position),
             static_cast<std::size_t>(part.size()));
        result.fresh += static_cast<std::size_t>(part.size());
    };
    const auto first = d_starting ? d_begin : d_decided;
    if (range.begin < first) {
        const position_range behind{ range.begin, std::min(range.end, first) };
        range.begin = behind.end;
        const position_range in_stream{ std::max(behind.begin, d_begin),
                                        std::max(behind.end, d_begin) };
        const auto late =
            behind.size() - in_stream.size() + out.recent.overlap(in_stream);
        result.late = static_cast<std::size_t>(late);
        if (range.size() == 0) {
            result.duplicate = n - result.late;
            return result;
        }
    }
    if (range.begin > out.head)
        out.missing.add_behind({ out.head, range.begin });
    else if (range.begin < out.head)
        out.missing.remove({ range.begin, std::min(range.end, out.head) }, fresh);
    const auto begin = std::max(range.begin, out.head);
    if (begin < range.end) {
        fresh({ begin, range.end });
        out.head = range.end;
        d_top = std::max(d_top, out.head);
    }
    result.duplicate = n - result.fresh - result.late;
    return result;
}

// For bytes up to \p end, and for the ranges that they may leave missing.
bool sample_window::make_room(std::int64_t end)
{
    if (end <= d_decided)
        return true;
    for (auto& out : d_outputs)
        if (out->missing.is_full() && !decide(ceil(out->missing.front().end)))
            return false;
    if (end <= base() + capacity())
        return true;
    // a little more than needed, so that it does not happen again with each packet
    const auto needed = ceil(end - capacity());
    if (needed > d_decided)
        decide(std::max(needed, std::min(needed + capacity() / 8, d_top)));
    return end <= base() + capacity();
}

// While a stream starts, bytes from before its first ones may come.
void sample_window::move_begin(std::int64_t position)
{
    const auto earliest = std::max(position, d_earliest_begin);
    const auto moved = (d_begin - earliest) / d_granule * d_granule;
    if (moved <= 0)
        return;
    const position_range added{ d_begin - moved, d_begin };
    for (auto& out : d_outputs) {
        if (out->head == d_begin && out->missing.empty())
            out->head = added.begin;
        else
            out->missing.add_in_front(added);
        out->reported_end = added.begin;
    }
    d_begin = added.begin;
}

bool sample_window::set_item(std::size_t which,
                             std::size_t item,
                             position_range heap,
                             std::uint64_t value)
{
    const auto first = d_starting ? d_earliest_begin : d_decided;
    heap.begin = std::max(heap.begin, first);
    auto& values = d_outputs[which]->items[item];
    if (heap.size() <= 0 || values.set(heap, value))
        return true;
    // the reader takes the changes, but for those of heaps that overlap, if any
    if (!decide(d_top))
        return false;
    values.forget_changes();
    return values.set(heap, value);
}

std::optional<std::int64_t>
sample_window::begin_stream(clock::time_point now,
                            std::size_t sample_bytes,
                            std::size_t granule,
                            std::shared_ptr<const stream_format> format)
{
    if (!decide_all() || !d_begins.write_available())
        return std::nullopt;
    // bytes that are not a whole sample are lost
    constexpr auto unit = static_cast<std::int64_t>(largest_sample);
    d_earliest_begin = (std::max(d_top, d_decided) + unit - 1) / unit * unit;
    d_begin = d_earliest_begin + capacity() / 4 / unit * unit;
    d_top = d_begin;
    for (auto& out : d_outputs) {
        out->missing.clear();
        out->head = d_begin;
        out->past_head.restart();
        out->reported_end = d_begin;
        for (auto& values : out->items)
            values.restart(d_earliest_begin);
    }
    d_step = static_cast<std::int64_t>(sample_bytes);
    d_granule = static_cast<std::int64_t>(granule);
    d_next.sample_bytes = sample_bytes;
    d_next.format = std::move(format);
    d_past_top.restart();
    d_starting = true;
    d_start_time = now + d_start_delay;
    return d_begin;
}

void sample_window::set_reference(std::int64_t position, std::uint64_t tick)
{
    d_next.reference = position;
    d_next.tick = tick;
}

// From now on, the stream has a beginning.
void sample_window::start()
{
    d_starting = false;
    d_next.gap = { d_decided, d_begin };
    d_begins.push(d_next);
    d_decided = d_begin;
    d_front.store(d_begin, std::memory_order_release);
}

void sample_window::decide_in_time(clock::time_point now)
{
    if (d_starting) {
        if (now < d_start_time)
            return;
        start();
    }
    auto target = d_top;
    for (auto& out : d_outputs)
        target = std::min(
            target, std::max(out->arrived(), out->past_head.advance(now, out->head)));
    decide(std::max(target, d_past_top.advance(now, d_top)));
}

void sample_window::reuse_memory()
{
    if (!d_starting && d_top == d_decided && base() == d_decided)
        d_origin.store(d_decided, std::memory_order_relaxed);
}

bool sample_window::decide_all() { return decide(d_top); }

// False if the reader has to take something first.
bool sample_window::decide(std::int64_t target)
{
    if (d_starting)
        start();
    target = floor(target);
    if (target <= d_decided)
        return true;
    for (const auto& out : d_outputs)
        if (!has_room_for(*out, target))
            return false;
    for (auto& out : d_outputs) {
        out->missing.remove_before(
            target, [&](position_range range) { report_missing(*out, range); });
        if (out->head < target) {
            report_missing(*out, { out->head, target });
            out->head = target;
        }
        report_changes(*out, target);
    }
    d_decided = target;
    d_top = std::max(d_top, target);
    d_front.store(target, std::memory_order_release);
    return true;
}

bool sample_window::has_room_for(const output& out, std::int64_t target) const
{
    std::size_t gaps = 1; // at the end
    for (const auto& range : out.missing) {
        if (range.begin >= target)
            break;
        ++gaps;
    }
    std::size_t changes = 0;
    for (const auto& values : out.items)
        changes += values.changes_before(target);
    return out.gaps.write_available() >= gaps && out.changes.write_available() >= changes;
}

void sample_window::report_changes(output& out, std::int64_t target)
{
    d_sorted.clear();
    std::uint32_t item = 0;
    for (auto& values : out.items) {
        values.take(target, [&](std::int64_t position, std::uint64_t value) {
            d_sorted.push_back({ std::max(position, d_begin), item, value });
        });
        ++item;
    }
    std::sort(d_sorted.begin(), d_sorted.end(), [](const auto& a, const auto& b) {
        return std::tie(a.position, a.item) < std::tie(b.position, b.item);
    });
    for (const auto& each : d_sorted)
        out.changes.push(each);
}

// A sample of which a part is missing is missing.
void sample_window::report_missing(output& out, position_range range)
{
    range = { std::max(floor(range.begin), out.reported_end), ceil(range.end) };
    if (range.size() <= 0)
        return;
    out.reported_end = range.end;
    out.recent.add(range);
    out.gaps.push(range);
}

void sample_window::copy(output& out,
                         std::int64_t position,
                         const std::byte* data,
                         std::size_t n)
{
    const auto at = index(position);
    const auto first = std::min(n, d_bytes - at);
    std::memcpy(out.memory.get() + at, data, first);
    std::memcpy(out.memory.get(), data + first, n - first);
}

std::pair<const std::byte*, std::size_t>
sample_window::memory(std::size_t which, std::int64_t position) const
{
    const auto at = index(position);
    return { d_outputs[which]->memory.get() + at, d_bytes - at };
}

} // namespace gr::spead
