/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/placed_checks.h"
#include "support/parameter_error.h"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(times_of_samples)

BOOST_AUTO_TEST_CASE(a_start_on_the_grid_takes_every_sample)
{
    placed_stream s(config(gap_policy::realign));
    s.play({ { 0, 5 } });
    check_heaps(s, { { 0, { 0, 1, 2, 3 } } });
    BOOST_CHECK_EQUAL(s.dropped, 0u);
    const auto said = s.line.take_warnings();
    BOOST_CHECK(!said.no_tag && !said.residual && !said.before_sync);
    check_counters(s, 0, 0, 0, 0);
}

BOOST_AUTO_TEST_CASE(a_start_off_the_grid_drops_up_to_the_next_heap)
{
    placed_stream s(config(gap_policy::realign));
    s.play({ { 5, 7 } });
    check_heaps(s, { { 80, { 8, 9, 10, 11 } } });
    BOOST_CHECK_EQUAL(s.dropped, 3u);
}

BOOST_AUTO_TEST_CASE(without_a_tag_samples_are_counted_and_that_is_said_once)
{
    placed_stream s(config(gap_policy::realign));
    BOOST_CHECK(!s.line.take_warnings().no_tag);
    s.send(9);
    check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 40, { 4, 5, 6, 7 } } });
    BOOST_CHECK(s.line.take_warnings().no_tag);
    s.restart();
    s.send(4);
    BOOST_CHECK_EQUAL(s.heaps.back().timestamp, 120u);
    BOOST_CHECK(!s.line.take_warnings().no_tag);
}

BOOST_AUTO_TEST_CASE(a_tag_after_counted_samples_is_a_start)
{
    placed_stream s(config(gap_policy::realign));
    s.send(6);
    s.play({ { 101, 7 } });
    check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 1040, { 104, 105, 106, 107 } } });
    BOOST_CHECK_EQUAL(s.dropped, 2u + 3u);
    check_counters(s, 0, 0, 0, 0);
}

// the counted heaps have the timestamps 0, up to tick 40, and 40, up to tick 80
BOOST_AUTO_TEST_CASE(a_tag_does_not_go_back_behind_counted_heaps_that_have_left)
{
    for (const bool heap_has_left : { false, true }) {
        placed_stream s(config(gap_policy::realign));
        s.heap_has_left = heap_has_left;
        s.send(6);
        s.play({ { 2, 14 } });
        BOOST_REQUIRE_EQUAL(s.heaps.size(), heap_has_left ? 3u : 4u);
        BOOST_CHECK_EQUAL(s.heaps[1].timestamp, heap_has_left ? 80u : 40u);
        BOOST_CHECK_EQUAL(s.heaps.back(), (placed_heap{ 120, { 12, 13, 14, 15 } }));
    }
}

BOOST_AUTO_TEST_CASE(an_expected_tag_changes_nothing)
{
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        s.play({ { 0, 0 }, { 0, 2 }, { 2, 0 }, { 2, 1 }, { 3, 1 }, { 4, 4 } });
        check_heaps(s, { { 0, { 0, 1, 2, 3 } }, { 40, { 4, 5, 6, 7 } } });
        check_counters(s, 0, 0, 0, 0);
    }
}

BOOST_AUTO_TEST_CASE(a_tag_that_repeats_the_start_changes_nothing_while_dropping)
{
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        s.play({ { 5, 0 }, { 5, 1 }, { 6, 6 } });
        check_heaps(s, { { 80, { 8, 9, 10, 11 } } });
        check_counters(s, 0, 0, 0, 0);
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_quite_a_sample_off_is_said_once)
{
    placed_stream s(config(gap_policy::realign));
    s.tag(0, 0.09);
    s.send(2);
    BOOST_CHECK(!s.line.take_warnings().residual);
    s.tag(2, -0.4);
    s.tag(2, 0.4);
    BOOST_CHECK_CLOSE(s.line.take_warnings().residual, -0.4, 1e-9);
    BOOST_CHECK(!s.line.take_warnings().residual);
    s.send(2);
    check_heaps(s, { { 0, { 0, 1, 2, 3 } } });
    check_counters(s, 0, 0, 0, 0);
}

BOOST_AUTO_TEST_CASE(times_half_way_between_samples_do_not_jump)
{
    placed_stream s(config(gap_policy::realign));
    s.tag(0, 0.499);
    for (int i = 0; i < 4; ++i) {
        s.send(1);
        s.tag(i + 1, i % 2 ? 0.501 : 0.499);
    }
    check_heaps(s, { { 0, { 0, 1, 2, 3 } } });
    check_counters(s, 0, 0, 0, 0);
}

BOOST_AUTO_TEST_CASE(times_before_sync_time_are_dropped_and_that_is_said_once)
{
    placed_stream s(config(gap_policy::realign));
    s.tag(-6);
    BOOST_CHECK(s.line.take_warnings().before_sync);
    s.send(4);
    s.tag(-2);
    BOOST_CHECK(!s.line.take_warnings().before_sync);
    s.send(6);
    check_heaps(s, { { 0, { 0, 1, 2, 3 } } });
    BOOST_CHECK_EQUAL(s.dropped, 6u);
    check_counters(s, 0, 0, 0, 0);
}

BOOST_AUTO_TEST_CASE(times_too_far_away_to_count_samples_are_left_out)
{
    using limits = std::numeric_limits<std::int64_t>;
    for (const std::int64_t step : { 1, 4 })
        for (const auto tick : { limits::min(), limits::max() }) {
            placed_stream s({ 4, step, megahertz });
            s.play({ { 0, 3 } });
            s.line.tag(tick, 0.5, false);
            BOOST_CHECK(s.line.take_warnings().out_of_range);
            s.play({ { 3, 1 } });
            check_heaps(s, { { 0, { 0, 1, 2, 3 } } });
        }
}

BOOST_AUTO_TEST_CASE(the_ends_of_time_are_no_trouble_where_samples_are_long)
{
    using limits = std::numeric_limits<std::int64_t>;
    for (const auto on_gap : gap_policies) {
        placed_stream s(config(on_gap));
        for (const auto tick : { limits::min(), limits::max(), limits::min() }) {
            s.line.tag(tick, -0.5, false);
            s.line.advance(1000);
        }
        BOOST_CHECK_EQUAL(s.counters.gaps.get(), 1u);
        BOOST_CHECK_EQUAL(s.counters.steps_back.get(), 1u);
    }
}

BOOST_AUTO_TEST_CASE(a_step_of_nothing_is_refused)
{
    sink_counter_set counters;
    BOOST_CHECK_THROW(timeline({ 8, 0, megahertz }, counters), parameter_error);
}

// heaps of 10-bit samples by the byte, through years of a clock that divides by its rate
BOOST_AUTO_TEST_CASE(a_source_that_loses_nothing_has_no_gap)
{
    for (const exact_rate rate :
         { exact_rate{ 1712000000, 1 }, exact_rate{ 8000000, 7 } })
        for (const std::int64_t heap : { 4096, 5120 }) {
            const std::uint64_t sync = 1234567890;
            const tick_clock clock(rate, { sync, 0 });
            sink_counter_set counters;
            timeline line({ heap, 4096, rate }, counters);
            const auto n = static_cast<std::uint64_t>(rate.numerator);
            const auto d = static_cast<std::uint64_t>(rate.denominator);
            std::uint64_t tick = 0;
            for (int i = 0; i < 1000; ++i) {
                const double fraction =
                    static_cast<double>(tick * d % n) / static_cast<double>(n);
                const auto reading = clock.at(sync + tick * d / n, fraction);
                line.tag(reading->tick, reading->residual, false);
                const std::uint64_t blocks = 1 + 250 * n / d * static_cast<unsigned>(i);
                tick += 4 * blocks;
                line.advance(4 * blocks * static_cast<std::uint64_t>(heap) / 4096);
            }
            BOOST_CHECK_EQUAL(counters.gaps.get() + counters.steps_back.get(), 0u);
            BOOST_CHECK(!line.take_warnings().residual);
        }
}

BOOST_AUTO_TEST_SUITE_END()
