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
#include <limits>
#include <numeric>

namespace gr::spead {

namespace {

// Numbers that are converted, and then looked at while they are in the first-level cache.
constexpr std::size_t block_numbers = 2048;

// Numbers of which all are looked at closely if one of them may be clipped.
constexpr std::size_t group_numbers = 64;

// Kernels convert up to so many at the end one by one.
constexpr std::size_t most_at_the_end = 64;

// What is between them is within -128 ... 127 when it is rounded: -128.5 becomes -128 and
// 127.5 would become 128.
constexpr float lowest = -128.5f;
constexpr float too_high = 127.5f;

// Loops for which the compiler makes vectors, for processors that have long ones as well.
#if defined(__x86_64__)
#define SPEAD_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define SPEAD_VECTORS
#endif

// What is clipped becomes 127 or -128. Of a byte below 0, the complement is as far from
// 0.
inline bool is_any_extreme(const std::int8_t* out)
{
    std::uint8_t furthest = 0;
    for (std::size_t i = 0; i < group_numbers; ++i)
        furthest =
            std::max(furthest, static_cast<std::uint8_t>(out[i] < 0 ? ~out[i] : out[i]));
    return furthest == 127;
}

// An integer and no short cut, for vectors.
inline std::uint32_t is_clipped(float scaled)
{
    return !((scaled >= lowest) & (scaled < too_high));
}

// A kernel makes 127 of NaN in the middle and 0 at the end.
inline std::uint32_t
count_clipped(std::int8_t* out, const float* in, std::size_t n, bool pairs, float scale)
{
    for (std::size_t i = 0; i < n; ++i) {
        const float scaled = in[i] * scale;
        out[i] = static_cast<std::int8_t>(scaled == scaled ? out[i] : 0);
    }
    std::uint32_t clipped = 0;
    if (pairs)
        for (std::size_t i = 0; i < n; i += 2)
            clipped += is_clipped(in[i] * scale) | is_clipped(in[i + 1] * scale);
    else
        for (std::size_t i = 0; i < n; ++i)
            clipped += is_clipped(in[i] * scale);
    return clipped;
}

// Puts NaN right and returns how many samples were clipped. The first numbers need only
// be looked at where one of a group has become an extreme one.
SPEAD_VECTORS std::uint64_t mend_and_count(std::int8_t* out,
                                           const float* in,
                                           std::size_t n,
                                           std::size_t first,
                                           bool pairs,
                                           float scale)
{
    std::uint64_t clipped = 0;
    std::size_t at = 0;
    for (; at + group_numbers <= first; at += group_numbers)
        if (is_any_extreme(out + at))
            clipped += count_clipped(out + at, in + at, group_numbers, pairs, scale);
    return clipped + count_clipped(out + at, in + at, n - at, pairs, scale);
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
    const bool shows_clipped = d_volk_is_exact && d_volk_shows_nan;
    const std::size_t first =
        shows_clipped && n > most_at_the_end ? n - most_at_the_end : 0;
    return mend_and_count(out, in, n, first, d_parts == 2, d_scale);
}

} // namespace gr::spead
