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

//! Copies \p n numbers of 1, 2, 4 or 8 bytes each, and reverses their bytes if \p swaps.
//! Volk's kernels do so only in place and on aligned numbers.
void copy_numbers(std::byte* out,
                  const std::byte* in,
                  std::size_t n,
                  unsigned number_bytes,
                  bool swaps);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_NUMBER_BLOCKS_H */
