/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_SPEAD_PACKETS_H
#define INCLUDED_SPEAD_CORE_TESTS_SPEAD_PACKETS_H

#include "protocol/wire.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gr::spead {

using packet_bytes = std::vector<std::byte>;

inline void append_word(packet_bytes& packet, std::uint64_t word)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        packet.push_back(static_cast<std::byte>(word >> shift & 0xff));
}

//! A SPEAD packet of a header, the given item pointers and a payload; nothing is checked.
inline packet_bytes packet_of(const std::vector<std::uint64_t>& pointers,
                              const packet_bytes& payload,
                              wire::flavour flavour = { 48 })
{
    packet_bytes packet;
    append_word(packet, flavour.header(pointers.size()));
    for (const auto pointer : pointers)
        append_word(packet, pointer);
    packet.insert(packet.end(), payload.begin(), payload.end());
    return packet;
}

inline packet_bytes from_hex(const std::string& digits)
{
    packet_bytes bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2)
        bytes.push_back(
            static_cast<std::byte>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    return bytes;
}

//! Splits a heap into packets.
struct heap_cutter {
    wire::flavour flavour{ 48 };
    std::size_t payload = 64;     //!< bytes per packet
    bool repeats_pointers = true; //!< in each packet; otherwise only in the first one
    bool has_heap_length = true;

    std::vector<packet_bytes> cut(std::uint64_t counter,
                                  const std::vector<std::uint64_t>& pointers,
                                  const packet_bytes& content) const
    {
        std::vector<packet_bytes> packets;
        for (std::size_t at = 0; at < content.size(); at += payload) {
            const auto n = std::min(payload, content.size() - at);
            std::vector<std::uint64_t> all{ flavour.immediate(wire::heap_counter,
                                                              counter) };
            if (has_heap_length)
                all.push_back(flavour.immediate(wire::heap_length, content.size()));
            all.push_back(flavour.immediate(wire::payload_offset, at));
            all.push_back(flavour.immediate(wire::payload_length, n));
            if (at == 0 || repeats_pointers)
                all.insert(all.end(), pointers.begin(), pointers.end());
            const auto begin = content.begin() + static_cast<std::ptrdiff_t>(at);
            packets.push_back(packet_of(
                all, { begin, begin + static_cast<std::ptrdiff_t>(n) }, flavour));
        }
        return packets;
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_SPEAD_PACKETS_H */
