/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_H

#include "sample_converter.h"
#include "wire.h"
#include <gnuradio/spead/item.h>

#include <cstddef>
#include <vector>

namespace gr::spead {

//! The properties of samples that a descriptor contains.
struct sample_format {
    sample_type type = sample_type::int8; //!< type of the input
    byte_order order = byte_order::big;
    std::uint64_t heap_samples = 0; //!< used if the shape cannot be variable
    unsigned float_bits = 8;        //!< width of the integers that floats become

    //! Width of the integers in a packet.
    unsigned bits() const { return bits_of(type, float_bits); }
};

/*!
 * \brief Creates the descriptor of \p described: a whole SPEAD packet, the content of an
 * item 0x05.
 *
 * Timestamps and immediate values are unsigned scalars as wide as the heap address. The
 * samples are an array of integers with one dimension of variable length, so that short
 * heaps can be decoded too. Complex samples have a second dimension of 2. Little-endian
 * integers need a numpy header, whose shape is that of a whole heap.
 */
std::vector<std::byte> descriptor_packet(const item& described,
                                         wire::flavour flavour,
                                         const sample_format& samples = {});

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_H */
