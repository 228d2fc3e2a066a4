/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/zero_copy.h"

#include <boost/test/unit_test.hpp>

#include <utility>
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
    void send(std::size_t n)
    {
        auto queued = messages(n);
        for (auto& m : queued) {
            m.position = next_position;
            next_position += 10;
        }
        z.sent(queued.data(), n);
    }
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
        send(most_held);
        z.finished(first + 1, first + most_held - 1, false);
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

BOOST_AUTO_TEST_CASE(a_number_that_nobody_waits_for_ends_it)
{
    const std::pair<std::uint32_t, std::uint32_t> reports[] = { { 2, 2 }, { 0, 2 } };
    for (const auto& [first, last] : reports) {
        fixture f;
        f.send(2);
        f.z.finished(first, last, false);
        BOOST_CHECK(!f.z.active());
        f.z.finished(0, 1, false);
        BOOST_CHECK(!f.z.any_in_flight());
    }
    send(2);
    z.finished(0, 0, false);
    z.finished(0, 0, false); // twice
    BOOST_CHECK(!z.active());
}

BOOST_AUTO_TEST_CASE(stopped_it_holds_what_is_in_flight)
{
    send(2);
    z.stop();
    BOOST_CHECK(!z.active());
    BOOST_CHECK(!suits(1));
    z.finished(2, 2, false); // the message that failed
    BOOST_CHECK_EQUAL(z.in_flight_from(0), 10u);
    z.finished(0, 1, false);
    BOOST_CHECK(!z.any_in_flight());
}

BOOST_AUTO_TEST_SUITE_END()
