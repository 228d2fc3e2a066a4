/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/packing.h"
#include "pack/level_check.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

// Samples at times of our choice, converted as in a stream.
struct stream {
    sample_converter converter;
    sink_counter_set counters;
    level_check check{ converter, counters };
    level_check::time_point now{};

    explicit stream(sample_type type, float scale = 1, unsigned bits = 8)
        : converter(type, byte_order::big, scale, bits)
    {
        check.start_run();
    }

    template <typename number>
    std::string send(const std::vector<number>& numbers)
    {
        const auto n = numbers.size() * sizeof(number) / converter.input_bytes();
        std::vector<std::byte> out(n * converter.output_bytes());
        counters.samples_clipped.add(
            converter.convert(out.data(), raw(numbers.data()), n));
        return check.look(raw(numbers.data()), n, now);
    }

    // Twice, a second apart.
    template <typename number>
    std::string send_for_a_second(const std::vector<number>& numbers)
    {
        const auto first = send(numbers);
        now += 1s;
        return first + send(numbers);
    }
};

const std::vector<std::int8_t> zeros(1000);
const std::vector<float> weak(1000, 0.0039f);

} // namespace

BOOST_AUTO_TEST_SUITE(level)

BOOST_AUTO_TEST_CASE(a_second_of_zeros_is_told_of_once_in_a_run)
{
    stream s(sample_type::int8);
    const std::string text = "all samples have been sent as 0 for a second";
    BOOST_CHECK_EQUAL(s.send_for_a_second(zeros), text);
    BOOST_CHECK_EQUAL(s.send_for_a_second(zeros), "");
    s.check.start_run();
    BOOST_CHECK_EQUAL(s.send_for_a_second(zeros), text);
}

BOOST_AUTO_TEST_CASE(less_than_a_second_of_zeros_is_not_told_of)
{
    stream s(sample_type::int8);
    BOOST_CHECK_EQUAL(s.send(zeros), "");
    s.now += 999ms;
    BOOST_CHECK_EQUAL(s.send(zeros), "");
    s.check.start_run();
    s.now += 999ms;
    BOOST_CHECK_EQUAL(s.send(zeros), "");
}

BOOST_AUTO_TEST_CASE(one_sample_that_is_not_0_is_enough_wherever_it_is)
{
    for (const auto type : { sample_type::int8, sample_type::int16, sample_type::sc16 })
        for (const std::size_t at : { 0u, 511u, 512u, 999u }) {
            stream s(type);
            auto one = zeros;
            one[at] = -1;
            s.send(zeros);
            s.send(one);
            BOOST_CHECK_EQUAL(s.send_for_a_second(zeros), "");
            // the next second is another one
            BOOST_CHECK_NE(s.send_for_a_second(zeros), "");
        }
}

BOOST_AUTO_TEST_CASE(floats_that_become_0_are_told_of_with_the_scale)
{
    for (const auto type : { sample_type::float32, sample_type::complex64 }) {
        stream s(type, 127);
        BOOST_CHECK_EQUAL(s.send_for_a_second(weak),
                          "all samples have been sent as 0 for a second: with scale = "
                          "127, samples below 0.00393701 become 0");
        stream fine(type, 32767, 16);
        BOOST_CHECK_EQUAL(fine.send_for_a_second(weak), "");
    }
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_mostly_clipped_is_told_of_once_in_a_run)
{
    stream s(sample_type::float32, 127);
    std::vector<float> numbers(1000, 0.5f);
    std::fill_n(numbers.begin(), 500, 2.0f);
    BOOST_CHECK_EQUAL(s.send_for_a_second(numbers), "");
    numbers.back() = -2.0f;
    BOOST_CHECK_EQUAL(s.send_for_a_second(numbers),
                      "50 % of the samples of a second were clipped: with scale = 127, "
                      "samples above 1.00394 are clipped");
    BOOST_CHECK_EQUAL(s.send_for_a_second(numbers), "");
    BOOST_CHECK_EQUAL(s.counters.samples_clipped.get(), 1000u + 2 * 1002u);
}

BOOST_AUTO_TEST_CASE(no_samples_are_no_zeros)
{
    stream s(sample_type::int8);
    BOOST_CHECK_EQUAL(s.send_for_a_second(std::vector<std::int8_t>()), "");
}

BOOST_AUTO_TEST_SUITE_END()
