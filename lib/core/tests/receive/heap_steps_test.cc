/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receive/heap_steps.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

heap_steps::heap heap_at(std::uint64_t counter, std::int64_t position)
{
    return { counter, position, 4096, 8, 4096 };
}

// Heaps of 100 samples whose counters are one apart, or more.
heap_steps
regular_steps(int heaps, std::uint64_t distance = 1, bool shares_counters = false)
{
    heap_steps steps(shares_counters);
    for (int i = 0; i < heaps; ++i)
        steps.add(heap_at(10 + distance * static_cast<std::uint64_t>(i), 1000 + 100 * i));
    return steps;
}

} // namespace

BOOST_AUTO_TEST_SUITE(heap_steps_test)

BOOST_AUTO_TEST_CASE(two_heaps_are_not_enough)
{
    BOOST_TEST(!regular_steps(2).find(12, 4096));
}

BOOST_AUTO_TEST_CASE(a_heap_is_found_after_three)
{
    const auto found = regular_steps(3).find(13, 4096);
    BOOST_REQUIRE(found);
    BOOST_TEST(found->counter == 13);
    BOOST_TEST(found->position == 1300);
    BOOST_TEST(found->begin == 8);
    BOOST_TEST(found->end == 4096);
}

// The heap between them may have had no samples.
BOOST_AUTO_TEST_CASE(a_heap_behind_a_gap_is_not_found)
{
    BOOST_TEST(!regular_steps(3).find(14, 4096));
}

BOOST_AUTO_TEST_CASE(where_others_may_have_counters_the_next_heap_is_not_certain)
{
    for (auto steps : { regular_steps(3, 2), regular_steps(3, 1, true) }) {
        const std::uint64_t next = steps.find(11, 4096) ? 13 : 16;
        BOOST_TEST(!steps.find(next, 4096));
        steps.await(next, 4096);
        steps.add(heap_at(next == 13 ? 14 : 18, 1400));
        BOOST_TEST(steps.take_awaited());
        BOOST_REQUIRE(steps.find(next, 4096));
        BOOST_TEST(steps.find(next, 4096)->position == 1300);
    }
}

BOOST_AUTO_TEST_CASE(a_heap_in_a_gap_is_found_if_the_one_behind_it_is_known)
{
    auto steps = regular_steps(3, 2);
    steps.add(heap_at(22, 1600));
    const auto found = steps.find(18, 4096);
    BOOST_REQUIRE(found);
    BOOST_TEST(found->position == 1400);
}

BOOST_AUTO_TEST_CASE(a_heap_behind_a_gap_waits_for_the_next_one)
{
    auto steps = regular_steps(3, 2);
    steps.await(12, 4096); // it is found
    steps.await(19, 4096); // and this one never will be
    steps.await(18, 4000);
    steps.add(heap_at(20, 1500));
    BOOST_TEST(!steps.take_awaited());
    steps.await(26, 4096);
    steps.await(24, 4096); // before that one
    steps.add(heap_at(22, 1600));
    BOOST_TEST(!steps.take_awaited());
    steps.add(heap_at(24, 1700));
    BOOST_TEST(steps.take_awaited());
    BOOST_TEST(!steps.take_awaited());
    steps.await(30, 4096);
    steps.reset();
    steps.add(heap_at(30, 1700));
    BOOST_TEST(!steps.take_awaited());
}

BOOST_AUTO_TEST_CASE(a_heap_before_the_steps_is_not_found)
{
    BOOST_TEST(!regular_steps(3).find(9, 4096));
    auto steps = regular_steps(3, 2);
    steps.add(heap_at(17, 1400)); // 15 had no samples
    steps.add(heap_at(20, 1500));
    steps.add(heap_at(23, 1600));
    BOOST_TEST(!steps.find(11, 4096));
}

BOOST_AUTO_TEST_CASE(a_heap_before_the_last_one_is_found)
{
    const auto found = regular_steps(5).find(11, 4096);
    BOOST_REQUIRE(found);
    BOOST_TEST(found->position == 1100);
}

BOOST_AUTO_TEST_CASE(a_heap_of_another_length_is_not_found)
{
    BOOST_TEST(!regular_steps(3).find(13, 4000));
}

BOOST_AUTO_TEST_CASE(a_counter_between_steps_is_not_found)
{
    BOOST_TEST(!regular_steps(3, 2).find(13, 4096));
}

BOOST_AUTO_TEST_CASE(a_lost_heap_does_not_change_the_steps)
{
    auto steps = regular_steps(3);
    steps.add(heap_at(14, 1400));
    const auto found = steps.find(13, 4096);
    BOOST_REQUIRE(found);
    BOOST_TEST(found->position == 1300);
}

BOOST_AUTO_TEST_CASE(other_steps_have_to_be_seen_as_often)
{
    auto steps = regular_steps(3);
    steps.add(heap_at(13, 1350));
    BOOST_TEST(!steps.find(14, 4096));
    steps.add(heap_at(14, 1500));
    steps.add(heap_at(15, 1650));
    const auto found = steps.find(16, 4096);
    BOOST_REQUIRE(found);
    BOOST_TEST(found->position == 1800);
}

BOOST_AUTO_TEST_CASE(heaps_that_overtook_others_do_not_matter)
{
    auto steps = regular_steps(4);
    steps.add(heap_at(11, 1100));
    BOOST_TEST(steps.find(14, 4096)->position == 1400);
}

// One whose times go on, and whose counters begin anew.
BOOST_AUTO_TEST_CASE(another_sender_has_other_steps)
{
    auto steps = regular_steps(5);
    BOOST_TEST(!steps.add(heap_at(1, 1500)));
    BOOST_TEST(!steps.find(12, 4096));
    steps.add(heap_at(2, 1600));
    steps.add(heap_at(3, 1700));
    BOOST_REQUIRE(steps.find(4, 4096));
    BOOST_TEST(steps.find(4, 4096)->position == 1800);
}

BOOST_AUTO_TEST_CASE(nothing_is_known_after_a_reset)
{
    auto steps = regular_steps(3);
    steps.reset();
    BOOST_TEST(!steps.find(13, 4096));
}

// Their product would not fit into 63 bits.
BOOST_AUTO_TEST_CASE(positions_that_are_far_apart_are_no_steps)
{
    constexpr std::int64_t far = std::int64_t{ 1 } << 50;
    heap_steps steps;
    for (int i = 0; i < 4; ++i)
        steps.add(heap_at(10 + static_cast<std::uint64_t>(i), i * far));
    BOOST_TEST(!steps.find(1 << 20, 4096));
}

BOOST_AUTO_TEST_CASE(a_single_wrong_counter_does_not_end_the_steps_for_ever)
{
    auto steps = regular_steps(3);
    steps.add(heap_at(std::uint64_t{ 1 } << 47, 1300));
    for (int i = 3; i < 6; ++i)
        steps.add(heap_at(10 + static_cast<std::uint64_t>(i), 1000 + 100 * i));
    const auto found = steps.find(16, 4096);
    BOOST_REQUIRE(found);
    BOOST_TEST(found->position == 1600);
}

BOOST_AUTO_TEST_SUITE_END()
