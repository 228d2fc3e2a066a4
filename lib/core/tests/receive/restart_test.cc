/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A sender that starts again, with the same heap counters and timestamps.

#include "helpers/receive_stream.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

constexpr std::size_t heap_samples = 100;

std::vector<packet_bytes> heaps(std::size_t n, std::byte value)
{
    const heap_cutter cutter;
    const auto& flavour = cutter.flavour;
    std::vector<packet_bytes> all;
    for (std::size_t i = 0; i < n; ++i)
        for (auto& packet : cutter.cut(1 + i,
                                       { flavour.immediate(0x1600, i * heap_samples),
                                         flavour.addressed(0x3300, 0) },
                                       packet_bytes(heap_samples, value)))
            all.push_back(std::move(packet));
    return all;
}

using tag_list = std::vector<std::pair<std::size_t, std::uint64_t>>;

} // namespace

BOOST_AUTO_TEST_SUITE(restart_test)

BOOST_AUTO_TEST_CASE(the_stream_begins_anew_after_a_second_of_silence)
{
    receive_stream receiving;
    receiving.take(heaps(10, std::byte{ 1 }));
    receiving.pass(std::chrono::milliseconds(1100));
    receiving.take(heaps(10, std::byte{ 2 }));
    receiving.end();
    packet_bytes expected(10 * heap_samples, std::byte{ 1 });
    expected.resize(20 * heap_samples, std::byte{ 2 });
    BOOST_TEST((receiving.out[0] == expected));
    BOOST_TEST((receiving.tags_of(sample_tag::kind::timestamp) ==
                tag_list{ { 0, 0 }, { 10 * heap_samples, 0 } }));
    BOOST_TEST(receiving.common.discontinuities.get() == 1);
    BOOST_TEST(receiving.counters[0].samples_missing.get() == 0);
}

BOOST_AUTO_TEST_CASE(packets_that_come_sooner_are_repeated_ones)
{
    receive_stream receiving;
    receiving.take(heaps(10, std::byte{ 1 }));
    receiving.pass(std::chrono::milliseconds(900));
    receiving.take(heaps(10, std::byte{ 2 }));
    receiving.end();
    BOOST_TEST((receiving.out[0] == packet_bytes(10 * heap_samples, std::byte{ 1 })));
    BOOST_TEST(receiving.common.discontinuities.get() == 0);
    BOOST_TEST(receiving.counters[0].samples_duplicate.get() == 10 * heap_samples);
}

BOOST_AUTO_TEST_CASE(many_repeated_packets_and_nothing_else_are_a_new_stream)
{
    receive_stream receiving;
    receiving.take(heaps(100, std::byte{ 1 }));
    receiving.pass(std::chrono::milliseconds(200));
    receiving.take(heaps(100, std::byte{ 2 }));
    receiving.end();
    BOOST_TEST(receiving.common.discontinuities.get() == 1);
    // 64 packets were not believed, and a heap has two
    const auto lost = 32 * heap_samples;
    BOOST_TEST(receiving.counters[0].samples_duplicate.get() == lost);
    BOOST_TEST(receiving.out[0].size() == 200 * heap_samples - lost);
}

BOOST_AUTO_TEST_SUITE_END()
