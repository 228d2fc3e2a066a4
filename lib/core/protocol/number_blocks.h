/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_NUMBER_BLOCKS_H
#define INCLUDED_SPEAD_CORE_NUMBER_BLOCKS_H

#include "sample_format.h"

#include <byteswap.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Compiles a function twice, for AVX2 and for any CPU, to vectorise its loops. Not with
// clang, which rejects the attribute on templates, nor with the thread sanitizer, which
// is initialised only after the version is chosen.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define SPEAD_TARGET_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SPEAD_TARGET_CLONES
#endif

namespace gr::spead {

//! Memory for one block of a conversion. The numbers stay in the L1 cache from one pass
//! to the next.
struct number_block {
    static constexpr std::size_t bytes = 8192;
    alignas(64) std::array<std::byte, bytes> numbers;
};

//! A packed integer. Conversions hold it in 16 bits.
template <unsigned bits>
struct packed_integer {
};

//! The type that holds a number during conversions.
template <typename number>
struct held_number {
    using type = number;
};
template <unsigned bits>
struct held_number<packed_integer<bits>> {
    using type = std::int16_t;
};
template <typename number>
using held_t = typename held_number<number>::type;

// NOLINTBEGIN(bugprone-branch-clone): the branches differ in the type of the number

//! Calls \p visit with a number of this format, which is not complex.
template <typename visitor>
auto visit_number(const number_format& format, const visitor& visit)
{
    if (format.type == 'f')
        return format.bits == 32 ? visit(float()) : visit(double());
    const bool is_signed = format.type == 'i';
    switch (format.bits) {
    case 8:
        return is_signed ? visit(std::int8_t()) : visit(std::uint8_t());
    case 10:
        return visit(packed_integer<10>());
    case 12:
        return visit(packed_integer<12>());
    case 16:
        return is_signed ? visit(std::int16_t()) : visit(std::uint16_t());
    default:
        return is_signed ? visit(std::int32_t()) : visit(std::uint32_t());
    }
}

//! Calls \p visit with a number of samples in the flow graph.
template <typename visitor>
auto visit_number(sample_type type, const visitor& visit)
{
    if (is_float(type))
        return visit(float());
    switch (bits_of(type)) {
    case 8:
        return visit(std::int8_t());
    case 16:
        return visit(std::int16_t());
    default:
        return visit(std::int32_t());
    }
}

// NOLINTEND(bugprone-branch-clone)

// static: the library and the Python module must not share functions of two versions
template <typename output_number, typename input_number>
SPEAD_TARGET_CLONES static void
cast_numbers(output_number* out, const input_number* in, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<output_number>(in[i]);
}

//! Copies \p n numbers of 1, 2, 4 or 8 bytes each, and reverses their bytes if
//! \p is_swapped. Volk's kernels do so only in place and on aligned numbers.
void copy_numbers(std::byte* out,
                  const std::byte* in,
                  std::size_t n,
                  unsigned number_bytes,
                  bool is_swapped);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_NUMBER_BLOCKS_H */
