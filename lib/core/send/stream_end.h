/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_END_H
#define INCLUDED_SPEAD_CORE_STREAM_END_H

#include <chrono>

namespace gr::spead {

// A host of the local network without a receiver refuses packets within this time.
constexpr std::chrono::milliseconds refusal_time{ 10 };
// A receiver with a full buffer loses the end-of-stream heap. It is sent again after
// delays in this range, which double each time.
constexpr std::chrono::milliseconds first_repeat_delay{ 10 };
constexpr std::chrono::milliseconds last_repeat_delay{ 80 };
// Timeout at the end of a run: if nothing is sent for this long, the network is blocked.
// Resolving a next hop takes up to 1.5 s.
constexpr std::chrono::seconds finish_timeout{ 2 };
// Seconds of data in the rings of a paced stream. The limit lets a stream end soon.
constexpr double paced_ring_time = 0.5;

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_END_H */
