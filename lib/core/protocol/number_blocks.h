/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_NUMBER_BLOCKS_H
#define INCLUDED_SPEAD_CORE_NUMBER_BLOCKS_H

#include <byteswap.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Marks loops to be vectorised, with an extra version for AVX2. clang rejects the
// attribute on templates. The version is chosen before the thread sanitizer is
// initialised.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define SPEAD_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define SPEAD_VECTORS
#endif

namespace gr::spead {

//! Memory for the numbers of one step of a conversion. They stay in the first-level cache
//! from one pass to the next.
struct number_block {
    static constexpr std::size_t bytes = 8192;
    alignas(64) std::array<std::byte, bytes> numbers;
};

//! Copies numbers of \p bytes bytes each, and reverses their bytes if \p swaps. Volk's
//! kernels for this work only in place and on aligned numbers.
void copy_numbers(
    std::byte* out, const std::byte* in, std::size_t numbers, unsigned bytes, bool swaps);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_NUMBER_BLOCKS_H */
