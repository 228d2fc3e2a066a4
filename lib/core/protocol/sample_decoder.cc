/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "number_blocks.h"
#include "sample_decoder.h"

#include <volk/volk.h>

#include <type_traits>
#include <algorithm>
#include <cstdint>

namespace gr::spead {

namespace {

// Without an instruction for it, machines convert unsigned integers in two halves.
inline float to_float(std::uint32_t number)
{
    return static_cast<float>(static_cast<std::int32_t>(number >> 16)) * 65536.0f +
           static_cast<float>(static_cast<std::int32_t>(number & 0xffff));
}

template <typename number>
float to_float(number value)
{
    return static_cast<float>(value);
}

template <typename from>
SPEAD_TARGET_CLONES void
to_floats(float* out, const from* in, std::size_t n, double scale)
{
    if constexpr (std::is_same_v<from, double>) {
        const double factor = 1 / scale;
        for (std::size_t i = 0; i < n; ++i)
            out[i] = static_cast<float>(in[i] * factor);
    } else {
        const auto factor = static_cast<float>(1 / scale);
        for (std::size_t i = 0; i < n; ++i)
            out[i] = to_float(in[i]) * factor;
    }
}

void to_floats(float* out, const std::int8_t* in, std::size_t n, double scale)
{
    volk_8i_s32f_convert_32f(
        out, in, static_cast<float>(scale), static_cast<unsigned>(n));
}

void to_floats(float* out, const std::int16_t* in, std::size_t n, double scale)
{
    volk_16i_s32f_convert_32f(
        out, in, static_cast<float>(scale), static_cast<unsigned>(n));
}

void to_floats(float* out, const std::int32_t* in, std::size_t n, double scale)
{
    volk_32i_s32f_convert_32f(
        out, in, static_cast<float>(scale), static_cast<unsigned>(n));
}

template <typename from, typename to>
void convert_numbers(std::byte* out, const std::byte* in, std::size_t n, double scale)
{
    auto* to_numbers = reinterpret_cast<to*>(out);
    const auto* numbers = reinterpret_cast<const from*>(in);
    if constexpr (std::is_same_v<to, float>)
        to_floats(to_numbers, numbers, n, scale);
    else
        cast_numbers(to_numbers, numbers, n);
}

template <typename from, typename to>
sample_decoder::block_function function_for(double scale)
{
    if constexpr (std::is_integral_v<to> && sizeof(to) <= sizeof(from))
        return nullptr; // the same width: can_receive() refuses wider integers
    else
        return std::is_same_v<from, to> && scale == 1 ? nullptr
                                                      : convert_numbers<from, to>;
}

sample_decoder::block_function
function_of(sample_type type, const number_format& wire, double scale)
{
    return visit_number(wire, [&](auto from) {
        return visit_number(type, [&](auto to) {
            return function_for<decltype(from), decltype(to)>(scale);
        });
    });
}

unsigned log2_of(std::size_t power)
{
    unsigned log2 = 0;
    while (power >>= 1)
        ++log2;
    return log2;
}

} // namespace

sample_decoder::sample_decoder(const sample_format& format, double scale)
    : d_convert(function_of(format.type, format.wire.real(), scale)),
      d_swaps(format.wire.real().bits > 8 && format.wire.order != host_order),
      d_parts(parts_of(format.type)),
      d_wire_bytes(format.wire.real().bytes()),
      d_wire_bytes_log2(log2_of(d_parts * d_wire_bytes)),
      d_output_bytes(d_parts * bits_of(format.type) / 8),
      d_scale(scale)
{
}

void sample_decoder::decode(std::byte* out,
                            const std::byte* in,
                            std::size_t samples) const
{
    std::size_t numbers = samples * d_parts;
    if (!d_convert) {
        copy_numbers(out, in, numbers, d_wire_bytes, d_swaps);
        return;
    }
    const std::size_t output_bytes = d_output_bytes / d_parts;
    const std::size_t block_numbers =
        number_block::bytes / std::max<std::size_t>(d_wire_bytes, output_bytes);
    number_block block;
    while (numbers) {
        const std::size_t now = std::min(numbers, block_numbers);
        const std::byte* aligned = in;
        if (d_wire_bytes > 1) {
            copy_numbers(block.numbers.data(), in, now, d_wire_bytes, d_swaps);
            aligned = block.numbers.data();
        }
        d_convert(out, aligned, now, d_scale);
        in += now * d_wire_bytes;
        out += now * output_bytes;
        numbers -= now;
    }
}

} // namespace gr::spead
