/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Streams with descriptors in heaps of their own.

#ifndef INCLUDED_SPEAD_CORE_TESTS_DESCRIPTOR_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_DESCRIPTOR_STREAM_H

#include "packing.h"

constexpr std::uint64_t last_counter = (std::uint64_t{ 1 } << 40) - 1;

inline packing separate(std::uint64_t heap_samples = 1000)
{
    packing p;
    p.heap_samples = heap_samples;
    p.descriptors = false;
    p.separate = true;
    return p;
}

inline std::vector<std::size_t> descriptor_positions(const packed_stream& stream)
{
    std::vector<std::size_t> found;
    const auto heaps = reassemble(stream.datagrams);
    for (std::size_t i = 0; i < heaps.size(); ++i)
        if (heaps[i].is_descriptors())
            found.push_back(i);
    return found;
}

// As the packer's clock ticks: a heap in each quarter of a second.
inline void write_heaps(packed_stream& stream, const packing& p, int n)
{
    for (int i = 0; i < n; ++i) {
        stream.write_all(noise(p.heap_samples));
        stream.now += std::chrono::milliseconds(250);
    }
}

using positions = std::vector<std::size_t>;

#endif /* INCLUDED_SPEAD_CORE_TESTS_DESCRIPTOR_STREAM_H */
