/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receive/sample_reader.h"

#include <boost/test/unit_test.hpp>

#include <chrono>

using namespace gr::spead;

namespace {

struct skipping_reader {
    sample_window::clock::time_point now{ std::chrono::seconds(1000) };
    std::vector<source_counter_set> counters{ 2 };
    sample_window window{ { 2, 1 << 18, 32 } };
    sample_reader reader{ { sample_type::int8, 0, missing_policy::skip },
                          window,
                          counters };
    std::vector<sample_tag> tags;

    // Of one output. The samples of the other one do not come.
    void stream_of(const stream_format& format, std::size_t samples)
    {
        const auto begin =
            *window.begin_stream(now, 1, 1, std::make_shared<stream_format>(format));
        BOOST_REQUIRE(window.set_item(1, 0, { begin, begin + 100 }, 42));
        const std::vector<std::byte> bytes(samples);
        window.place(0, begin, bytes.data(), bytes.size());
        BOOST_REQUIRE(window.decide_all());
    }

    void read(std::size_t most)
    {
        std::vector<std::vector<std::byte>> room(2, std::vector<std::byte>(most));
        std::vector<std::size_t> n(2);
        while (reader.is_ready())
            reader.read({ room[0].data(), room[1].data() }, most, n, tags);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(sample_reader_test)

// Its index would mean another item in the format of the next stream, or none.
BOOST_AUTO_TEST_CASE(a_value_of_skipped_samples_ends_with_its_stream)
{
    skipping_reader skipping;
    stream_format with_item;
    with_item.immediates.push_back({ 0x3102, "value" });
    skipping.stream_of(with_item, 100);
    const auto begin = *skipping.window.begin_stream(
        skipping.now, 1, 1, std::make_shared<stream_format>());
    const std::vector<std::byte> bytes(100);
    skipping.window.place(0, begin, bytes.data(), bytes.size());
    skipping.window.place(1, begin, bytes.data(), bytes.size());
    BOOST_REQUIRE(skipping.window.decide_all());
    skipping.read(1000);
    for (const auto& tag : skipping.tags)
        BOOST_TEST((tag.what != sample_tag::kind::item));
}

// A long gap takes as little time as a short one.
BOOST_AUTO_TEST_CASE(gaps_of_all_outputs_are_skipped_at_once)
{
    skipping_reader skipping;
    const auto begin = *skipping.window.begin_stream(
        skipping.now, 1, 1, std::make_shared<stream_format>());
    const std::vector<std::byte> bytes(100);
    skipping.window.place(0, begin, bytes.data(), bytes.size());
    constexpr std::int64_t gap = std::int64_t{ 1 } << 40;
    while (skipping.window.place(0, begin + gap, bytes.data(), bytes.size()).is_full)
        skipping.read(1000);
    BOOST_REQUIRE(skipping.window.decide_all());
    skipping.read(1000);
    BOOST_TEST(skipping.counters[0].samples_received.get() == 200);
    BOOST_TEST(skipping.counters[0].samples_missing.get() == gap - 100);
    BOOST_TEST(skipping.counters[1].samples_missing.get() == gap + 100);
}

BOOST_AUTO_TEST_SUITE_END()
