/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Anybody can send datagrams: none may stop a stream or slow it down.

#include "helpers/receive_stream.h"
#include "protocol/descriptor.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace gr::spead;

namespace {

constexpr wire::flavour flavour{ 48 };

struct packet_fields {
    std::uint64_t counter = 1;
    std::uint64_t heap_length = 64;
    std::uint64_t offset = 0;
    std::size_t bytes = 64;
    std::uint64_t timestamp = 1 << 20;
    std::vector<std::uint64_t> items = {};
};

packet_bytes encode(const packet_fields& fields)
{
    std::vector<std::uint64_t> pointers{
        flavour.immediate(wire::heap_counter, fields.counter),
        flavour.immediate(wire::heap_length, fields.heap_length),
        flavour.immediate(wire::payload_offset, fields.offset),
        flavour.immediate(wire::payload_length, fields.bytes),
        flavour.immediate(0x1600, fields.timestamp),
        flavour.addressed(0x3300, 0)
    };
    pointers.insert(pointers.end(), fields.items.begin(), fields.items.end());
    return packet_of(pointers, packet_bytes(fields.bytes, std::byte{ 1 }), flavour);
}

receive_stream::options sc16_options()
{
    receive_stream::options options;
    options.type = sample_type::sc16;
    auto format = std::make_shared<stream_format>();
    format->samples_format = { 'i', 16 };
    options.format = format;
    return options;
}

std::vector<packet_bytes> descriptors(const heap_cutter& cutter,
                                      const std::vector<item>& items = default_items())
{
    packet_bytes content;
    std::vector<std::uint64_t> pointers;
    for (const auto& item : items) {
        const auto packet = descriptor_packet(item, flavour);
        pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
        content.insert(content.end(), packet.begin(), packet.end());
    }
    return cutter.cut(1, pointers, content);
}

} // namespace

BOOST_AUTO_TEST_SUITE(hostile_packets)

BOOST_AUTO_TEST_CASE(partial_samples_are_ignored)
{
    receive_stream stream(sc16_options());
    packet_fields packet;
    packet.heap_length = 12000;
    packet.bytes = 1;
    for (; packet.offset < packet.heap_length; packet.offset += 2)
        stream.receive(encode(packet));
    stream.end();
    BOOST_TEST(stream.out[0].size() == 0u);
}

// max_gap also applies within a heap.
BOOST_AUTO_TEST_CASE(gap_longer_than_max_gap_within_a_heap_is_skipped)
{
    receive_stream::options options;
    options.max_gap = 1 << 20;
    receive_stream stream(options);
    packet_fields packet;
    packet.heap_length = std::uint64_t{ 1 } << 30;
    stream.receive(encode(packet));
    packet.offset = std::uint64_t{ 1 } << 29;
    stream.receive(encode(packet));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 128);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
    BOOST_TEST(stream.counters[0].samples_skipped.get() == (1 << 29) - 64);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
    const auto skipped = stream.tags_of(sample_tag::kind::skipped);
    BOOST_REQUIRE(skipped.size() == 1);
    BOOST_TEST(skipped[0].first == 64u);
    BOOST_TEST(skipped[0].second == (1u << 29) - 64);
}

BOOST_AUTO_TEST_CASE(packet_with_too_many_items_is_rejected)
{
    receive_stream stream;
    packet_fields packet;
    packet.items.assign(max_packet_items, flavour.addressed(0x1600, 7));
    stream.receive(encode(packet));
    BOOST_TEST(stream.common.rejects.by_name().at("items") == 1u);
}

BOOST_AUTO_TEST_CASE(contradictory_heap_length_is_rejected)
{
    receive_stream stream;
    packet_fields packet;
    packet.heap_length = 128;
    stream.receive(encode(packet));
    packet.offset = 64;
    packet.heap_length = 256;
    stream.receive(encode(packet));
    BOOST_TEST(stream.common.rejects.by_name().at("contradiction") == 1u);
}

BOOST_AUTO_TEST_CASE(descriptor_fragments_do_not_displace_complete_ones)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    heap_cutter cutter;
    cutter.payload = 1;
    const auto fragments = descriptors(cutter);
    for (std::size_t i = 0; i < fragments.size(); i += 2)
        stream.receive(fragments[i]);
    cutter.payload = 4000;
    stream.receive(descriptors(cutter));
    packet_fields samples;
    samples.counter = 2;
    stream.receive(encode(samples));
    stream.pass_time(std::chrono::milliseconds(200));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 64);
}

BOOST_AUTO_TEST_CASE(descriptors_are_found_in_any_pointer_order)
{
    constexpr std::size_t heap_samples = 500000;
    packet_bytes content;
    std::vector<std::uint64_t> pointers;
    for (const auto& item : default_items()) {
        pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
        const auto packet = descriptor_packet(item, flavour);
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
