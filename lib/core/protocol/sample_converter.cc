/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "number_blocks.h"
#include "packed_numbers.h"
#include "sample_converter.h"

#include <volk/volk.h>

#include <type_traits>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace gr::spead {

namespace {

// The range of integers in packets.
template <typename integer>
struct integer_range : std::numeric_limits<integer> {
};
template <unsigned bits>
struct integer_range<packed_integer<bits>> {
    static constexpr std::int16_t max() { return (1 << (bits - 1)) - 1; }
    static constexpr std::int16_t min() { return -(1 << (bits - 1)); }
};

// Integers that Volk can convert floats to, from which the others are narrowed. Its
// kernels for 32 bits do not saturate.
template <typename integer>
struct volk_integer {
    using type = integer;
};
template <>
struct volk_integer<std::uint8_t> {
    using type = std::int16_t;
};
template <>
struct volk_integer<std::uint16_t> {
    using type = std::int32_t;
};
template <unsigned bits>
struct volk_integer<packed_integer<bits>> {
    using type = std::int16_t;
};

void volk_convert(std::int8_t* out, const float* in, std::size_t n, float scale)
{
    volk_32f_s32f_convert_8i(out, in, scale, static_cast<unsigned>(n));
}

void volk_convert(std::int16_t* out, const float* in, std::size_t n, float scale)
{
    volk_32f_s32f_convert_16i(out, in, scale, static_cast<unsigned>(n));
}

void volk_convert(std::int32_t* out, const float* in, std::size_t n, float scale)
{
    volk_32f_s32f_convert_32i(out, in, scale, static_cast<unsigned>(n));
}

inline std::uint32_t bits_of(float number)
{
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// Rounds halves to even, like std::rint(), but is vectorised for every machine: from 2^23
// on, floats have no bits for a fraction.
inline float rounded(float value)
{
    const float magnitude = std::abs(value);
    const float nearest = magnitude + 0x1p23f - 0x1p23f;
    return std::copysign(magnitude < 0x1p23f ? nearest : magnitude, value);
}

// Converts any numbers, except for NaN.
template <typename integer>
SPEAD_TARGET_CLONES void
to_integers(held_t<integer>* out, const float* in, std::size_t n, float scale)
{
    using limits = integer_range<integer>;
    // machines convert to signed integers only
    constexpr bool is_wide = std::is_same_v<integer, std::uint32_t>;
    // the largest float that fits, and the first one that does not
    constexpr float highest = sizeof *out < 4 ? static_cast<float>(limits::max())
                              : is_wide       ? 4294967040.0f
                                              : 2147483520.0f;
    constexpr auto overflow = static_cast<float>(limits::max());
    constexpr auto lowest = static_cast<float>(limits::min());
    for (std::size_t i = 0; i < n; ++i) {
        float value = rounded(in[i] * scale);
        const bool is_overflow = value >= overflow;
        value = value > lowest ? value : lowest;
        value = value < highest ? value : highest;
        const float offset = is_wide && value >= 0x1p31f ? 0x1p31f : 0.0f;
        const std::uint32_t sign = is_wide && value >= 0x1p31f ? 0x80000000 : 0;
        const auto number = static_cast<std::int32_t>(value - offset);
        out[i] =
            is_overflow
                ? limits::max()
                : static_cast<held_t<integer>>(static_cast<std::uint32_t>(number) ^ sign);
    }
}

// Converts numbers below 2^32 / scale, for which Volk has no kernel: machines convert to
// signed integers only, so it converts them in two halves. Returns whether one is
// negative.
SPEAD_TARGET_CLONES bool
convert_positive(std::uint32_t* out, const float* in, std::size_t n, float scale)
{
    constexpr float half = 0x1p16f;
    std::uint32_t signs = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const float value = in[i] * scale;
        signs |= bits_of(value);
        const auto high = static_cast<std::int32_t>(value / half);
        // the sum has no bits for a fraction, and holds the low half
        const float low = value - static_cast<float>(high) * half + 0x1p23f;
        out[i] =
            static_cast<std::uint32_t>(high) * 0x10000 + bits_of(low) - bits_of(0x1p23f);
    }
    return signs >> 31;
}

// Narrows integers with saturation. Returns whether one was out of range.
template <typename integer, typename wide_integer>
SPEAD_TARGET_CLONES bool
saturate(held_t<integer>* out, const wide_integer* in, std::size_t n)
{
    constexpr wide_integer lowest = integer_range<integer>::min();
    constexpr wide_integer highest = integer_range<integer>::max();
    wide_integer changed = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const wide_integer number = std::min(std::max(in[i], lowest), highest);
        changed = static_cast<wide_integer>(changed | (number ^ in[i]));
        out[i] = static_cast<held_t<integer>>(number);
    }
    return changed != 0;
}

inline float float_of(std::uint32_t bits)
{
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

// Returns NaN if there is one: the bit patterns of magnitudes are ordered by value, with
// NaN last.
SPEAD_TARGET_CLONES float largest_magnitude(const float* in, std::size_t n)
{
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < n; ++i)
        largest = std::max(largest, bits_of(in[i]) & 0x7fffffff);
    return float_of(largest);
}

// -128.5 is rounded to -128, and 127.5 to 128. The largest integer of 32 bits is no
// float: the next one stands for it. Without bool or short-circuit evaluation, loops can
// be vectorised.
template <typename integer>
std::uint32_t is_clipped(float scaled)
{
    using limits = integer_range<integer>;
    const auto lowest = static_cast<float>(limits::min()) - 0.5f;
    const auto highest = static_cast<float>(limits::max());
    if constexpr (sizeof(held_t<integer>) < 4)
        return !((scaled >= lowest) & (scaled < highest + 0.5f));
    else
        return !((scaled >= lowest) & (scaled <= highest));
}

// Counts clipped samples of \p components numbers each.
template <typename integer, std::size_t components>
SPEAD_TARGET_CLONES std::uint32_t
count_clipped(const float* in, std::size_t samples, float scale)
{
    std::uint32_t clipped = 0;
    for (std::size_t i = 0; i < components * samples; i += components)
        clipped += is_clipped<integer>(in[i] * scale) |
                   is_clipped<integer>(in[i + components - 1] * scale);
    return clipped;
}

// Converts numbers of this magnitude. Returns whether some may be out of range.
template <typename integer>
bool convert_numbers(
    held_t<integer>* out, const float* in, std::size_t n, float scale, float magnitude)
{
    using volk_type = typename volk_integer<integer>::type;
    constexpr float volk_limit = 0x1p31f; // also rejects NaN
    if constexpr (std::is_same_v<integer, std::uint32_t>) {
        if (magnitude * scale < 0x1p32f && !convert_positive(out, in, n, scale))
            return false;
        to_integers<integer>(out, in, n, scale);
        return true;
    } else if (!(magnitude * scale < volk_limit)) {
        to_integers<integer>(out, in, n, scale);
        return true;
    } else if constexpr (std::is_same_v<integer, volk_type>) {
        volk_convert(out, in, n, scale);
        return is_clipped<integer>(magnitude * scale);
    } else {
        alignas(64) std::array<volk_type, number_block::bytes / sizeof(float)> numbers;
        volk_convert(numbers.data(), in, n, scale);
        return saturate<integer>(out, numbers.data(), n);
    }
}

template <typename integer>
sample_level quantise(std::byte* bytes_out,
                      const std::byte* bytes_in,
                      std::size_t samples,
                      std::size_t components,
                      double scale)
{
    auto* out = reinterpret_cast<held_t<integer>*>(bytes_out);
    const auto* in = reinterpret_cast<const float*>(bytes_in);
    const auto factor = static_cast<float>(scale);
    const std::size_t n = components * samples;
    float largest = largest_magnitude(in, n);
    if (!convert_numbers<integer>(out, in, n, factor, largest))
        return { 0, largest * factor };
    if (std::isnan(largest)) {
        largest = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (std::isnan(in[i]))
                out[i] = 0;
            else
                largest = std::max(largest, std::abs(in[i]));
    }
    return { components == 2 ? count_clipped<integer, 2>(in, samples, factor)
                             : count_clipped<integer, 1>(in, samples, factor),
             largest * factor };
}

template <typename output_number>
SPEAD_TARGET_CLONES void
scale_numbers(output_number* out, const float* in, std::size_t n, double scale)
{
    const auto factor = static_cast<output_number>(scale);
    for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<output_number>(in[i]) * factor;
}

template <typename output_number, typename input_number>
sample_level keep_values(std::byte* out,
                         const std::byte* in,
                         std::size_t samples,
                         std::size_t components,
                         double scale)
{
    auto* numbers_out = reinterpret_cast<output_number*>(out);
    const auto* numbers_in = reinterpret_cast<const input_number*>(in);
    if constexpr (std::is_floating_point_v<input_number>)
        scale_numbers(numbers_out, numbers_in, samples * components, scale);
    else
        cast_numbers(numbers_out, numbers_in, samples * components);
    return {};
}

// Counts samples of \p components numbers each that are out of range.
template <typename integer, std::size_t components>
SPEAD_TARGET_CLONES std::uint32_t count_outside(const std::int16_t* in,
                                                std::size_t samples)
{
    const auto is_outside = [](std::int16_t number) {
        return (number < integer_range<integer>::min()) |
               (number > integer_range<integer>::max());
    };
    std::uint32_t outside = 0;
    for (std::size_t i = 0; i < components * samples; i += components)
        outside += static_cast<std::uint32_t>(is_outside(in[i]) |
                                              is_outside(in[i + components - 1]));
    return outside;
}

// Clips integers to the range of narrower ones.
template <typename integer>
sample_level clip(std::byte* bytes_out,
                  const std::byte* bytes_in,
                  std::size_t samples,
                  std::size_t components,
                  double)
{
    const auto* in = reinterpret_cast<const std::int16_t*>(bytes_in);
    if (!saturate<integer>(
            reinterpret_cast<std::int16_t*>(bytes_out), in, components * samples))
        return {};
    return { components == 2 ? count_outside<integer, 2>(in, samples)
                             : count_outside<integer, 1>(in, samples),
             0 };
}

template <typename input_number, typename output_number>
sample_converter::block_function function_for(double scale)
{
    using held_output = held_t<output_number>;
    constexpr bool is_packed = !std::is_same_v<held_output, output_number>;
    if constexpr (std::is_floating_point_v<input_number> &&
                  std::is_integral_v<held_output>)
        return quantise<output_number>;
    else if constexpr (is_packed && std::is_same_v<input_number, std::int16_t>)
        return clip<output_number>;
    else if constexpr (is_packed)
        return keep_values<held_output, input_number>;
    else if constexpr (std::is_integral_v<output_number> &&
                       sizeof(output_number) <= sizeof(input_number))
        return nullptr; // the same width: can_send() refuses narrower integers
    else
        return std::is_same_v<input_number, output_number> && scale == 1
                   ? nullptr
                   : keep_values<output_number, input_number>;
}

sample_converter::block_function
function_of(sample_type type, const number_format& wire, double scale)
{
    return visit_number(type, [&](auto input) {
        return visit_number(wire, [&](auto output) {
            return function_for<decltype(input), decltype(output)>(scale);
        });
    });
}

} // namespace

sample_converter::sample_converter(const sample_format& format, double scale)
    : d_convert(function_of(format.type, format.wire.real(), scale)),
      d_is_swapped(format.wire.real().bits > 8 && format.wire.order != host_order),
      d_components(components_of(format.type)),
      d_input_bytes(d_components * bits_of(format.type) / 8),
      d_packed_bits(format.wire.is_packed() ? format.wire.bits : 0),
      d_number_bytes(format.wire.real().bytes()),
      d_group(format),
      d_scale(scale)
{
    // makes Volk read its preferences and choose a kernel now, not in work()
    alignas(float) constexpr std::array<std::byte, sample_group::max_bytes> silence{};
    std::array<std::byte, sample_group::max_bytes> out;
    convert(out.data(), silence.data(), d_group.samples());
}

sample_level
sample_converter::convert(std::byte* out, const std::byte* in, std::size_t samples) const
{
    const auto number_bytes = static_cast<unsigned>(d_number_bytes);
    if (!d_convert) {
        copy_numbers(out, in, samples * d_components, number_bytes, d_is_swapped);
        return {};
    }
    const std::size_t max_block_samples =
        number_block::bytes / std::max(d_input_bytes, d_components * d_number_bytes);
    number_block block;
    sample_level level;
    while (samples) {
        const std::size_t block_samples = std::min(samples, max_block_samples);
        // the packet may be unaligned
        std::byte* converted = number_bytes == 1 ? out : block.numbers.data();
        const auto block_level =
            d_convert(converted, in, block_samples, d_components, d_scale);
        const auto numbers = block_samples * d_components;
        if (d_packed_bits)
            pack_numbers(out,
                         reinterpret_cast<const std::int16_t*>(converted),
                         numbers,
                         d_packed_bits);
        else if (number_bytes > 1)
            copy_numbers(out, converted, numbers, number_bytes, d_is_swapped);
        level.clipped += block_level.clipped;
        level.largest = std::max(level.largest, block_level.largest);
        out += d_group.bytes_of(block_samples);
        in += block_samples * d_input_bytes;
        samples -= block_samples;
    }
    return level;
}

} // namespace gr::spead
