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
constexpr std::size_t most_missing = 64;

} // namespace

descriptor_collector::descriptor_collector() : d_missing(most_missing)
{
    d_descriptors.reserve(wire::max_items);
    d_payload.reserve(most_bytes);
}

bool descriptor_collector::has_descriptors(const packet_view& packet)
{
    for (std::size_t i = 0; i < packet.items; ++i)
        if (const auto item = packet.item(i);
            !item.is_immediate && item.id == wire::descriptor)
            return true;
    return false;
}

void descriptor_collector::begin(const packet_view& packet)
{
    d_heap = packet.heap_counter;
    d_descriptors.clear();
    d_missing.clear();
    if (packet.items > wire::max_items)
        return;
    const auto heap_end = packet.heap_length.value_or(packet.payload_end());
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.is_immediate || item.id != wire::descriptor)
            continue;
        auto end = heap_end;
        for (std::size_t k = 0; k < packet.items; ++k)
            if (const auto other = packet.item(k);
                !other.is_immediate && other.value > item.value)
                end = std::min(end, other.value);
        if (item.value >= end || end > most_bytes)
            continue;
        d_descriptors.push_back(
            { static_cast<std::int64_t>(item.value), static_cast<std::int64_t>(end) });
        bytes = std::max(bytes, end);
    }
    d_payload.assign(bytes, std::byte{ 0 });
    if (bytes)
        d_missing.add_behind({ 0, static_cast<std::int64_t>(bytes) });
}

bool descriptor_collector::take(const packet_view& packet)
{
    const auto bytes = static_cast<std::uint64_t>(d_payload.size());
    if (packet.payload_offset >= bytes || d_missing.is_full())
        return false;
    const position_range range{ static_cast<std::int64_t>(packet.payload_offset),
                                static_cast<std::int64_t>(
                                    std::min(packet.payload_end(), bytes)) };
    std::memcpy(d_payload.data() + range.begin,
                packet.payload,
                static_cast<std::size_t>(range.size()));
    const bool was_empty = d_missing.empty();
    d_missing.remove(range, [](position_range) {});
    return !was_empty && d_missing.empty();
}

std::vector<item_description> descriptor_collector::read() const
{
    std::vector<item_description> all;
    for (const auto& range : d_descriptors)
        if (auto one = read_descriptor(d_payload.data() + range.begin,
                                       static_cast<std::size_t>(range.size())))
            all.push_back(std::move(*one));
    return all;
}

// FNV-1a.
std::uint64_t descriptor_collector::hash() const
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const auto byte : d_payload)
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    return hash;
}

} // namespace gr::spead
