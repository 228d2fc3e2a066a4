/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Streams with gaps, in heaps of two kinds.

#ifndef INCLUDED_SPEAD_CORE_TESTS_GAP_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_GAP_STREAM_H

#include "packing.h"

inline packing heaps_of(std::uint64_t samples, std::size_t slots = 0)
{
    packing p;
    p.heap_samples = samples;
    p.max_packet = 200;
    p.descriptors = false;
    p.slots = slots;
    return p;
}

// Larger than an eighth of this ring: its packets leave as they fill.
constexpr std::uint64_t large = 20000;
constexpr std::size_t small_ring = 64;

inline std::vector<heap> data_heaps(const packed_stream& stream)
{
    auto heaps = reassemble(stream.datagrams);
    while (!heaps.empty() && heaps.back().is_stop())
        heaps.pop_back();
    return heaps;
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_GAP_STREAM_H */
