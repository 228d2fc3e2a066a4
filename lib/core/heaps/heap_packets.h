/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_PACKETS_H
#define INCLUDED_SPEAD_CORE_HEAP_PACKETS_H

#include "protocol/wire.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::spead {

//! An item to send.
struct outgoing_item {
    std::uint64_t id;
    bool is_immediate;
    std::uint64_t value;   //!< if it is immediate
    const std::byte* data; //!< otherwise
    std::size_t bytes;
};

//! Splits a heap into packets. As in spead2, each item pointer is in one packet only, one
//! of the first. \p packet_bytes must have room for one item pointer and 8 bytes of
//! payload.
std::vector<std::vector<std::byte>> packets_of(const std::vector<outgoing_item>& items,
                                               std::uint64_t heap_counter,
                                               wire::flavour flavour,
                                               std::size_t packet_bytes);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_PACKETS_H */
