/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Datagrams come from anybody: none of them may stop a stream or make it slow.

#include "helpers/receive_stream.h"
#include "protocol/descriptor.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>

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

std::vector<packet_bytes> descriptors(const heap_cutter& cutter,
                                      const std::vector<item>& items = default_items())
{
    packet_bytes content;
    std::vector<std::uint64_t> pointers;
    for (const auto& each : items) {
        const auto packet = descriptor_packet(each, flavour);
        pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
        content.insert(content.end(), packet.begin(), packet.end());
    }
    return cutter.cut(1, pointers, content);
}

} // namespace

BOOST_AUTO_TEST_SUITE(hostile_packets)

BOOST_AUTO_TEST_CASE(partial_samples_are_ignored)
{
    receive_stream stream(complex_samples_of_4_bytes());
    packet one;
    one.heap_length = 12000;
    one.bytes = 1;
    for (; one.offset < one.heap_length; one.offset += 2)
        stream.receive(written(one));
    stream.end();
    BOOST_TEST(stream.out[0].size() == 0u);
}

// No more than max_gap is filled, also inside a heap.
BOOST_AUTO_TEST_CASE(gap_longer_than_max_gap_within_a_heap_is_skipped)
{
    receive_stream::options options;
    options.max_gap = 1 << 20;
    receive_stream stream(options);
    packet one;
    one.heap_length = std::uint64_t{ 1 } << 30;
    stream.receive(written(one));
    one.offset = std::uint64_t{ 1 } << 29;
    stream.receive(written(one));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 128);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
    BOOST_TEST(stream.counters[0].samples_skipped.get() == (1 << 29) - 64);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
    const auto missing = stream.tags_of(sample_tag::kind::missing);
    BOOST_REQUIRE(missing.size() == 1);
    BOOST_TEST(missing[0].first == 64u);
    BOOST_TEST(missing[0].second == (1u << 29) - 64);
}

BOOST_AUTO_TEST_CASE(packet_with_too_many_items_is_rejected)
{
    receive_stream stream;
    packet one;
    one.items.assign(max_packet_items, flavour.addressed(0x1600, 7));
    stream.receive(written(one));
    BOOST_TEST(stream.rejects.by_name().at("items") == 1u);
}

BOOST_AUTO_TEST_CASE(contradicting_heap_length_is_rejected)
{
    receive_stream stream;
    packet one;
    one.heap_length = 128;
    stream.receive(written(one));
    one.offset = 64;
    one.heap_length = 256;
    stream.receive(written(one));
    BOOST_TEST(stream.rejects.by_name().at("contradiction") == 1u);
}

BOOST_AUTO_TEST_CASE(descriptor_fragments_do_not_displace_complete_ones)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    heap_cutter cutter;
    cutter.payload = 1;
    const auto pieces = descriptors(cutter);
    for (std::size_t i = 0; i < pieces.size(); i += 2)
        stream.receive(pieces[i]);
    cutter.payload = 4000;
    stream.receive(descriptors(cutter));
    packet samples;
    samples.counter = 2;
    stream.receive(written(samples));
    stream.pass_time(std::chrono::milliseconds(200));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 64);
}

BOOST_AUTO_TEST_CASE(descriptors_are_found_in_any_pointer_order)
{
    constexpr std::size_t heap_samples = 500000;
    packet_bytes content;
    std::vector<std::uint64_t> pointers;
    for (const auto& each : default_items()) {
        pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
        const auto packet = descriptor_packet(each, flavour);
        content.insert(content.end(), packet.begin(), packet.end());
    }
    pointers.push_back(flavour.addressed(0x3300, content.size()));
    pointers.push_back(flavour.immediate(0x1600, 0));
    content.resize(content.size() + heap_samples);
    std::sort(pointers.begin(), pointers.end());
    do {
        receive_stream::options options;
        options.format = nullptr;
        receive_stream stream(options);
        heap_cutter cutter;
        cutter.payload = 4000;
        stream.receive(cutter.cut(1, pointers, content));
        stream.end();
        BOOST_TEST(stream.counters[0].samples_received.get() == heap_samples);
    } while (std::next_permutation(pointers.begin(), pointers.end()));
}

BOOST_AUTO_TEST_SUITE_END()
