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

// Of all descriptors of a heap: far more than any stream has.
constexpr std::size_t most_bytes = 256 << 10;
constexpr std::size_t most_descriptors = 255;
constexpr std::size_t most_missing = 64;
// Addresses that do not ascend are sorted, which takes time.
constexpr std::size_t most_unsorted = 128;

bool is_descriptor(const item_pointer& item)
{
    return !item.is_immediate && item.id == wire::descriptor;
}

} // namespace

descriptor_collector::descriptor_collector()
    : d_bytes(most_bytes), d_missing(most_missing)
{
    d_addresses.reserve(max_packet_items);
    d_descriptors.reserve(most_descriptors);
}

void descriptor_collector::add(const packet_view& packet, std::uint64_t sender)
{
    if (!awaits(packet.heap_counter, sender)) {
        if (!packet.has_descriptors || has_next() || is_rest_of_completed(packet, sender))
            return;
        begin(packet, sender);
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

// Senders may repeat the item pointers in all packets of a heap.
bool descriptor_collector::is_rest_of_completed(const packet_view& packet,
                                                std::uint64_t sender) const
{
    return !is_incomplete() && !d_descriptors.empty() && d_heap == packet.heap_counter &&
           d_sender == sender && d_descriptors.front().begin < packet.payload_offset;
}

bool descriptor_collector::read_addresses(const packet_view& packet)
{
    d_addresses.clear();
    for (std::size_t i = 0; i < packet.items; ++i)
        if (const auto item = packet.item(i); !item.is_immediate)
            d_addresses.push_back(item.value);
    if (std::is_sorted(d_addresses.begin(), d_addresses.end()))
        return true;
    if (d_addresses.size() > most_unsorted)
        return false;
    std::sort(d_addresses.begin(), d_addresses.end());
    return true;
}

void descriptor_collector::begin(const packet_view& packet, std::uint64_t sender)
{
    d_heap = packet.heap_counter;
    d_sender = sender;
    d_descriptors.clear();
    d_missing.clear();
    d_next = 0;
    if (!read_addresses(packet))
        return;
    const auto heap_end = packet.heap_length.value_or(packet.payload_end());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (!is_descriptor(item) || d_descriptors.size() == most_descriptors)
            continue;
        const auto next =
            std::upper_bound(d_addresses.begin(), d_addresses.end(), item.value);
        const auto end = next == d_addresses.end() ? heap_end : std::min(*next, heap_end);
        if (item.value >= end || end - item.value > most_bytes - bytes)
            continue;
        d_descriptors.push_back({ item.value, end, bytes });
        bytes += end - item.value;
    }
    if (bytes)
        d_missing.append({ 0, static_cast<std::int64_t>(bytes) }, {});
}

std::optional<item_description> descriptor_collector::next()
{
    const auto& each = d_descriptors[d_next++];
    return read_descriptor(d_bytes.data() + each.at, each.end - each.begin);
}

} // namespace gr::spead
