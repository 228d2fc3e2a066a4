/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "descriptor_collector.h"

#include <algorithm>
#include <cstring>

namespace gr::spead {

namespace {

// Limits for the descriptors of a heap: far more than any stream needs.
constexpr std::uint64_t max_bytes = 256 << 10;
constexpr std::size_t max_descriptors = 255;
constexpr std::size_t max_missing = 64;
// Limit for one descriptor: if its end is unknown, it extends to the end of the heap, and
// must leave room for others.
constexpr std::uint64_t max_descriptor_bytes = 32 << 10;

// Calls visit(begin, end) for each descriptor, backwards: an item ends where the next one
// begins. If the pointers are in another order, this is only an upper bound: a descriptor
// contains its own length.
template <typename visitor>
void for_each_descriptor(const packet_view& packet, visitor&& visit)
{
    const auto heap_end = packet.heap_length.value_or(packet.payload_end());
    auto next = heap_end;
    for (auto i = packet.items; i-- > 0;) {
        const auto item = packet.item(i);
        if (item.is_immediate)
            continue;
        const auto end = item.value < next ? std::min(next, heap_end) : heap_end;
        next = item.value;
        if (item.id == wire::descriptor && item.value < end)
            visit(item.value, end);
    }
}

// False for later packets of a heap in which senders repeat the item pointers.
bool may_begin(const packet_view& packet)
{
    std::uint64_t last = 0;
    if (packet.has_descriptors)
        for_each_descriptor(packet, [&](std::uint64_t, std::uint64_t end) {
            last = std::max(last, end);
        });
    return last > packet.payload_offset;
}

} // namespace

descriptor_collector::descriptor_collector() : d_missing(max_missing) {}

void descriptor_collector::add(const packet_view& packet,
                               const heap_id& heap,
                               time_point time)
{
    if (time - d_begun >= heap_timeout)
        d_heap = {}; // matches no sender
    if (!collects(heap)) {
        const bool is_repeated = d_heap == heap && !is_incomplete();
        const bool is_waiting = !is_incomplete() && !d_descriptors.empty();
        if (is_repeated || is_waiting || !may_begin(packet))
            return;
        begin(packet);
        d_heap = heap;
        d_begun = time;
    }
    for (auto& each : d_descriptors) {
        const auto begin = std::max(each.begin, packet.payload_offset);
        const auto end = std::min(each.end, packet.payload_end());
        if (begin >= end || d_missing.is_full())
            continue;
        const auto at = each.at + (begin - each.begin);
        std::memcpy(d_bytes.data() + at,
                    packet.payload + (begin - packet.payload_offset),
                    end - begin);
        d_missing.remove({ static_cast<std::int64_t>(at),
                           static_cast<std::int64_t>(at + (end - begin)) },
                         [](position_range) {});
        const position_range whole{ static_cast<std::int64_t>(each.at),
                                    static_cast<std::int64_t>(each.at + each.end -
                                                              each.begin) };
        if (!each.has_arrived && !d_missing.overlaps(whole)) {
            each.has_arrived = true;
            ++d_unread;
        }
    }
}

void descriptor_collector::begin(const packet_view& packet)
{
    d_descriptors.clear();
    d_unread = 0;
    d_is_confirmed = false;
    std::uint64_t bytes = 0;
    for_each_descriptor(packet, [&](std::uint64_t begin, std::uint64_t end) {
        if (d_descriptors.size() == max_descriptors)
            return;
        const auto size =
            std::min({ end - begin, max_descriptor_bytes, max_bytes - bytes });
        d_descriptors.push_back({ begin, begin + size, bytes });
        bytes += size;
    });
    d_bytes.resize(bytes);
    d_missing.restart({ 0, static_cast<std::int64_t>(bytes) });
}

const heap_id& descriptor_collector::read_next()
{
    const auto next = std::find_if(
        d_descriptors.rbegin(), d_descriptors.rend(), [](const descriptor& each) {
            return each.has_arrived && !each.is_read;
        });
    next->is_read = true;
    next->description =
        read_descriptor(d_bytes.data() + next->at, next->end - next->begin);
    --d_unread;
    return d_heap;
}

const item_description* descriptor_collector::find(std::uint64_t item) const
{
    for (const auto& each : d_descriptors)
        if (each.description && each.description->id == item)
            return &*each.description;
    return nullptr;
}

std::optional<item_description> descriptor_collector::take_next()
{
    auto description = std::move(d_descriptors.back().description);
    d_descriptors.pop_back();
    return description;
}

descriptor_collector* descriptor_collectors::find(const heap_id& heap)
{
    for (auto& each : d_collectors)
        if (each.sender == heap.sender && each.group == heap.group)
            return &each.collector;
    return nullptr;
}

void descriptor_collectors::add(const packet_view& packet,
                                const heap_id& heap,
                                time_point time)
{
    auto* collector = find(heap);
    if (!collector && !packet.has_descriptors)
        return;
    if (!collector) {
        if (d_collectors.size() == max_senders)
            d_collectors.pop_front();
        d_collectors.push_back({ heap.sender, heap.group, {} });
        collector = &d_collectors.back().collector;
    }
    collector->add(packet, heap, time);
    update();
}

bool descriptor_collectors::collects(const heap_id& heap)
{
    const auto* collector = is_incomplete() ? find(heap) : nullptr;
    return collector && collector->collects(heap);
}

bool descriptor_collectors::delays(const heap_id& heap)
{
    const auto* collector = is_incomplete() ? find(heap) : nullptr;
    return collector && collector->delays(heap);
}

void descriptor_collectors::confirm(const heap_id& heap)
{
    if (auto* collector = find(heap))
        collector->confirm();
}

heap_id descriptor_collectors::read_next()
{
    const auto next = std::find_if(
        d_collectors.begin(), d_collectors.end(), [](const sender_collector& each) {
            return each.collector.has_next();
        });
    const auto heap = next->collector.read_next();
    update();
    return heap;
}

const item_description* descriptor_collectors::find(const heap_id& heap,
                                                    std::uint64_t item)
{
    const auto* collector = find(heap);
    return collector && collector->collects(heap) ? collector->find(item) : nullptr;
}

std::optional<item_description> descriptor_collectors::take_next()
{
    const auto complete = std::find_if(
        d_collectors.begin(), d_collectors.end(), [](const sender_collector& each) {
            return each.collector.is_complete();
        });
    auto description = complete->collector.take_next();
    update();
    return description;
}

void descriptor_collectors::update()
{
    d_is_incomplete = d_has_next = d_is_complete = false;
    for (const auto& each : d_collectors) {
        d_is_complete = d_is_complete || each.collector.is_complete();
        d_is_incomplete = d_is_incomplete || each.collector.is_incomplete();
        d_has_next = d_has_next || each.collector.has_next();
    }
}

} // namespace gr::spead
