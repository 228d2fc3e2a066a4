/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "number_blocks.h"

#include <algorithm>

namespace gr::spead {

namespace {

std::uint16_t swapped(std::uint16_t number) { return bswap_16(number); }
std::uint32_t swapped(std::uint32_t number) { return bswap_32(number); }
std::uint64_t swapped(std::uint64_t number) { return bswap_64(number); }

template <typename number>
SPEAD_TARGET_CLONES void copy_swapped(std::byte* out, const std::byte* in, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        number each;
        std::memcpy(&each, in + i * sizeof each, sizeof each);
        each = swapped(each);
        std::memcpy(out + i * sizeof each, &each, sizeof each);
    }
}

} // namespace

void copy_numbers(
    std::byte* out, const std::byte* in, std::size_t n, unsigned number_bytes, bool swaps)
{
    if (!swaps || number_bytes == 1)
        std::copy_n(in, n * number_bytes, out);
    else if (number_bytes == 2)
        copy_swapped<std::uint16_t>(out, in, n);
    else if (number_bytes == 4)
        copy_swapped<std::uint32_t>(out, in, n);
    else
        copy_swapped<std::uint64_t>(out, in, n);
}

} // namespace gr::spead
