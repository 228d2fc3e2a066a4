/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sample_decoder.h"

#include <endian.h>
#include <volk/volk.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace gr::spead {

namespace {

// Integers per block: swapped, then converted while they are in the first-level cache.
constexpr std::size_t block_numbers = 4096;

constexpr bool host_is_big = __BYTE_ORDER == __BIG_ENDIAN;

} // namespace

sample_decoder::sample_decoder(sample_type type,
                               byte_order order,
                               float scale,
                               unsigned bits)
    : d_is_float(is_float(type)),
      d_swaps(bits_of(type, bits) == 16 && (order == byte_order::big) != host_is_big),
      d_parts(is_complex(type) ? 2 : 1),
      d_bits(bits_of(type, bits)),
      d_wire_bytes_log2((d_bits == 16) + (d_parts == 2)),
      d_output_bytes(d_parts * (d_is_float ? sizeof(float) : d_bits / 8)),
      d_scale(scale)
{
}

void sample_decoder::decode(std::byte* out,
                            const std::byte* in,
                            std::size_t samples) const
{
    const auto numbers = samples * d_parts;
    if (d_is_float) {
        to_floats(reinterpret_cast<float*>(out), in, numbers);
        return;
    }
    std::memcpy(out, in, samples * d_output_bytes);
    if (d_swaps)
        volk_16u_byteswap(reinterpret_cast<std::uint16_t*>(out),
                          static_cast<unsigned>(numbers));
}

void sample_decoder::to_floats(float* out, const std::byte* in, std::size_t numbers) const
{
    if (d_bits == 8) {
        volk_8i_s32f_convert_32f(out,
                                 reinterpret_cast<const std::int8_t*>(in),
                                 d_scale,
                                 static_cast<unsigned>(numbers));
        return;
    }
    alignas(64) std::array<std::uint16_t, block_numbers> block;
    for (std::size_t done = 0; done < numbers; done += block_numbers) {
        const auto n = std::min(numbers - done, block_numbers);
        std::memcpy(block.data(), in + 2 * done, 2 * n);
        if (d_swaps)
            volk_16u_byteswap(block.data(), static_cast<unsigned>(n));
        volk_16i_s32f_convert_32f(out + done,
                                  reinterpret_cast<const std::int16_t*>(block.data()),
                                  d_scale,
                                  static_cast<unsigned>(n));
    }
}

} // namespace gr::spead
