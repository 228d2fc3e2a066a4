/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receive/stream_time.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

stream_time begun(std::int64_t samples, std::int64_t ticks, std::uint64_t timestamp)
{
    stream_time time(samples, ticks);
    time.begin(timestamp, 1000);
    return time;
}

} // namespace

BOOST_AUTO_TEST_SUITE(stream_time_test)

BOOST_AUTO_TEST_CASE(positions_follow_from_timestamps)
{
    const auto time = begun(1, 2, 500);
    BOOST_TEST(*time.position(500, 48) == 1000);
    BOOST_TEST(*time.position(540, 48) == 1020);
    BOOST_TEST(*time.position(460, 48) == 980);
}

BOOST_AUTO_TEST_CASE(ticks_between_samples_belong_to_the_nearest_one)
{
    const auto other = begun(3, 1000, 500);
    BOOST_TEST(*other.position(500 + 21333, 48) == 1064);
    BOOST_TEST(*other.position(500 + 21334, 48) == 1064);
    BOOST_TEST(*other.position(500 - 21333, 48) == 936);
    BOOST_TEST(*other.position(500 - 21334, 48) == 936);
    // or, in the middle, to the one before
    const auto time = begun(1, 2, 500);
    BOOST_TEST(*time.position(501, 48) == 1000);
    BOOST_TEST(*time.position(499, 48) == 999);
    BOOST_TEST(*time.position(498, 48) == 999);
}

BOOST_AUTO_TEST_CASE(ticks_may_be_longer_than_samples)
{
    BOOST_TEST(*begun(4096, 2, 500).position(501, 48) == 1000 + 2048);
}

BOOST_AUTO_TEST_CASE(timestamps_wrap_at_their_width)
{
    constexpr std::uint64_t last = (std::uint64_t{ 1 } << 48) - 1;
    const auto time = begun(1, 1, last);
    BOOST_TEST(*time.position(4, 48) == 1005);
    BOOST_TEST(*time.position(last - 4, 48) == 996);
}

BOOST_AUTO_TEST_CASE(ticks_go_on_where_timestamps_wrap)
{
    constexpr std::uint64_t last = (std::uint64_t{ 1 } << 48) - 1;
    auto time = begun(1, 1, last);
    BOOST_TEST(time.has_wrapped(4, 48));
    time.advance(4, 48, 1005);
    BOOST_TEST(!time.has_wrapped(9, 48));
    BOOST_TEST(*time.position(9, 48) == 1010);
    BOOST_TEST(time.tick_at(1010) == last + 10);
}

BOOST_AUTO_TEST_CASE(an_earlier_heap_does_not_turn_the_time_back)
{
    auto time = begun(1, 1, 500);
    time.advance(490, 48, 990);
    BOOST_TEST(*time.position(500, 48) == 1000);
}

BOOST_AUTO_TEST_CASE(a_stream_that_begins_forgets_the_one_before)
{
    constexpr std::uint64_t last = (std::uint64_t{ 1 } << 48) - 1;
    auto time = begun(1, 1, last);
    time.begin(99, 5000);
    BOOST_TEST(time.tick_at(5000) == 99u);
    BOOST_TEST(*time.position(100, 48) == 5001);
}

BOOST_AUTO_TEST_CASE(a_position_that_is_too_far_away_is_none)
{
    const auto time = begun(1 << 20, 1, 0);
    BOOST_TEST(time.position(std::uint64_t{ 1 } << 35, 48).has_value());
    BOOST_TEST(!time.position(std::uint64_t{ 1 } << 40, 48).has_value());
}

BOOST_AUTO_TEST_CASE(ticks_have_64_bits)
{
    stream_time time(1, 1);
    constexpr std::uint64_t step = std::uint64_t{ 1 } << 54;
    std::uint64_t timestamp = 0;
    std::int64_t position = 0;
    time.begin(0, 0);
    for (int i = 0; i < 300; ++i) {
        timestamp = (timestamp + step) % (std::uint64_t{ 1 } << 56);
        position = *time.position(timestamp, 56);
        time.advance(timestamp, 56, position);
    }
    BOOST_TEST(position == 300 * static_cast<std::int64_t>(step));
}

BOOST_AUTO_TEST_SUITE_END()
