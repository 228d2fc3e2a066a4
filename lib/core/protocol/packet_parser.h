/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_PARSER_H
#define INCLUDED_SPEAD_CORE_PACKET_PARSER_H

#include "wire.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gr::spead {

//! An item pointer of a packet, in host order.
struct item_pointer {
    std::uint64_t id;
    std::uint64_t value; //!< the value itself, or an address in the payload of the heap
    bool is_immediate;
};

//! Why a packet is rejected.
enum class packet_error {
    none,
    magic,          //!< not SPEAD
    version,        //!< not version 4
    flavour,        //!< item pointers that are not 64 bits wide
    size,           //!< not the size that header, item pointers and payload length say
    missing_item,   //!< no heap counter, payload offset or payload length
    payload_bounds, //!< payload beyond the length of the heap
};

/*!
 * \brief The fields of a SPEAD packet, and where its items and its payload are.
 *
 * Points into the packet, and is valid as long as that.
 */
struct packet_view {
    wire::flavour flavour{ 40 };
    std::uint64_t heap_counter = 0;
    std::optional<std::uint64_t> heap_length;
    std::uint64_t payload_offset = 0; //!< in the payload of the heap
    const std::byte* pointers = nullptr;
    std::size_t items = 0; //!< number of item pointers
    const std::byte* payload = nullptr;
    std::size_t payload_bytes = 0;

    item_pointer item(std::size_t index) const;
    std::uint64_t payload_end() const { return payload_offset + payload_bytes; }
};

//! Reads a packet into \p view. Accepts the packets that spead2 accepts. Never reads
//! beyond the packet, whatever it says. If it is rejected, \p view is not to be used.
packet_error parse_packet(const std::byte* packet, std::size_t bytes, packet_view& view);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_PARSER_H */
