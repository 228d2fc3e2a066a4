/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "number_blocks.h"
#include "packed_numbers.h"
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

template <typename input_number>
SPEAD_TARGET_CLONES void
to_floats(float* out, const input_number* in, std::size_t n, double scale)
{
    if constexpr (std::is_same_v<input_number, double>) {
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

template <typename input_number, typename output_number>
void convert_numbers(std::byte* out, const std::byte* in, std::size_t n, double scale)
{
    auto* numbers_out = reinterpret_cast<output_number*>(out);
    const auto* numbers_in = reinterpret_cast<const input_number*>(in);
    if constexpr (std::is_same_v<output_number, float>)
        to_floats(numbers_out, numbers_in, n, scale);
    else
        cast_numbers(numbers_out, numbers_in, n);
}

template <typename input_number, typename output_number>
sample_decoder::block_function function_for(double scale)
{
    if constexpr (std::is_integral_v<output_number> &&
                  sizeof(output_number) <= sizeof(input_number))
        return nullptr; // the same width: can_receive() refuses wider integers
    else
        return std::is_same_v<input_number, output_number> && scale == 1
                   ? nullptr
                   : convert_numbers<input_number, output_number>;
}

sample_decoder::block_function
function_of(sample_type type, const number_format& wire, double scale)
{
    return visit_number(wire, [&](auto input) {
        return visit_number(type, [&](auto output) {
            return function_for<held_t<decltype(input)>, decltype(output)>(scale);
        });
    });
}

} // namespace

sample_decoder::sample_decoder(const sample_format& format, double scale)
    : d_convert(function_of(format.type, format.wire.real(), scale)),
      d_is_swapped(format.wire.real().bits > 8 && format.wire.order != host_order),
      d_components(components_of(format.type)),
      d_packed_bits(format.wire.is_packed() ? format.wire.bits : 0),
      d_number_bytes(format.wire.real().bytes()),
      d_group(format),
      d_output_bytes(d_components * bits_of(format.type) / 8),
      d_scale(scale)
{
}

void sample_decoder::decode(std::byte* out,
                            const std::byte* in,
                            std::size_t first,
                            std::size_t samples) const
{
    const auto group_samples = d_group.samples();
    const auto group_numbers = group_samples * d_components;
    std::size_t numbers = samples * d_components;
    std::size_t skipped = first % group_samples * d_components; // of the first group
    in += d_group.bytes_of(first);
    if (!d_convert && !d_packed_bits) {
        copy_numbers(out, in, numbers, d_number_bytes, d_is_swapped);
        return;
    }
    const std::size_t output_bytes = d_output_bytes / d_components; // of a number
    // packed: whole groups
    const std::size_t max_block_numbers =
        number_block::bytes / std::max<std::size_t>(d_number_bytes, output_bytes);
    number_block block;
    while (numbers) {
        const std::size_t block_numbers = std::min(numbers, max_block_numbers - skipped);
        const std::size_t end = skipped + block_numbers;
        const std::byte* held = block.numbers.data();
        if (d_packed_bits) {
            unpack_numbers(reinterpret_cast<std::int16_t*>(block.numbers.data()),
                           in,
                           (end + group_numbers - 1) / group_numbers * group_numbers,
                           d_packed_bits);
            held += skipped * d_number_bytes;
        } else if (d_number_bytes > 1) {
            copy_numbers(
                block.numbers.data(), in, block_numbers, d_number_bytes, d_is_swapped);
        } else {
            held = in;
        }
        if (d_convert)
            d_convert(out, held, block_numbers, d_scale);
        else
            std::copy_n(held, block_numbers * output_bytes, out);
        in += d_group.bytes_of(end / d_components);
        out += block_numbers * output_bytes;
        numbers -= block_numbers;
        skipped = 0;
    }
}

} // namespace gr::spead
