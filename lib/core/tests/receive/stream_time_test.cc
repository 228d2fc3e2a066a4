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

stream_time
begin_stream(std::int64_t samples, std::int64_t ticks, std::uint64_t timestamp)
{
    stream_time time(samples, ticks);
    time.begin(timestamp, 1000);
    return time;
}

} // namespace

BOOST_AUTO_TEST_SUITE(stream_time_test)

BOOST_AUTO_TEST_CASE(timestamps_are_converted_to_positions)
{
    constexpr std::uint64_t last = (std::uint64_t{ 1 } << 48) - 1;
    const struct {
        std::int64_t samples, ticks;
        std::uint64_t first, timestamp;
        std::int64_t position; // relative to the first timestamp
    } cases[] = {
        { 1, 2, 500, 540, 20 },
        { 1, 2, 500, 460, -20 },
        { 3, 1000, 50000, 50000 + 21334, 64 }, // rounded to the nearest sample
        { 3, 1000, 50000, 50000 - 21334, -64 },
        { 1, 2, 500, 501, 0 }, // halfway: the earlier sample
        { 1, 2, 500, 499, -1 },
        { 4096, 2, 500, 501, 2048 }, // ticks longer than samples
        { 1, 1, last, 4, 5 },        // wraps
    };
    for (const auto& example : cases) {
        const auto time = begin_stream(example.samples, example.ticks, example.first);
        BOOST_TEST(*time.position(example.timestamp, 48) == 1000 + example.position);
    }
}

BOOST_AUTO_TEST_CASE(ticks_do_not_wrap_with_timestamps)
{
    constexpr std::uint64_t last = (std::uint64_t{ 1 } << 48) - 1;
    auto time = begin_stream(1, 1, last);
    BOOST_TEST(time.has_wrapped(4, 48));
    time.advance(4, 48, 1005);
    BOOST_TEST(!time.has_wrapped(9, 48));
    BOOST_TEST(*time.position(9, 48) == 1010);
    BOOST_TEST(time.tick_at(1010) == last + 10);
}

BOOST_AUTO_TEST_CASE(ticks_before_a_wrap_precede_the_first_one)
{
    constexpr std::uint64_t wrap = std::uint64_t{ 1 } << 40;
    stream_time time(1, 1);
    time.begin(5, 1000, wrap);
    BOOST_TEST(*time.position(wrap - 10, 40) == 985);
    BOOST_TEST(time.tick_at(985) == wrap - 10);
    BOOST_TEST(time.tick_at(1000) == wrap + 5);
    BOOST_TEST(*time.position(20, 40) == 1015);
    BOOST_TEST(time.tick_at(1015) == wrap + 20);
}

BOOST_AUTO_TEST_CASE(timestamps_too_far_away_have_no_position)
{
    const auto time = begin_stream(1 << 20, 1, 0);
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
