/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// How often what tags say is worth a line.

#include "gap_stream.h"
#include "tagged_input.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(tagged_inputs)

BOOST_AUTO_TEST_CASE(steps_back_again_and_again_are_told_once_a_second)
{
    packed_stream stream(heaps_of(100));
    tagged_input::time_point now{ 1h };
    const exact_rate rate{ 1000 };
    tagged_input input(stream.packer,
                       tick_clock(rate, {}),
                       { 100, 100, 0, rate },
                       [&now] { return now; });
    const auto samples = noise(10);
    std::uint64_t at = 0;
    const auto lines = [&](std::uint64_t seconds) {
        input.write(raw(samples.data()), 10, at, { { at, seconds, 0. } });
        at += 10;
        return input.take_warnings().size();
    };
    BOOST_CHECK_EQUAL(lines(9), 0u);
    BOOST_CHECK_EQUAL(lines(10), 1u); // a jump, which is told once
    for (int second = 0; second < 3; ++second) {
        BOOST_CHECK_EQUAL(lines(2), 1u);
        for (int i = 0; i < 10; ++i)
            BOOST_CHECK_EQUAL(lines(i % 2 ? 2 : 9), 0u);
        now += 1s;
        // what could not be told before is told now
        BOOST_CHECK_EQUAL(lines(9), 1u);
        now += 1s;
    }
    BOOST_CHECK_EQUAL(input.counters().steps_back.get(), 3u * 6);
}

BOOST_AUTO_TEST_SUITE_END()
