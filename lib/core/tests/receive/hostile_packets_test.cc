/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Datagrams come from anybody: none of them may stop a stream or make it slow.

#include "helpers/receive_stream.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

constexpr wire::flavour flavour{ 48 };

struct packet {
    std::uint64_t counter = 1;
    std::uint64_t heap_length = 64;
    std::uint64_t offset = 0;
    std::size_t bytes = 64;
    std::uint64_t timestamp = 1 << 20;
    std::vector<std::uint64_t> items = {};
};

packet_bytes written(const packet& is)
{
    std::vector<std::uint64_t> pointers{
        flavour.immediate(wire::heap_counter, is.counter),
        flavour.immediate(wire::heap_length, is.heap_length),
        flavour.immediate(wire::payload_offset, is.offset),
        flavour.immediate(wire::payload_length, is.bytes),
        flavour.immediate(0x1600, is.timestamp),
        flavour.addressed(0x3300, 0)
    };
    pointers.insert(pointers.end(), is.items.begin(), is.items.end());
    return packet_of(pointers, packet_bytes(is.bytes, std::byte{ 1 }), flavour);
}

receive_stream::options complex_samples_of_4_bytes()
{
    receive_stream::options options;
    options.type = sample_type::sc16;
    auto format = std::make_shared<stream_format>();
    format->bits = 16;
    options.format = format;
    return options;
}

} // namespace

BOOST_AUTO_TEST_SUITE(hostile_packets)

BOOST_AUTO_TEST_CASE(a_jump_to_a_part_of_a_sample_finds_room)
{
    receive_stream stream(complex_samples_of_4_bytes());
    stream.take(written({}));
    packet far;
    far.counter = 2;
    far.timestamp += 1 << 20;
    far.heap_length = far.bytes = 63;
    stream.take(written(far));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 16 + 15);
}

BOOST_AUTO_TEST_SUITE_END()
