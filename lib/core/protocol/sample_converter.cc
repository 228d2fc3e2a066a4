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

// Loops for which the compiler makes vectors, for processors that have long ones as well.
// clang does not take the attribute for templates. The program chooses a version before
// the thread sanitizer is ready.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define SPEAD_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define SPEAD_VECTORS
#endif

void volk_convert(std::int8_t* out, const float* in, float scale, std::size_t n)
{
    volk_32f_s32f_convert_8i(out, in, scale, static_cast<unsigned>(n));
}

void volk_convert(std::int16_t* out, const float* in, float scale, std::size_t n)
{
    volk_32f_s32f_convert_16i(out, in, scale, static_cast<unsigned>(n));
}

template <typename integer>
constexpr integer largest = std::numeric_limits<integer>::max();
template <typename integer>
constexpr integer smallest = std::numeric_limits<integer>::min();

// What is clipped becomes the largest or the smallest integer. Of an integer below 0, the
// complement is as far from 0.
template <typename integer>
inline bool is_any_extreme(const integer* out)
{
    integer furthest = 0;
    for (std::size_t i = 0; i < group_numbers; ++i)
        furthest =
            std::max(furthest, static_cast<integer>(out[i] < 0 ? ~out[i] : out[i]));
    return furthest == largest<integer>;
}

// An integer and no short cut, for vectors. -128.5 is rounded to -128, and 127.5 to 128.
template <typename integer>
inline std::uint32_t is_clipped(float scaled)
{
    return !((scaled >= smallest<integer> - 0.5f) & (scaled < largest<integer> + 0.5f));
}

// A kernel makes the largest integer of NaN in the middle and 0 at the end.
template <typename integer>
inline std::uint32_t
count_clipped(integer* out, const float* in, std::size_t n, bool pairs, float scale)
{
    for (std::size_t i = 0; i < n; ++i) {
        const float scaled = in[i] * scale;
        out[i] = static_cast<integer>(scaled == scaled ? out[i] : 0);
    }
    std::uint32_t clipped = 0;
    if (pairs)
        for (std::size_t i = 0; i < n; i += 2)
            clipped += is_clipped<integer>(in[i] * scale) |
                       is_clipped<integer>(in[i + 1] * scale);
    else
        for (std::size_t i = 0; i < n; ++i)
            clipped += is_clipped<integer>(in[i] * scale);
    return clipped;
}

// Puts NaN right and returns how many samples were clipped. The first numbers need only
// be looked at where one of a group has become an extreme one.
template <typename integer>
SPEAD_VECTORS std::uint64_t mend_and_count(integer* out,
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

template <typename integer>
integer quantised(float scaled)
{
    if (std::isnan(scaled))
        return 0;
    return static_cast<integer>(std::nearbyint(
        std::clamp(scaled, float{ smallest<integer> }, float{ largest<integer> })));
}

// Not all kernels round half to even: the one for NEON rounds half away from zero. The
// first call also has Volk read its preferences and choose a kernel: not in work(), then.
template <typename integer>
bool volk_is_exact()
{
    constexpr float far = 1e10f; // does not fit into 32 bits
    constexpr float infinity = std::numeric_limits<float>::infinity();
    alignas(64) std::array<float, 1200> numbers{ far, -far, infinity, -infinity };
    alignas(64) std::array<integer, numbers.size()> result;
    // both limits, and halves on both sides of 0
    const auto half = numbers.begin() + 600;
    std::iota(numbers.begin() + 4, half, smallest<integer> - 170.5f);
    std::iota(half, numbers.end(), largest<integer> - 300.5f);
    // aligned samples have kernels of their own
    for (const std::size_t start : { 0, 1 }) {
        volk_convert(
            result.data() + start, numbers.data() + start, 1, numbers.size() - start);
        for (std::size_t i = start; i < numbers.size(); ++i)
            if (result[i] != quantised<integer>(numbers[i]))
                return false;
    }
    return true;
}

// Whether NaN becomes the largest or the smallest integer, but for the end of a call.
template <typename integer>
bool volk_shows_nan()
{
    alignas(64) std::array<float, 256> numbers{};
    alignas(64) std::array<integer, numbers.size()> result;
    numbers.fill(std::numeric_limits<float>::quiet_NaN());
    for (const std::size_t start : { 0, 1 }) {
        const std::size_t n = numbers.size() - start;
        volk_convert(result.data() + start, numbers.data() + start, 1, n);
        for (std::size_t i = start; i < numbers.size() - most_at_the_end; ++i)
            if (result[i] != largest<integer> && result[i] != smallest<integer>)
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

bool is_own_order(byte_order order)
{
    return (order == byte_order::big ? htobe16(1) : htole16(1)) == 1;
}

} // namespace

sample_converter::sample_converter(sample_type type,
                                   byte_order order,
                                   float scale,
                                   unsigned bits)
    : d_step(step::copy), d_parts(is_complex(type) ? 2 : 1), d_scale(scale)
{
    const bool has_words = bits_of(type, bits) == 16;
    d_swaps = has_words && !is_own_order(order);
    d_output_bytes = d_parts * (has_words ? sizeof(std::int16_t) : 1);
    d_input_bytes = is_float(type) ? d_parts * sizeof(float) : d_output_bytes;
    if (is_float(type)) {
        d_step = step::quantise;
        d_volk_is_exact =
            has_words ? volk_is_exact<std::int16_t>() : volk_is_exact<std::int8_t>();
        d_volk_shows_nan =
            has_words ? volk_shows_nan<std::int16_t>() : volk_shows_nan<std::int8_t>();
    } else if (d_swaps) {
        d_step = step::swap;
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
        const auto* numbers = reinterpret_cast<const float*>(in);
        if (d_output_bytes == d_parts) {
            clipped += quantise(reinterpret_cast<std::int8_t*>(out), numbers, now);
        } else {
            // a packet need not be aligned
            alignas(64) std::array<std::int16_t, block_numbers> words;
            clipped += quantise(words.data(), numbers, now);
            const auto* bytes = reinterpret_cast<const std::byte*>(words.data());
            if (d_swaps)
                copy_swapped(out, bytes, now * d_parts);
            else
                std::copy_n(bytes, now * d_output_bytes, out);
        }
        out += now * d_output_bytes;
        in += now * d_input_bytes;
        samples -= now;
    }
    return clipped;
}

template <typename integer>
std::uint64_t
sample_converter::quantise(integer* out, const float* in, std::size_t samples) const
{
    const std::size_t n = samples * d_parts;
    if (d_volk_is_exact)
        volk_convert(out, in, d_scale, n);
    else
        for (std::size_t i = 0; i < n; ++i)
            out[i] = quantised<integer>(in[i] * d_scale);
    const bool shows_clipped = d_volk_is_exact && d_volk_shows_nan;
    const std::size_t first =
        shows_clipped && n > most_at_the_end ? n - most_at_the_end : 0;
    return mend_and_count(out, in, n, first, d_parts == 2, d_scale);
}

} // namespace gr::spead
