/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packed_numbers.h"

#include <endian.h>

#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace gr::spead {

namespace {

// A group is the smallest number of packed integers that fills whole bytes.
template <unsigned bits>
constexpr std::size_t group_numbers = bits == 10 ? 4 : 2;
template <unsigned bits>
constexpr std::size_t group_bytes = bits* group_numbers<bits> / 8;

// Groups that a word of 64 bits holds.
template <unsigned bits>
constexpr std::size_t word_groups = sizeof(std::uint64_t) / group_bytes<bits>;
template <unsigned bits>
constexpr std::size_t word_numbers = group_numbers<bits>* word_groups<bits>;

// Unpacks the first bytes of a word, which may be read beyond them.
template <unsigned bits>
void unpack_word(std::int16_t* out, const std::byte* in, std::size_t in_bytes)
{
    std::uint64_t word = 0;
    std::memcpy(&word, in, in_bytes);
    word = be64toh(word);
    for (std::size_t i = 0; i < word_numbers<bits>; ++i)
        out[i] = static_cast<std::int16_t>(static_cast<std::int64_t>(word << bits * i) >>
                                           (64 - bits));
}

template <unsigned bits>
void unpack_words(std::int16_t* out, const std::byte* in, std::size_t n)
{
    constexpr auto word_bytes = word_groups<bits> * group_bytes<bits>;
    std::size_t i = 0;
    // reads a whole word, so another one must follow
    for (; i + 2 * word_numbers<bits> <= n; i += word_numbers<bits>, in += word_bytes)
        unpack_word<bits>(out + i, in, sizeof(std::uint64_t));
    for (; i < n; i += group_numbers<bits>, in += group_bytes<bits>) {
        std::int16_t numbers[word_numbers<bits>];
        unpack_word<bits>(numbers, in, group_bytes<bits>);
        std::memcpy(out + i, numbers, group_numbers<bits> * sizeof *out);
    }
}

template <unsigned bits>
std::uint64_t packed_word(const std::int16_t* in, std::size_t n)
{
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < n; ++i)
        word |= (static_cast<std::uint64_t>(in[i]) & ((1u << bits) - 1))
                << (64 - bits * (i + 1));
    return htobe64(word);
}

template <unsigned bits>
void pack_words(std::byte* out, const std::int16_t* in, std::size_t n)
{
    constexpr auto word_bytes = word_groups<bits> * group_bytes<bits>;
    std::size_t i = 0;
    // writes a whole word, so another one must follow
    for (; i + 2 * word_numbers<bits> <= n; i += word_numbers<bits>, out += word_bytes) {
        const auto word = packed_word<bits>(in + i, word_numbers<bits>);
        std::memcpy(out, &word, sizeof word);
    }
    for (; i < n; i += group_numbers<bits>, out += group_bytes<bits>) {
        const auto word = packed_word<bits>(in + i, group_numbers<bits>);
        std::memcpy(out, &word, group_bytes<bits>);
    }
}

#ifdef __x86_64__

// Each step takes 16 numbers: eight in each half of a register, from 10 or 12 bytes.
constexpr std::size_t step_numbers = 16;
template <unsigned bits>
constexpr std::size_t step_bytes = step_numbers* bits / 8;

// Two bytes hold the bits of each number: they become an integer of 16 bits, whose
// number is moved to the top and back, which extends its sign.
template <unsigned bits>
__attribute__((target("avx2"))) std::size_t
unpack_steps(std::int16_t* out, const std::byte* in, std::size_t n)
{
    const auto bytes_of_numbers = _mm256_broadcastsi128_si256(
        bits == 10 ? _mm_setr_epi8(1, 0, 2, 1, 3, 2, 4, 3, 6, 5, 7, 6, 8, 7, 9, 8)
                   : _mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
    const auto factors = _mm256_broadcastsi128_si256(
        bits == 10 ? _mm_setr_epi16(1, 4, 16, 64, 1, 4, 16, 64)
                   : _mm_setr_epi16(1, 16, 1, 16, 1, 16, 1, 16));
    std::size_t i = 0;
    // the last load reads up to 16 bytes, so a step must follow
    for (; i + 2 * step_numbers <= n; i += step_numbers) {
        const auto low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
        const auto high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + bits));
        auto numbers = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        numbers = _mm256_shuffle_epi8(numbers, bytes_of_numbers);
        numbers = _mm256_mullo_epi16(numbers, factors);
        numbers = _mm256_srai_epi16(numbers, 16 - bits);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), numbers);
        in += step_bytes<bits>;
    }
    return i;
}

// Joins two numbers in 32 bits, two of these in 64 bits, and writes their bytes in the
// reverse order.
template <unsigned bits>
__attribute__((target("avx2"))) std::size_t
pack_steps(std::byte* out, const std::int16_t* in, std::size_t n)
{
    const auto mask = _mm256_set1_epi16((1 << bits) - 1);
    const auto factors = _mm256_set1_epi32(1 << 16 | 1 << bits); // even, odd numbers
    const auto reversed_bytes = _mm256_broadcastsi128_si256(
        bits == 10
            ? _mm_setr_epi8(4, 3, 2, 1, 0, 12, 11, 10, 9, 8, -1, -1, -1, -1, -1, -1)
            : _mm_setr_epi8(5, 4, 3, 2, 1, 0, 13, 12, 11, 10, 9, 8, -1, -1, -1, -1));
    std::size_t i = 0;
    // the last store writes 16 bytes, so a step must follow
    for (; i + 2 * step_numbers <= n; i += step_numbers) {
        auto numbers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
        numbers = _mm256_madd_epi16(_mm256_and_si256(numbers, mask), factors);
        const auto first =
            _mm256_srli_epi64(_mm256_slli_epi64(numbers, 32), 32 - 2 * bits);
        numbers = _mm256_or_si256(first, _mm256_srli_epi64(numbers, 32));
        numbers = _mm256_shuffle_epi8(numbers, reversed_bytes);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                         _mm256_castsi256_si128(numbers));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + bits),
                         _mm256_extracti128_si256(numbers, 1));
        out += step_bytes<bits>;
    }
    return i;
}

bool has_avx2()
{
    static const bool has = __builtin_cpu_supports("avx2");
    return has;
}

#endif

template <unsigned bits>
void unpack(std::int16_t* out, const std::byte* in, std::size_t n)
{
    std::size_t done = 0;
#ifdef __x86_64__
    if (has_avx2())
        done = unpack_steps<bits>(out, in, n);
#endif
    unpack_words<bits>(out + done, in + done * bits / 8, n - done);
}

template <unsigned bits>
void pack(std::byte* out, const std::int16_t* in, std::size_t n)
{
    std::size_t done = 0;
#ifdef __x86_64__
    if (has_avx2())
        done = pack_steps<bits>(out, in, n);
#endif
    pack_words<bits>(out + done * bits / 8, in + done, n - done);
}

} // namespace

void unpack_numbers(std::int16_t* out, const std::byte* in, std::size_t n, unsigned bits)
{
    bits == 10 ? unpack<10>(out, in, n) : unpack<12>(out, in, n);
}

void pack_numbers(std::byte* out, const std::int16_t* in, std::size_t n, unsigned bits)
{
    bits == 10 ? pack<10>(out, in, n) : pack<12>(out, in, n);
}

} // namespace gr::spead
