/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What tests of timelines expect of a placed_stream.

#ifndef INCLUDED_SPEAD_CORE_TESTS_PLACED_CHECKS_H
#define INCLUDED_SPEAD_CORE_TESTS_PLACED_CHECKS_H

#include "placed_stream.h"

#include <boost/test/unit_test.hpp>

namespace gr::spead {

//! four samples in 40 ticks, unless a test needs others
inline timeline_config config(gap_policy on_gap) { return { 4, 40, megahertz, on_gap }; }

inline void check_heaps(const placed_stream& s, const std::vector<placed_heap>& heaps)
{
    BOOST_CHECK_EQUAL_COLLECTIONS(
        s.heaps.begin(), s.heaps.end(), heaps.begin(), heaps.end());
    BOOST_CHECK_EQUAL(s.samples_in, s.samples_out() + s.dropped);
}

inline void check_counters(const placed_stream& s,
                           std::uint64_t gaps,
                           std::uint64_t missing,
                           std::uint64_t zero_filled,
                           std::uint64_t steps_back)
{
    BOOST_CHECK_EQUAL(s.counters.gaps.get(), gaps);
    BOOST_CHECK_EQUAL(s.counters.samples_missing.get(), missing);
    BOOST_CHECK_EQUAL(s.zero_filled, zero_filled);
    BOOST_CHECK_EQUAL(s.counters.steps_back.get(), steps_back);
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_PLACED_CHECKS_H */
