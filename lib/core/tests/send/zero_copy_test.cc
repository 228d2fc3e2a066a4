/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/zero_copy.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

using namespace gr::spead;

namespace {

// Numbers run as those of the kernel; to get to their end by sending would take minutes.
// (An explicit instantiation may name private members.)
void start_at(zero_copy& z, std::uint32_t number);
template <std::uint32_t zero_copy::*oldest, std::uint32_t zero_copy::*next>
struct numbers {
    friend void start_at(zero_copy& z, std::uint32_t number)
    {
        z.*oldest = z.*next = number;
    }
};
template struct numbers<&zero_copy::d_oldest, &zero_copy::d_next>;

constexpr std::size_t large = 65000;
const iovec piece{ nullptr, large };
constexpr std::size_t most_held = 24;

// What lies at 10, 20, 30 and so on has the numbers 0, 1, 2 and so on.
struct fixture {
    zero_copy z;
    std::uint64_t next_position = 10;

    fixture() { z.enable(true); }

    static std::vector<message> messages(std::size_t n)
    {
        return std::vector<message>(n, message{ &piece, 1, large, large, 0 });
    }
    bool suits(std::size_t n) const { return z.suits(messages(n).data(), n); }
    void send(std::size_t n, bool all = true)
    {
        auto queued = messages(n);
        for (auto& m : queued) {
            m.position = next_position;
            next_position += 10;
        }
        z.sent(queued.data(), n, all);
    }
    void send_until_failure(std::size_t n) { send(n, false); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(without_a_copy, fixture)

BOOST_AUTO_TEST_CASE(it_is_used_only_where_it_is_possible)
{
    BOOST_CHECK(suits(1));
    z.enable(false);
    BOOST_CHECK(!suits(1));
    BOOST_CHECK(!zero_copy().active());
}

BOOST_AUTO_TEST_CASE(the_numbers_of_a_new_socket_begin_at_0)
{
    send(2);
    z.finished(0, 1, true);
    BOOST_CHECK(!z.active());
    z.enable(true);
    BOOST_CHECK(z.active());
    send(1);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 30u);
    z.finished(0, 0, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), transport::nothing);
    BOOST_CHECK(z.active());
}

BOOST_AUTO_TEST_CASE(the_oldest_message_is_held_until_it_is_reported)
{
    BOOST_CHECK_EQUAL(z.in_flight_from(0), transport::nothing);
    send(3);
    for (std::uint32_t number = 0; number < 3; ++number) {
        BOOST_CHECK(z.any_in_flight());
        BOOST_CHECK_EQUAL(z.in_flight_from(0), 10 + 10 * number);
        z.finished(number, number, false);
    }
    BOOST_CHECK(!z.any_in_flight());
    BOOST_CHECK_EQUAL(z.in_flight_from(0), transport::nothing);
    BOOST_CHECK(z.active());
}

BOOST_AUTO_TEST_CASE(one_report_tells_of_several_messages)
{
    send(5);
    z.finished(0, 2, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 40u);
    z.finished(3, 4, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(reports_in_any_order_give_back_in_order)
{
    send(5);
    z.finished(3, 4, false);
    z.finished(1, 1, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 10u);
    z.finished(0, 0, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 30u);
    z.finished(2, 2, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(a_message_that_failed_may_have_taken_a_number)
{
    send_until_failure(2);
    z.finished(2, 2, false); // the one behind them
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 10u);
    send(1); // has the number 3
    z.finished(0, 1, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 30u);
    z.finished(3, 3, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(a_number_of_a_failed_message_may_come_in_one_report_with_others)
{
    send_until_failure(2);
    z.finished(0, 2, false);
    BOOST_CHECK(!z.any_in_flight());
    send(1);
    z.finished(2, 2, false); // once more, which must not happen
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 30u);
    z.finished(3, 3, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(a_failed_message_that_took_no_number_leaves_no_trace)
{
    send_until_failure(0);
    send(1);
    z.finished(0, 0, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(many_failures_in_a_row_hold_nothing)
{
    for (std::uint32_t number = 0; number < 1000; ++number) {
        BOOST_REQUIRE(suits(8));
        send_until_failure(0);
        z.finished(number, number, false);
        BOOST_REQUIRE(!z.any_in_flight());
    }
    send(1);
    z.finished(1000, 1000, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(failures_behind_a_held_message_do_not_hide_it)
{
    send(1);
    for (std::uint32_t number = 1; suits(1); ++number) {
        send_until_failure(0);
        z.finished(number, number, false);
        BOOST_REQUIRE_EQUAL(z.in_flight_from(0), 10u);
        BOOST_REQUIRE_LT(number, 100u);
    }
    z.finished(0, 0, false);
    BOOST_CHECK(!z.any_in_flight());
    BOOST_CHECK(suits(8));
}

BOOST_AUTO_TEST_CASE(never_more_than_so_many_are_held)
{
    send(8);
    send(8);
    BOOST_CHECK(suits(8));
    send(7);
    BOOST_CHECK(!suits(2));
    BOOST_CHECK(suits(1));
    send(1);
    BOOST_CHECK(!suits(1));
    // one in the middle makes no room, since it is counted from the oldest
    z.finished(5, 5, false);
    BOOST_CHECK(!suits(1));
    z.finished(0, 4, false);
    BOOST_CHECK(suits(6));
    BOOST_CHECK(!suits(7));
}

BOOST_AUTO_TEST_CASE(numbers_start_anew_after_2_to_the_32)
{
    for (std::uint32_t before = 1; before < most_held; ++before) {
        const std::uint32_t first = 0 - before;
        start_at(z, first);
        next_position = 10;
        send_until_failure(most_held - 1);
        BOOST_CHECK(suits(1));
        BOOST_CHECK(!suits(2));
        z.finished(first + most_held - 1, first + most_held - 1, false); // a failed one
        z.finished(first + 1, first + most_held - 2, false);
        BOOST_CHECK_EQUAL(z.in_flight_from(0), 10u);
        BOOST_CHECK(!suits(1));
        z.finished(first, first, false);
        BOOST_CHECK(!z.any_in_flight());
        BOOST_CHECK(suits(8));
    }
}

BOOST_AUTO_TEST_CASE(the_report_of_a_copy_ends_it)
{
    send(3);
    z.finished(1, 1, true);
    BOOST_CHECK(!z.active());
    BOOST_CHECK(!suits(1));
    // what is on its way is held all the same
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 10u);
    z.finished(0, 0, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 30u);
    z.finished(2, 2, true);
    BOOST_CHECK(!z.any_in_flight());
    BOOST_CHECK(!z.active());
}

BOOST_AUTO_TEST_CASE(the_copy_of_a_message_that_failed_ends_it_too)
{
    send_until_failure(0);
    z.finished(0, 0, true);
    BOOST_CHECK(!z.active());
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(a_failure_that_may_have_a_number_and_is_not_reported_ends_it)
{
    for (std::uint32_t number = 0; number < 10; ++number) {
        send_until_failure(0);
        z.finished(number, number, false);
        z.failure_not_reported(); // but it was
    }
    BOOST_CHECK(z.active());
    send(2);
    send_until_failure(0);
    z.failure_not_reported();
    BOOST_CHECK(!z.active());
    z.finished(12, 12, false); // the one that failed, late: nothing of ours
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 10u);
    z.finished(10, 11, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_CASE(after_a_number_that_nobody_waits_for_all_is_held_up_to_it)
{
    send_until_failure(2); // the failure had the number 2, but is reported too late
    send(3);               // so these are 3, 4 and 5
    z.finished(0, 1, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 30u);
    BOOST_CHECK(z.active());
    z.finished(5, 5, false);
    BOOST_CHECK(!z.active());
    // the other two, though 2, 3 and 4 were thought to be theirs
    z.finished(2, 2, false);
    z.finished(3, 3, false);
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 30u);
    z.finished(4, 4, false);
    BOOST_CHECK(!z.any_in_flight());
}

// Whatever failed unnoticed, once those have been reported, in whatever order.
BOOST_AUTO_TEST_CASE(what_is_still_read_is_held_and_nothing_is_held_twice)
{
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        fixture f;
        std::vector<std::uint32_t> failed;
        std::map<std::uint32_t, std::uint64_t> read; // positions by the kernel's numbers
        std::uint32_t next = 0;
        for (int i = 0; i < 6; ++i) {
            const bool fails = i < 5 && random() % 2; // the last one leaves no doubt
            read[next++] = f.next_position;
            f.send(1, !fails);
            if (fails && random() % 2)
                failed.push_back(next++);
        }
        // the largest comes first: then all is known that there is to know
        f.z.finished(next - 1, next - 1, false);
        read.erase(next - 1);
        for (const auto number : failed)
            f.z.finished(number, number, false);
        std::vector<std::uint32_t> rest;
        for (const auto& [number, position] : read)
            rest.push_back(number);
        std::shuffle(rest.begin(), rest.end(), random);
        std::uint64_t before = f.z.in_flight_from(0);
        for (const auto number : rest) {
            for (const auto& [left, position] : read)
                BOOST_REQUIRE_LE(f.z.in_flight_from(0), position);
            f.z.finished(number, number, false);
            read.erase(number);
            BOOST_REQUIRE_LE(before, f.z.in_flight_from(0));
            before = f.z.in_flight_from(0);
        }
        BOOST_REQUIRE(!f.z.any_in_flight());
    }
}

BOOST_AUTO_TEST_SUITE_END()
