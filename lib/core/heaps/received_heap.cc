/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "received_heap.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

void set_items(received_heap& heap, std::vector<std::uint64_t> pointers)
{
    constexpr auto immediate = std::uint64_t{ 1 } << 63;
    const auto place = immediate | heap.flavour.address_mask();
    // stable: an empty item has the same address as the next one
    std::stable_sort(pointers.begin(), pointers.end(), [&](auto a, auto b) {
        return (a & place) < (b & place);
    });
    for (std::size_t i = 0; i < pointers.size(); ++i) {
        const auto pointer = pointers[i];
        const auto id = pointer >> heap.flavour.heap_address_bits & heap.flavour.max_id();
        const auto value = pointer & heap.flavour.address_mask();
        if (id <= wire::payload_length || id == wire::stream_control)
            continue;
        if (pointer & immediate) {
            heap.items.push_back({ id, true, value, 0 });
            continue;
        }
        const bool has_next = i + 1 < pointers.size() && !(pointers[i + 1] & immediate);
        const auto end = has_next ? pointers[i + 1] & heap.flavour.address_mask()
                                  : std::uint64_t{ heap.payload_bytes };
        if (std::max(value, end) > heap.payload_bytes)
            ++heap.invalid_items;
        else
            heap.items.push_back(
                { id, false, value, static_cast<std::size_t>(end - value) });
    }
}

received_heap whole_heap(const packet_view& packet)
{
    std::vector<std::uint64_t> pointers(packet.items);
    for (std::size_t i = 0; i < packet.items; ++i)
        pointers[i] = packet.word(i);
    received_heap heap;
    heap.counter = packet.heap_counter;
    heap.flavour = packet.flavour;
    heap.is_end_of_stream = packet.is_end_of_stream;
    heap.payload_bytes = packet.payload_bytes;
    heap.payload.reset(new std::byte[packet.payload_bytes]);
    std::copy_n(packet.payload, packet.payload_bytes, heap.payload.get());
    set_items(heap, std::move(pointers));
    return heap;
}

std::optional<received_heap> read_single_packet(const std::byte* packet,
                                                std::size_t bytes)
{
    packet_view view;
    if (parse_packet(packet, bytes, view, true) != packet_error::none ||
        view.heap_length != view.payload_bytes)
        return std::nullopt;
    return whole_heap(view);
}

} // namespace gr::spead
