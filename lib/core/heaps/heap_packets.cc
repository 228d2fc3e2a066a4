/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_packets.h"

#include <algorithm>
#include <cstring>

namespace gr::spead {

std::vector<std::vector<std::byte>> packets_of(const std::vector<outgoing_item>& items,
                                               std::uint64_t heap_counter,
                                               wire::flavour flavour,
                                               std::size_t packet_bytes)
{
    constexpr std::size_t leading_bytes =
        wire::header_bytes + wire::leading_items * wire::pointer_bytes;
    const auto max_pointers =
        std::min((packet_bytes - leading_bytes - 8) / wire::pointer_bytes,
                 wire::max_items - wire::leading_items);

    std::vector<std::uint64_t> pointers;
    std::vector<std::byte> payload;
    for (const auto& item : items) {
        pointers.push_back(item.is_immediate
                               ? flavour.immediate(item.id, item.value)
                               : flavour.addressed(item.id, payload.size()));
        if (!item.is_immediate)
            payload.insert(payload.end(), item.data, item.data + item.bytes);
    }
    // Each packet needs some payload. A NULL item keeps the padding out of the last item.
    const auto padded =
        std::max<std::size_t>(1, (pointers.size() + 1 + max_pointers - 1) / max_pointers);
    if (payload.size() < padded) {
        pointers.push_back(flavour.addressed(wire::null, payload.size()));
        payload.resize(padded);
    }

    std::vector<std::vector<std::byte>> packets;
    std::size_t first_pointer = 0;
    for (std::size_t offset = 0; offset < payload.size();) {
        const auto n = std::min(pointers.size() - first_pointer, max_pointers);
        const auto left = pointers.size() - first_pointer - n;
        const auto later_packets = (left + max_pointers - 1) / max_pointers;
        const auto bytes =
            std::min(packet_bytes - leading_bytes - n * wire::pointer_bytes,
                     payload.size() - offset - later_packets);
        std::vector<std::uint64_t> words{
            flavour.header(wire::leading_items + n),
            flavour.immediate(wire::heap_counter, heap_counter),
            flavour.immediate(wire::heap_length, payload.size()),
            flavour.immediate(wire::payload_offset, offset),
            flavour.immediate(wire::payload_length, bytes),
        };
        const auto begin = pointers.begin() + static_cast<std::ptrdiff_t>(first_pointer);
        words.insert(words.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
        std::transform(words.begin(), words.end(), words.begin(), wire::network_order);
        const auto header_bytes = words.size() * sizeof words[0];
        std::vector<std::byte> packet(header_bytes + bytes);
        std::memcpy(packet.data(), words.data(), header_bytes);
        std::memcpy(packet.data() + header_bytes, payload.data() + offset, bytes);
        packets.push_back(std::move(packet));
        first_pointer += n;
        offset += bytes;
    }
    return packets;
}

} // namespace gr::spead
