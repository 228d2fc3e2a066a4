/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVED_HEAP_H
#define INCLUDED_SPEAD_CORE_RECEIVED_HEAP_H

#include "protocol/packet_parser.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

//! Maximum size of the payload of a heap that is kept whole: 64 MiB.
constexpr std::size_t max_heap_bytes = std::size_t{ 64 } << 20;

//! An item of a heap, or a descriptor (wire::descriptor).
struct heap_item {
    std::uint64_t id;
    bool is_immediate;
    std::uint64_t value; //!< the value itself, or an offset in the payload
    std::size_t bytes;   //!< 0 if it is immediate
};

//! A heap that has arrived completely.
struct received_heap {
    std::uint64_t counter = 0;
    std::uint64_t sender = 0; //!< datagram_source
    wire::flavour flavour{ 40 };
    std::vector<heap_item> items;
    std::size_t invalid_items = 0; //!< that begin beyond the heap
    bool is_end_of_stream = false;
    std::unique_ptr<std::byte[]> payload;
    std::size_t payload_bytes = 0;
};

//! Sets the items of a heap from its item pointers, in the order of the sender. As in
//! spead2, items are in the order of their addresses, followed by immediate ones; an
//! item ends where the next one begins; NULL items and those of the packets (heap
//! counter, lengths, offset, stream control) are left out.
void set_items(received_heap& heap, std::vector<std::uint64_t> pointers);

//! The heap that is in one packet.
received_heap whole_heap(const packet_view& packet);

//! Reads a heap of one packet, such as a descriptor. None if it is no whole heap.
std::optional<received_heap> read_single_packet(const std::byte* packet,
                                                std::size_t bytes);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVED_HEAP_H */
