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
    time.begin(timestamp, 48, 1000);
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

BOOST_AUTO_TEST_CASE(the_ratio_is_reduced)
{
    BOOST_TEST(stream_time(4096, 4096).granule() == 1);
    BOOST_TEST(stream_time(4096, 2).granule() == 2048);
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
    time.advance(4, 48, 1005);
    BOOST_TEST(time.timestamp() == 4);
    BOOST_TEST(time.tick() == last + 5);
}

BOOST_AUTO_TEST_CASE(heaps_from_before_do_not_turn_the_time_back)
{
    auto time = begun(1, 1, 500);
    time.advance(490, 48, 990);
    BOOST_TEST(time.tick() == 500);
}

BOOST_AUTO_TEST_CASE(a_sender_that_is_back_goes_on_in_absolute_time)
{
    constexpr std::uint64_t last = (std::uint64_t{ 1 } << 48) - 1;
    auto time = begun(1, 1, last);
    time.begin(99, 48, 5000);
    BOOST_TEST(time.tick() == last + 100);
    BOOST_TEST(*time.position(100, 48) == 5001);
}

BOOST_AUTO_TEST_CASE(a_sender_that_counts_from_anew_begins_at_its_timestamp)
{
    auto time = begun(1, 1, 500);
    constexpr std::uint64_t before_zero = (std::uint64_t{ 1 } << 48) - 1000;
    time.begin(before_zero, 48, 5000);
    BOOST_TEST(time.tick() == before_zero);
}

BOOST_AUTO_TEST_CASE(a_position_that_is_too_far_away_is_none)
{
    const auto time = begun(1 << 20, 1, 0);
    BOOST_TEST(time.position(std::uint64_t{ 1 } << 38, 48).has_value());
    BOOST_TEST(!time.position(std::uint64_t{ 1 } << 40, 48).has_value());
}

BOOST_AUTO_TEST_CASE(ticks_have_64_bits)
{
    stream_time time(1, 1);
    constexpr std::uint64_t step = (std::uint64_t{ 1 } << 55) - 1;
    std::uint64_t timestamp = 0;
    for (int i = 0; i <= 300; ++i) {
        time.begin(timestamp, 56, 0);
        timestamp = (timestamp + step) % (std::uint64_t{ 1 } << 56);
    }
    BOOST_TEST(time.tick() == 300 * step);
}

BOOST_AUTO_TEST_SUITE_END()
