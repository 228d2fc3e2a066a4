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

namespace gr::spead {

namespace {

// Numbers per block: converted, then scanned while they are in the first-level cache.
constexpr std::size_t block_numbers = 2048;

// Marks loops to be vectorised, with an extra version for AVX2. clang rejects the
// attribute on templates. The version is chosen before the thread sanitizer is
// initialised.
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

// Returns NaN if there is one: the bit patterns of magnitudes are ordered by value, with
// NaN last.
SPEAD_VECTORS float largest_magnitude(const float* in, std::size_t n)
{
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t bits;
        std::memcpy(&bits, in + i, sizeof bits);
        largest = std::max(largest, bits & 0x7fffffff);
    }
    float magnitude;
    std::memcpy(&magnitude, &largest, sizeof magnitude);
    return magnitude;
}

// -128.5 is rounded to -128, and 127.5 to 128. Without bool or short-circuit evaluation,
// loops can be vectorised.
template <typename integer>
std::uint32_t is_clipped(float scaled)
{
    using limits = std::numeric_limits<integer>;
    return !((scaled >= limits::min() - 0.5f) & (scaled < limits::max() + 0.5f));
}

// Counts clipped samples of \p parts numbers each.
template <typename integer, std::size_t parts>
SPEAD_VECTORS std::uint32_t
count_clipped(const float* in, std::size_t samples, float scale)
{
    std::uint32_t clipped = 0;
    for (std::size_t i = 0; i < parts * samples; i += parts)
        clipped += is_clipped<integer>(in[i] * scale) |
                   is_clipped<integer>(in[i + parts - 1] * scale);
    return clipped;
}

// Converts samples of \p parts numbers each.
template <typename integer>
sample_level convert_block(
    integer* out, const float* in, std::size_t samples, std::size_t parts, float scale)
{
    const std::size_t n = parts * samples;
    volk_convert(out, in, scale, n);
    float largest = largest_magnitude(in, n);
    if (!is_clipped<integer>(largest * scale))
        return { 0, largest * scale };
    if (std::isnan(largest)) { // each Volk kernel converts it differently
        largest = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (std::isnan(in[i]))
                out[i] = 0;
            else
                largest = std::max(largest, std::abs(in[i]));
    }
    return { parts == 2 ? count_clipped<integer, 2>(in, samples, scale)
                        : count_clipped<integer, 1>(in, samples, scale),
             largest * scale };
}

// Volk's byte swap works only in place and on aligned words, so it would need a copy
// first.
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
        // makes Volk read its preferences and choose a kernel now, not in work()
        constexpr std::array<float, 2> silence{};
        std::array<std::byte, max_output_bytes> out;
        convert(out.data(), reinterpret_cast<const std::byte*>(silence.data()), 1);
    } else if (d_swaps) {
        d_step = step::swap;
    }
}

sample_level
sample_converter::convert(std::byte* out, const std::byte* in, std::size_t samples) const
{
    switch (d_step) {
    case step::copy:
        std::copy_n(in, samples * d_input_bytes, out);
        return {};
    case step::swap:
        copy_swapped(out, in, samples * d_parts);
        return {};
    case step::quantise:
        break;
    }
    sample_level level;
    const auto add = [&](const sample_level& block) {
        level.clipped += block.clipped;
        level.largest = std::max(level.largest, block.largest);
    };
    while (samples) {
        const std::size_t now = std::min(samples, block_numbers / d_parts);
        const auto* numbers = reinterpret_cast<const float*>(in);
        if (d_output_bytes == d_parts) {
            auto* bytes = reinterpret_cast<std::int8_t*>(out);
            add(convert_block(bytes, numbers, now, d_parts, d_scale));
        } else {
            // the packet may be unaligned
            alignas(64) std::array<std::int16_t, block_numbers> words;
            add(convert_block(words.data(), numbers, now, d_parts, d_scale));
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
    return level;
}

} // namespace gr::spead
