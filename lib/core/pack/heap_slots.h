/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_SLOTS_H
#define INCLUDED_SPEAD_CORE_HEAP_SLOTS_H

#include "stream_plan.h"

namespace gr::spead {

//! The most slots that a heap of \p layout takes in a ring for \p plan.
std::uint64_t slots_per_heap(const stream_plan& plan, const heap_layout& layout);

//! Whether such a heap is published as a whole.
bool is_buffered(const stream_plan& plan,
                 const heap_layout& layout,
                 std::size_t ring_slots);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_SLOTS_H */
