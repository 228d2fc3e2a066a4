/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receive/sample_window.h"

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

// Two outputs, of which one gets 1000 bytes at the start.
struct half_a_stream {
    sample_window::clock::time_point now{ 1000s };
    sample_window window{ { 2, 1 << 18, 32, 100ms, 0ms } };
    std::int64_t begin =
        *window.begin_stream(now, 1, 1, std::make_shared<stream_format>());

    half_a_stream()
    {
        place(0, 0, 1000);
        look_until(now);
    }

    void place(std::size_t output, std::int64_t at, std::size_t bytes)
    {
        const std::vector<std::byte> samples(bytes);
        BOOST_REQUIRE(!window.place(output, begin + at, samples.data(), bytes).is_full);
    }
    // As the receiving thread does, again and again.
    void look_until(sample_window::clock::time_point end)
    {
        for (; now <= end; now += 5ms)
            window.decide_in_time(now);
    }
    std::int64_t decided() const { return window.decided() - begin; }
};

} // namespace

BOOST_AUTO_TEST_SUITE(sample_window_test)

BOOST_AUTO_TEST_CASE(bytes_that_later_ones_overtook_are_given_up_after_max_delay)
{
    half_a_stream stream;
    stream.place(1, 0, 400);
    stream.place(1, 500, 500);
    const auto end = stream.now + 100ms;
    stream.look_until(end - 10ms);
    BOOST_TEST(stream.decided() == 400);
    stream.look_until(end + 20ms);
    BOOST_TEST(stream.decided() == 1000);
}

// Its heap may be sent when that of the other one is complete.
BOOST_AUTO_TEST_CASE(an_output_of_which_nothing_comes_is_given_up_later)
{
    half_a_stream stream;
    const auto end = stream.now + 1000ms;
    stream.look_until(end - 50ms);
    BOOST_TEST(stream.decided() == 0);
    stream.look_until(end + 70ms);
    BOOST_TEST(stream.decided() == 1000);
}

BOOST_AUTO_TEST_CASE(an_output_may_come_after_the_other_one)
{
    half_a_stream stream;
    stream.look_until(stream.now + 500ms);
    stream.place(1, 0, 1000);
    stream.look_until(stream.now);
    BOOST_TEST(stream.decided() == 1000);
    stream.place(0, 1000, 1000);
    stream.place(1, 1500, 500); // of which a part is lost
    const auto end = stream.now + 100ms;
    stream.look_until(end - 10ms);
    BOOST_TEST(stream.decided() == 1000);
    stream.look_until(end + 20ms);
    BOOST_TEST(stream.decided() == 2000);
}

// The first packet may be one of the middle of a heap.
BOOST_AUTO_TEST_CASE(a_stream_that_turns_out_to_begin_earlier_waits_as_long)
{
    sample_window::clock::time_point now{ 1000s };
    sample_window window{ { 2, 1 << 18, 32, 100ms, 10ms } };
    const auto begin = *window.begin_stream(now, 1, 1, std::make_shared<stream_format>());
    const std::vector<std::byte> samples(1000);
    window.place(0, begin, samples.data(), 1000);
    window.place(1, begin - 500, samples.data(), 100);
    for (int i = 0; i < 10; ++i)
        window.decide_in_time(now += 5ms);
    BOOST_TEST(window.decided() == begin - 500);
    window.place(0, begin - 500, samples.data(), 500);
    window.decide_in_time(now);
    BOOST_TEST(window.decided() == begin - 400);
}

BOOST_AUTO_TEST_CASE(a_full_window_does_not_wait)
{
    half_a_stream stream;
    const std::vector<std::byte> samples(1 << 18);
    // until the reader has taken what is decided
    BOOST_TEST(stream.window.place(0, stream.begin + 1000, samples.data(), samples.size())
                   .is_full);
    BOOST_TEST(stream.decided() == 1000);
}

BOOST_AUTO_TEST_SUITE_END()
