/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_H

#include "wire.h"
#include <gnuradio/spead/item.h>

#include <cstddef>
#include <vector>

namespace gr {
namespace spead {

/*!
 * \brief The descriptor of \p described: a whole SPEAD packet, to be the content of an
 * item 0x05.
 *
 * The timestamp is an unsigned scalar as wide as the heap address; the samples are an
 * array of int8 with one dimension of variable length, so that a short heap decodes too.
 */
std::vector<std::byte> descriptor_packet(const item& described, wire::flavour flavour);

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_H */
