/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sample_converter.h"

#include <byteswap.h>
#include <endian.h>
#include <volk/volk.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

namespace gr::spead {

namespace {

// Numbers that are converted and then looked at, if need be, while they are in the
// first-level cache. Where one may be clipped all of them cost more.
constexpr std::size_t block_numbers = 2048;

// Kernels convert up to so many at the end one by one.
constexpr std::size_t most_at_the_end = 64;

// What is between them is within -128 ... 127 when it is rounded: -128.5 becomes -128 and
// 127.5 would become 128.
constexpr float lowest = -128.5f;
constexpr float too_high = 127.5f;

std::uint32_t bits_of(float number)
{
    std::uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// The bits without the sign order all numbers by their size, infinity above them and NaN
// above that. Integers, several results and no early end: compilers make vectors of this.
bool are_all_within(const float* in, std::size_t n, float scale)
{
    const auto is_smaller = [scale, limit = bits_of(too_high)](float number) {
        return (bits_of(number * scale) & 0x7fffffff) - limit; // says it in bit 31
    };
    std::array<std::uint32_t, 16> lanes;
    lanes.fill(1u << 31);
    std::size_t i = 0;
    for (; i + lanes.size() <= n; i += lanes.size())
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            lanes[lane] &= is_smaller(in[i + lane]);
    for (; i < n; ++i)
        lanes[0] &= is_smaller(in[i]);
    return std::accumulate(lanes.begin(), lanes.end(), 1u << 31, std::bit_and<>()) != 0;
}

// What is clipped becomes one of the two. Four times less to read than floats.
bool is_any_extreme(const std::int8_t* out, std::size_t n)
{
    const auto is_extreme = [](std::int8_t number) {
        return static_cast<std::uint8_t>(number == 127) |
               static_cast<std::uint8_t>(number == -128);
    };
    std::array<std::uint8_t, 64> lanes{};
    std::size_t i = 0;
    for (; i + lanes.size() <= n; i += lanes.size())
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            lanes[lane] =
                static_cast<std::uint8_t>(lanes[lane] | is_extreme(out[i + lane]));
    for (; i < n; ++i)
        lanes[0] = static_cast<std::uint8_t>(lanes[0] | is_extreme(out[i]));
    return std::any_of(lanes.begin(), lanes.end(), [](auto lane) { return lane != 0; });
}

// An integer and no short cut, for vectors again.
std::uint32_t is_clipped(float scaled)
{
    return !((scaled >= lowest) & (scaled < too_high));
}

std::uint64_t
count_clipped(const float* in, std::size_t samples, std::size_t parts, float scale)
{
    std::uint32_t clipped = 0;
    if (parts == 1)
        for (std::size_t i = 0; i < samples; ++i)
            clipped += is_clipped(in[i] * scale);
    else
        for (std::size_t i = 0; i < samples; ++i)
            clipped += is_clipped(in[2 * i] * scale) | is_clipped(in[2 * i + 1] * scale);
    return clipped;
}

std::int8_t quantised(float scaled)
{
    if (std::isnan(scaled))
        return 0;
    return static_cast<std::int8_t>(std::nearbyint(std::clamp(scaled, -128.0f, 127.0f)));
}

// Not all kernels round half to even: the one for NEON rounds half away from zero. The
// first call also has Volk read its preferences and choose a kernel: not in work(), then.
bool volk_is_exact()
{
    constexpr float far = 1e10f; // does not fit into 32 bits
    constexpr float infinity = std::numeric_limits<float>::infinity();
    alignas(64) std::array<float, 600> numbers{ far, -far, infinity, -infinity };
    alignas(64) std::array<std::int8_t, numbers.size()> result;
    std::iota(numbers.begin() + 4, numbers.end(), -298.5f);
    // aligned samples have kernels of their own
    for (const std::size_t start : { 0, 1 }) {
        volk_32f_s32f_convert_8i(result.data() + start,
                                 numbers.data() + start,
                                 1,
                                 static_cast<unsigned>(numbers.size() - start));
        for (std::size_t i = start; i < numbers.size(); ++i)
            if (result[i] != quantised(numbers[i]))
                return false;
    }
    return true;
}

// Volk's byte swap works in place, on aligned words only, and would take a copy first.
void copy_swapped(std::byte* out, const std::byte* in, std::size_t words)
{
    std::uint16_t word;
    for (std::size_t i = 0; i < words; ++i) {
        std::memcpy(&word, in + i * sizeof word, sizeof word);
        word = bswap_16(word);
        std::memcpy(out + i * sizeof word, &word, sizeof word);
    }
}

// Whether NaN becomes 127 or -128, but for the end of a call.
bool volk_shows_nan()
{
    alignas(64) std::array<float, 256> numbers;
    alignas(64) std::array<std::int8_t, numbers.size()> result;
    numbers.fill(std::numeric_limits<float>::quiet_NaN());
    for (const std::size_t start : { 0, 1 }) {
        const std::size_t n = numbers.size() - start;
        volk_32f_s32f_convert_8i(
            result.data() + start, numbers.data() + start, 1, static_cast<unsigned>(n));
        for (std::size_t i = start; i < numbers.size() - most_at_the_end; ++i)
            if (result[i] != 127 && result[i] != -128)
                return false;
    }
    return true;
}

bool is_own_order(byte_order order)
{
    return (order == byte_order::big ? htobe16(1) : htole16(1)) == 1;
}

} // namespace

sample_converter::sample_converter(sample_type type, byte_order order, float scale)
    : d_step(step::copy), d_scale(scale)
{
    const bool is_complex = type == sample_type::sc8 || type == sample_type::sc16 ||
                            type == sample_type::complex64;
    d_parts = is_complex ? 2 : 1;
    switch (type) {
    case sample_type::int8:
    case sample_type::sc8:
        d_input_bytes = d_output_bytes = d_parts;
        break;
    case sample_type::int16:
    case sample_type::sc16:
        d_step = is_own_order(order) ? step::copy : step::swap;
        d_input_bytes = d_output_bytes = d_parts * sizeof(std::int16_t);
        break;
    case sample_type::float32:
    case sample_type::complex64:
        d_step = step::quantise;
        d_input_bytes = d_parts * sizeof(float);
        d_output_bytes = d_parts;
        d_volk_is_exact = volk_is_exact();
        d_volk_shows_nan = volk_shows_nan();
        break;
    }
}

std::uint64_t
sample_converter::convert(std::byte* out, const std::byte* in, std::size_t samples) const
{
    switch (d_step) {
    case step::copy:
        std::copy_n(in, samples * d_input_bytes, out);
        return 0;
    case step::swap:
        copy_swapped(out, in, samples * d_parts);
        return 0;
    case step::quantise:
        break;
    }
    std::uint64_t clipped = 0;
    while (samples) {
        const std::size_t now = std::min(samples, block_numbers / d_parts);
        clipped += quantise(
            reinterpret_cast<std::int8_t*>(out), reinterpret_cast<const float*>(in), now);
        out += now * d_output_bytes;
        in += now * d_input_bytes;
        samples -= now;
    }
    return clipped;
}

std::uint64_t
sample_converter::quantise(std::int8_t* out, const float* in, std::size_t samples) const
{
    const std::size_t n = samples * d_parts;
    if (d_volk_is_exact)
        volk_32f_s32f_convert_8i(out, in, d_scale, static_cast<unsigned>(n));
    else
        for (std::size_t i = 0; i < n; ++i)
            out[i] = quantised(in[i] * d_scale);
    if (d_volk_is_exact && d_volk_shows_nan) {
        const std::size_t end = std::min(n, most_at_the_end);
        if (!is_any_extreme(out, n) && are_all_within(in + n - end, end, d_scale))
            return 0;
    }
    if (are_all_within(in, n, d_scale))
        return 0;
    // a kernel makes 127 of NaN in the middle and 0 at the end
    for (std::size_t i = 0; i < n; ++i)
        if (std::isnan(in[i] * d_scale))
            out[i] = 0;
    return count_clipped(in, samples, d_parts, d_scale);
}

} // namespace gr::spead
