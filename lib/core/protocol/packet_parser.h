/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_PARSER_H
#define INCLUDED_SPEAD_CORE_PACKET_PARSER_H

#include "wire.h"

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

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
    flavour,        //!< item pointers not 64 bits wide, or without ID or address
    size,           //!< size contradicts header, item pointers or payload length
    missing_item,   //!< no heap counter or payload length, or heap length without offset;
                    //!< in a whole heap (heap_collector) also no heap length
    payload_bounds, //!< payload beyond the heap length
    items,          //!< more item pointers than max_packet_items
    contradiction,  //!< heap length or timestamp differs from other packets of the heap
    fragment,       //!< an IP fragment in a capture
    truncated,      //!< cut by the capture
    heap_size,      //!< heap longer than max_heap_bytes (heap_collector)
};

//! Maximum number of item pointers in a packet: a descriptor and a value for each item.
//! It bounds the processing time of a packet.
constexpr std::size_t max_packet_items = wire::leading_items + 2 * wire::max_items;

/*!
 * \brief The fields of a SPEAD packet, with pointers to its items and its payload.
 *
 * Refers to the memory of the packet, which must outlive it.
 */
struct packet_view {
    wire::flavour flavour{ 40 };
    std::uint64_t heap_counter = 0;
    std::optional<std::uint64_t> heap_length;
    std::uint64_t payload_offset = 0; //!< in the payload of the heap
    const std::byte* pointers = nullptr;
    std::size_t items = 0;         //!< number of item pointers
    std::size_t leading_items = 0; //!< of these, wire::leading_items
    const std::byte* payload = nullptr;
    std::size_t payload_bytes = 0;
    bool is_single = false; //!< a whole heap, without heap length and offset
    bool has_descriptors = false;
    bool is_end_of_stream = false;

    //! An item pointer as one number.
    std::uint64_t word(std::size_t index) const
    {
        std::uint64_t pointer;
        std::memcpy(&pointer, pointers + index * wire::pointer_bytes, sizeof pointer);
        return be64toh(pointer);
    }
    item_pointer item(std::size_t index) const
    {
        const auto pointer = word(index);
        return { pointer >> flavour.heap_address_bits & flavour.max_id(),
                 pointer & flavour.address_mask(),
                 (pointer >> 63) != 0 };
    }
    //! Whether it has more items than the required ones.
    bool has_items() const { return items > leading_items; }
    std::uint64_t payload_end() const { return payload_offset + payload_bytes; }
    //! The end of an addressed item: where the next one of this packet begins, or the end
    //! of the heap. The largest value if neither is known.
    std::uint64_t end_of(std::size_t index) const;
};

//! Parses a packet into \p view. Accepts the packets that spead2 accepts, if they have at
//! most max_packet_items, and whole heaps without heap length and offset. Never reads
//! beyond \p bytes, whatever the packet contains. If the packet is rejected, \p view is
//! unspecified. \p has_tail: allow bytes after the packet.
packet_error parse_packet(const std::byte* packet,
                          std::size_t bytes,
                          packet_view& view,
                          bool has_tail = false);

//! Describes how a packet that parse_packet() rejects contradicts itself, with its
//! numbers.
std::string contradiction_of(const std::byte* packet, std::size_t bytes);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_PARSER_H */
