/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKED_NUMBERS_H
#define INCLUDED_SPEAD_CORE_PACKED_NUMBERS_H

#include <cstddef>
#include <cstdint>

namespace gr::spead {

/*!
 * \name Packed integers
 * Signed integers of 10 or 12 bits, the most significant bit first, without gaps: four
 * numbers of 10 bits in five bytes, two of 12 bits in three, as in the heaps of MeerKAT's
 * digitisers (katgpucbf) and as SPEAD describes ('i', 10). \p n must be a multiple of
 * these four or two. Volk has no such kernels.
 * \{
 */
void unpack_numbers(std::int16_t* out, const std::byte* in, std::size_t n, unsigned bits);
//! Ignores the upper bits of each number.
void pack_numbers(std::byte* out, const std::int16_t* in, std::size_t n, unsigned bits);
//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKED_NUMBERS_H */
