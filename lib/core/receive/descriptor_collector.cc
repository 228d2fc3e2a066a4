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

// False for later packets of a heap in which senders repeat the item pointers.
bool may_begin(const packet_view& packet)
{
    for (std::size_t i = 0; packet.has_descriptors && i < packet.items; ++i)
        if (const auto item = packet.item(i); item.id == wire::descriptor &&
                                              !item.is_immediate &&
                                              item.value >= packet.payload_offset)
            return true;
    return false;
}

} // namespace

descriptor_collector::descriptor_collector() : d_bytes(max_bytes), d_missing(max_missing)
{
    d_descriptors.reserve(max_descriptors);
}

void descriptor_collector::add(const packet_view& packet,
                               const heap_id& heap,
                               time_point time)
{
    if (time - d_begun >= max_delay)
        d_heap = {}; // matches no sender
    if (!awaits(heap)) {
        const bool is_of_another =
            d_heap.sender != heap.sender || d_heap.group != heap.group;
        const bool is_busy = awaits(d_heap) && d_heap.sender && is_of_another;
        if (has_next() || is_busy || !may_begin(packet))
            return;
        begin(packet);
        d_heap = heap;
        d_begun = time;
    }
    for (const auto& each : d_descriptors) {
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
    }
}

void descriptor_collector::begin(const packet_view& packet)
{
    d_descriptors.clear();
    const auto heap_end = packet.heap_length.value_or(packet.payload_end());
    std::uint64_t bytes = 0;
    // Backwards: an item ends where the next one begins. If the pointers are in another
    // order, this is only an upper bound: a descriptor contains its own length.
    auto next = heap_end;
    for (auto i = packet.items; i-- > 0;) {
        const auto item = packet.item(i);
        if (item.is_immediate)
            continue;
        const auto end = item.value < next ? std::min(next, heap_end) : heap_end;
        next = item.value;
        if (item.id != wire::descriptor || item.value >= end ||
            d_descriptors.size() == max_descriptors)
            continue;
        const auto size =
            std::min({ end - item.value, max_descriptor_bytes, max_bytes - bytes });
        d_descriptors.push_back({ item.value, item.value + size, bytes });
        bytes += size;
    }
    d_missing.restart({ 0, static_cast<std::int64_t>(bytes) });
}

std::optional<item_description> descriptor_collector::next()
{
    const auto is = d_descriptors.back();
    d_descriptors.pop_back();
    return read_descriptor(d_bytes.data() + is.at, is.end - is.begin);
}

} // namespace gr::spead
