/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_H

#include "sample_format.h"
#include "wire.h"
#include <gnuradio/spead/item.h>

#include <cstddef>
#include <vector>

namespace gr::spead {

/*!
 * \brief Creates the descriptor of \p item: a whole SPEAD packet, the content of an item
 * 0x05.
 *
 * Timestamps and immediate values are unsigned scalars as wide as the heap address. The
 * samples are an array of numbers. Without a sample_format::shape, it has one dimension
 * of variable length, so that short heaps can be decoded too. Pairs of numbers add a last
 * dimension of 2. Little-endian numbers and numpy's complex ones need a numpy header,
 * whose shape is that of a whole heap.
 */
std::vector<std::byte> descriptor_packet(const item& item,
                                         wire::flavour flavour,
                                         const sample_format& samples = {});

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_H */
