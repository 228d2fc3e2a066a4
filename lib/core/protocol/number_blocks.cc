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
        number value;
        std::memcpy(&value, in + i * sizeof value, sizeof value);
        value = swapped(value);
        std::memcpy(out + i * sizeof value, &value, sizeof value);
    }
}

} // namespace

void copy_numbers(std::byte* out,
                  const std::byte* in,
                  std::size_t n,
                  unsigned number_bytes,
                  bool is_swapped)
{
    if (!is_swapped || number_bytes == 1)
        std::copy_n(in, n * number_bytes, out);
    else if (number_bytes == 2)
        copy_swapped<std::uint16_t>(out, in, n);
    else if (number_bytes == 4)
        copy_swapped<std::uint32_t>(out, in, n);
    else
        copy_swapped<std::uint64_t>(out, in, n);
}

} // namespace gr::spead
