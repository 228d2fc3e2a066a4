/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_descriptors.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gr::spead {

namespace {

// Limits for the descriptors of a heap: far more than any stream needs.
constexpr std::uint64_t max_bytes = 256 << 10;
constexpr std::size_t max_descriptors = 255;
constexpr std::size_t max_missing = 64;
// Limit for one descriptor: if its end is unknown, it extends to the end of the heap, and
// must leave room for others.
constexpr std::uint64_t max_descriptor_bytes = 32 << 10;

} // namespace

bool heap_descriptors::find(const packet_view& packet)
{
    if (!packet.has_descriptors || were_found())
        return false;
    std::vector<std::uint64_t> begin_offsets; // of descriptors
    std::vector<std::uint64_t> end_offsets;   // an item ends where another one begins
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.is_immediate)
            continue;
        end_offsets.push_back(item.value);
        if (item.id == wire::descriptor)
            begin_offsets.push_back(item.value);
    }
    // without a heap length, it ends with this packet, or later: if items begin later
    const auto is_later = [&](auto offset) { return offset >= packet.payload_end(); };
    const bool is_longer = std::any_of(end_offsets.begin(), end_offsets.end(), is_later);
    end_offsets.push_back(packet.heap_length.value_or(
        is_longer ? std::numeric_limits<std::uint64_t>::max() : packet.payload_end()));
    std::sort(end_offsets.begin(), end_offsets.end());
    std::uint64_t bytes = 0;
    for (const auto begin : begin_offsets) {
        const auto end = std::upper_bound(end_offsets.begin(), end_offsets.end(), begin);
        if (end == end_offsets.end() || d_ranges.size() == max_descriptors)
            continue;
        // a longer one contains its own length
        const auto size =
            std::min({ *end - begin, max_descriptor_bytes, max_bytes - bytes });
        d_ranges.push_back({ begin, begin + size, static_cast<std::size_t>(bytes) });
        bytes += size;
    }
    d_bytes = static_cast<std::size_t>(bytes);
    d_missing = missing_ranges(max_missing);
    d_missing.restart({ 0, static_cast<std::int64_t>(bytes) });
    return were_found();
}

void heap_descriptors::add(const packet_view& packet)
{
    for_each_subrange(
        packet, [&](std::size_t offset, const std::byte*, std::size_t bytes) {
            const auto begin = static_cast<std::int64_t>(offset);
            if (!d_missing.is_full())
                d_missing.remove({ begin, begin + static_cast<std::int64_t>(bytes) },
                                 [](position_range) {});
        });
}

std::vector<item_description>
heap_descriptors::parse(const std::vector<std::byte>& content) const
{
    std::vector<item_description> descriptions;
    for (const auto& range : d_ranges) {
        const auto bytes = range.end - range.begin;
        const auto offset = static_cast<std::int64_t>(range.content_offset);
        if (d_missing.overlaps({ offset, offset + static_cast<std::int64_t>(bytes) }))
            continue;
        if (auto description =
                read_descriptor(content.data() + range.content_offset, bytes))
            descriptions.push_back(std::move(*description));
    }
    return descriptions;
}

} // namespace gr::spead
