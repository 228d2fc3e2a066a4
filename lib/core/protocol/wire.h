/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_WIRE_H
#define INCLUDED_SPEAD_CORE_WIRE_H

#include <endian.h>
#include <cstdint>
#include <cstring>

namespace gr::spead {

/*!
 * \brief SPEAD version 4 on the wire: constants and item pointers of the standard
 * ("SPEAD: Streaming Protocol for Exchanging Astronomical Data", version 1.2), with the
 * names that spead2 uses.
 */
namespace wire {

constexpr std::size_t header_bytes = 8;
constexpr std::size_t pointer_bytes = 8;
//! limit of this project; the header has 16 bits, of which some receivers read only 8
constexpr std::size_t max_items = 255;
//! The items at the beginning of each packet: heap counter, heap length, payload offset
//! and payload length.
constexpr std::size_t leading_items = 4;
//! the largest payload of a UDP datagram over IPv4
constexpr std::size_t max_datagram_bytes = 65507;

enum item_id : std::uint64_t {
    null = 0x00,
    heap_counter = 0x01,
    heap_length = 0x02,
    payload_offset = 0x03,
    payload_length = 0x04,
    descriptor = 0x05,
    stream_control = 0x06,
    descriptor_name = 0x10,
    descriptor_description = 0x11,
    descriptor_shape = 0x12,
    descriptor_format = 0x13,
    descriptor_id = 0x14,
    descriptor_dtype = 0x15,
    first_free = 0x16
};

constexpr std::uint64_t stream_control_stop = 2;

//! A word in wire format, big-endian.
inline std::uint64_t network_order(std::uint64_t word) { return htobe64(word); }

//! SPEAD-64-40 or SPEAD-64-48: the division of an item pointer into ID and address.
struct flavour {
    unsigned heap_address_bits;

    constexpr unsigned address_bytes() const { return heap_address_bits / 8; }
    constexpr std::uint64_t address_mask() const
    {
        return (std::uint64_t{ 1 } << heap_address_bits) - 1;
    }
    constexpr std::uint64_t max_id() const
    {
        return (std::uint64_t{ 1 } << (63 - heap_address_bits)) - 1;
    }
    //! The first word of a packet.
    constexpr std::uint64_t header(std::size_t items) const
    {
        return std::uint64_t{ 0x5304 } << 48 |
               std::uint64_t{ 8 - address_bytes() } << 40 |
               std::uint64_t{ address_bytes() } << 32 | items;
    }
    //! An item pointer to \p offset in the payload of the heap.
    constexpr std::uint64_t addressed(std::uint64_t id, std::uint64_t offset) const
    {
        return id << heap_address_bits | (offset & address_mask());
    }
    //! An item pointer that holds \p value itself. Bits that do not fit are truncated,
    //! since they would change the ID.
    constexpr std::uint64_t immediate(std::uint64_t id, std::uint64_t value) const
    {
        return std::uint64_t{ 1 } << 63 | addressed(id, value);
    }
};

} // namespace wire
} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_WIRE_H */
