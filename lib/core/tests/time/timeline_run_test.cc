/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/placed_checks.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(runs_of_samples)

BOOST_AUTO_TEST_CASE(a_new_run_starts_behind_the_unfinished_heap)
{
    placed_stream s(config(gap_policy::zero_fill));
    s.play({ { 0, 6 } });
    s.restart();
    s.play({ { 9, 7 } }); // as if it had gone on, but for a pause
    check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 120, { 12, 13, 14, 15 } } });
    check_counters(s, 0, 0, 0, 0);
}

BOOST_AUTO_TEST_CASE(a_new_run_emits_no_timestamp_again)
{
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        s.play({ { 0, 6 } });
        s.restart();
        s.play({ { 1, 11 } });
        check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 80, { 8, 9, 10, 11 } } });
    }
}

BOOST_AUTO_TEST_CASE(a_new_run_without_a_tag_counts_on_from_the_next_heap)
{
    placed_stream s(config(gap_policy::realign));
    s.play({ { 4, 6 } });
    s.restart();
    s.send(5);
    BOOST_REQUIRE_EQUAL(s.heaps.size(), 2u);
    BOOST_CHECK_EQUAL(s.heaps[1].timestamp, 120u);
    BOOST_CHECK(s.line.take_warnings().no_tag);
}

BOOST_AUTO_TEST_CASE(a_tag_knows_what_was_counted_in_all_runs_before)
{
    placed_stream s(config(gap_policy::realign));
    s.send(2); // of the heap 0
    s.restart();
    s.send(1); // of the heap 40, which does not leave
    s.play({ { 1, 11 } });
    check_heaps(s, { { 40, { 4, 5, 6, 7 } }, { 80, { 8, 9, 10, 11 } } });
}

BOOST_AUTO_TEST_CASE(counted_samples_are_no_limit_twice)
{
    placed_stream s(config(gap_policy::realign));
    s.send(4);
    for (const std::int64_t place : { 8, 12 }) {
        s.tag(place);
        s.send(4);
        s.restart();
    }
    check_heaps(
        s,
        { { 0, { 0, 1, 2, 3 } }, { 80, { 8, 9, 10, 11 } }, { 120, { 12, 13, 14, 15 } } });
}

// where the source goes on is where it was, whatever became of its samples
BOOST_AUTO_TEST_CASE(a_source_that_goes_on_in_a_new_run_has_not_stepped_back)
{
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        s.play({ { 5, 1 } }); // dropped, up to 8
        s.restart();
        s.play({ { 6, 4 }, { 9, 1 } }); // one step back
        s.restart();
        s.play({ { 10, 6 } });
        BOOST_CHECK_EQUAL(s.counters.steps_back.get(), 1u);
        s.restart();
        s.tag(15);
        BOOST_CHECK_EQUAL(s.counters.steps_back.get(), 2u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
