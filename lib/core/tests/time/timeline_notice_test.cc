/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What is said of tags that are far from where samples were: a clock was set anew, or a
// tag is wrong.

#include "helpers/placed_checks.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

// a sample is 10 ticks of a microsecond
constexpr std::int64_t samples_per_second = 100000;

} // namespace

BOOST_AUTO_TEST_SUITE(notices_of_far_tags)

// lost samples, or a rate that is not that of the source
BOOST_AUTO_TEST_CASE(the_first_jump_is_told)
{
    for (const auto on_gap : gap_policies)
        for (const std::int64_t jump : { 1, -2, 30 * 100000 }) {
            placed_stream s(config(on_gap));
            s.play({ { 0, 4 }, { 4 + jump, 4 } });
            BOOST_CHECK_EQUAL(s.line.take_warnings().jump, static_cast<double>(jump));
            s.play({ { 8 + 2 * jump, 4 } });
            BOOST_CHECK_EQUAL(s.line.take_warnings().jump, 0.);
        }
}

BOOST_AUTO_TEST_CASE(a_step_back_that_loses_more_than_a_second_is_told_each_time)
{
    placed_stream s(config(gap_policy::realign));
    s.tag(9 * samples_per_second);
    s.send(4);
    s.tag(8 * samples_per_second + 4);
    BOOST_CHECK_EQUAL(s.line.take_warnings().late, 0.);
    for (int i = 0; i < 2; ++i) {
        s.tag(4 + (i + 2) * samples_per_second);
        BOOST_CHECK_EQUAL(s.line.take_warnings().late, 7. - i);
        BOOST_CHECK_EQUAL(s.line.take_warnings().late, 0.);
    }
}

BOOST_AUTO_TEST_CASE(a_start_in_a_long_heap_is_not_told)
{
    placed_stream s({ 10 * samples_per_second, 100 * samples_per_second, megahertz });
    s.tag(1);
    BOOST_CHECK(s.line.to_drop() > 9 * samples_per_second);
    BOOST_CHECK_EQUAL(s.line.take_warnings().late, 0.);
}

BOOST_AUTO_TEST_CASE(a_clock_set_back_between_runs_is_told_and_counted)
{
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        s.tag(20 * samples_per_second);
        s.send(4);
        s.restart();
        s.tag(4);
        BOOST_CHECK_EQUAL(s.line.take_warnings().late, 20.);
        check_counters(s, 0, 0, 0, 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()
