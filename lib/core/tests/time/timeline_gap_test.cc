/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/placed_checks.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

constexpr auto zero = placed_heap::zero;

} // namespace

BOOST_AUTO_TEST_SUITE(gaps_between_samples)

BOOST_AUTO_TEST_CASE(realign_leaves_the_heap_and_begins_at_the_next)
{
    placed_stream s(config(gap_policy::realign));
    s.play({ { 0, 6 }, { 7, 5 } }); // one sample is missing
    check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 80, { 8, 9, 10, 11 } } });
    BOOST_CHECK_EQUAL(s.dropped, 2u + 1u);
    check_counters(s, 1, 1, 0, 0);
}

BOOST_AUTO_TEST_CASE(realign_over_many_heaps_begins_where_samples_go_on)
{
    placed_stream s(config(gap_policy::realign));
    s.play({ { 0, 6 }, { 40, 4 } });
    check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 400, { 40, 41, 42, 43 } } });
    check_counters(s, 1, 34, 0, 0);
}

BOOST_AUTO_TEST_CASE(zero_fill_fills_within_a_heap)
{
    placed_stream s(config(gap_policy::zero_fill));
    s.play({ { 0, 1 }, { 3, 1 } });
    check_heaps(s, { { 0, { 0, zero, zero, 3 } } });
    check_counters(s, 1, 2, 2, 0);
}

BOOST_AUTO_TEST_CASE(zero_fill_fills_whole_heaps_too)
{
    placed_stream s(config(gap_policy::zero_fill));
    s.play({ { 0, 3 }, { 13, 3 } });
    check_heaps(s,
                { { 0, { 0, 1, 2, zero } },
                  { 40, { zero, zero, zero, zero } },
                  { 80, { zero, zero, zero, zero } },
                  { 120, { zero, 13, 14, 15 } } });
    check_counters(s, 1, 10, 10, 0);
}

BOOST_AUTO_TEST_CASE(zero_fill_realigns_after_ten_seconds)
{
    auto p = config(gap_policy::zero_fill);
    p.sample_rate = { 10 }; // ticks per second, which is one sample
    placed_stream filled(p);
    filled.play({ { 0, 2 } });
    filled.tag(12);
    BOOST_CHECK_EQUAL(filled.zero_filled, 10u);
    BOOST_CHECK_EQUAL(filled.heaps.size(), 3u);

    placed_stream realigned(p);
    realigned.play({ { 0, 2 }, { 13, 7 } });
    check_heaps(realigned, { { 160, { 16, 17, 18, 19 } } });
    check_counters(realigned, 1, 11, 0, 0);
}

BOOST_AUTO_TEST_CASE(a_step_back_drops_up_to_the_sample_that_is_next)
{
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        s.play({ { 0, 6 }, { 1, 7 } });
        check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 40, { 4, 5, 6, 7 } } });
        BOOST_CHECK_EQUAL(s.dropped, 5u);
        check_counters(s, 0, 0, 0, 1);
    }
}

BOOST_AUTO_TEST_CASE(a_gap_that_ends_among_samples_to_drop_shortens_that)
{
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        s.play({ { 0, 6 }, { 1, 1 }, { 4, 4 } }); // 1 to 5 are to be dropped
        check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 40, { 4, 5, 6, 7 } } });
        BOOST_CHECK_EQUAL(s.dropped, 3u);
        check_counters(s, 1, 2, 0, 1);
    }
}

BOOST_AUTO_TEST_CASE(a_gap_beyond_the_samples_to_drop_is_one_from_the_next_heap)
{
    placed_stream filled(config(gap_policy::zero_fill));
    filled.play({ { 5, 1 }, { 10, 2 } });
    check_heaps(filled, { { 80, { zero, zero, 10, 11 } } });
    check_counters(filled, 1, 4, 2, 0);

    placed_stream realigned(config(gap_policy::realign));
    realigned.play({ { 5, 1 }, { 10, 6 } });
    check_heaps(realigned, { { 120, { 12, 13, 14, 15 } } });
    BOOST_CHECK_EQUAL(realigned.dropped, 3u);
}

BOOST_AUTO_TEST_CASE(two_gaps_close_together_are_two_gaps)
{
    placed_stream filled(config(gap_policy::zero_fill));
    filled.play({ { 0, 1 }, { 2, 0 }, { 3, 1 } });
    check_heaps(filled, { { 0, { 0, zero, zero, 3 } } });
    check_counters(filled, 2, 2, 2, 0);

    placed_stream realigned(config(gap_policy::realign));
    realigned.play({ { 0, 1 }, { 3, 1 }, { 6, 6 } }); // to begin at 4
    check_heaps(realigned, { { 80, { 8, 9, 10, 11 } } });
    check_counters(realigned, 2, 4, 0, 0);
}

BOOST_AUTO_TEST_CASE(what_is_nearly_a_sample_off_is_a_gap)
{
    placed_stream s(config(gap_policy::zero_fill));
    s.play({ { 0, 1 } });
    s.tag(1, 0.7); // that is place 2
    s.send(2);
    check_heaps(s, { { 0, { 0, zero, 1, 2 } } });
    check_counters(s, 1, 1, 1, 0);
    BOOST_CHECK_CLOSE(s.line.take_warnings().residual, -0.3, 1e-9);
}

// 10 samples in 8 ticks: a tick is 1.25 samples
BOOST_AUTO_TEST_CASE(a_gap_of_ticks_that_are_no_whole_samples_is_rounded)
{
    placed_stream s({ 10, 8, megahertz, gap_policy::zero_fill });
    s.line.tag(0, 0, false);
    s.send(5);
    const auto said = s.line.tag(5, 0, false); // at sample 6.25
    BOOST_CHECK_EQUAL(said.zeros, 1u);
    BOOST_CHECK_CLOSE(s.line.take_warnings().residual, 0.25, 1e-9);
}

// 2 samples in a tick: what a tick cannot say is in its residual
BOOST_AUTO_TEST_CASE(a_gap_of_less_than_a_tick_is_one)
{
    placed_stream s({ 8, 4, megahertz, gap_policy::zero_fill });
    s.play({ { 0, 3 }, { 4, 4 } });
    check_heaps(s, { { 0, { 0, 1, 2, zero, 4, 5, 6, 7 } } });
    check_counters(s, 1, 1, 1, 0);
}

BOOST_AUTO_TEST_SUITE_END()
