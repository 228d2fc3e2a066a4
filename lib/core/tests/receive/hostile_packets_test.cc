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

BOOST_AUTO_TEST_CASE(parts_of_samples_are_no_samples)
{
    receive_stream stream(complex_samples_of_4_bytes());
    packet one;
    one.heap_length = 12000;
    one.bytes = 1;
    for (; one.offset < one.heap_length; one.offset += 2)
        stream.take(written(one));
    stream.end();
    BOOST_TEST(stream.out[0].size() == 0u);
}

// An item whose value changes with each heap, behind a hole: more changes than the window
// remembers.
BOOST_AUTO_TEST_CASE(values_of_many_heaps_find_room)
{
    auto format = std::make_shared<stream_format>();
    format->immediates = { { 0x3102, "value" } };
    receive_stream::options options;
    options.format = format;
    receive_stream stream(options);
    packet one;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        one.items = { flavour.immediate(0x3102, i) };
        if (i != 10)
            stream.take(written(one));
        ++one.counter;
        one.timestamp += 64;
    }
    stream.end();
    const auto values = stream.tags_of(sample_tag::kind::item);
    BOOST_REQUIRE_EQUAL(values.size(), 999u);
    for (const auto& [at, value] : values)
        BOOST_TEST(at == 64 * value);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 64);
}

// No more than max_gap is filled, also inside a heap.
BOOST_AUTO_TEST_CASE(a_gap_in_a_heap_that_is_larger_than_max_gap_is_skipped)
{
    receive_stream::options options;
    options.max_gap = 1 << 20;
    receive_stream stream(options);
    packet one;
    one.heap_length = std::uint64_t{ 1 } << 30;
    stream.take(written(one));
    one.offset = std::uint64_t{ 1 } << 29;
    stream.take(written(one));
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

BOOST_AUTO_TEST_CASE(a_packet_in_the_window_is_taken_whatever_max_gap_is)
{
    receive_stream::options options;
    options.max_gap = 0;
    receive_stream stream(options);
    packet one;
    one.heap_length = 1 << 20;
    stream.take(written(one));
    one.offset = 1000;
    stream.take(written(one));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_missing.get() == 1000 - 64);
}

BOOST_AUTO_TEST_CASE(a_packet_of_many_items_is_rejected)
{
    receive_stream stream;
    packet one;
    one.items.assign(max_packet_items, flavour.addressed(0x1600, 7));
    stream.take(written(one));
    BOOST_TEST(stream.rejects.by_name().at("items") == 1u);
}

BOOST_AUTO_TEST_CASE(a_packet_of_another_heap_length_is_rejected)
{
    receive_stream stream;
    packet one;
    one.heap_length = 128;
    stream.take(written(one));
    one.offset = 64;
    one.heap_length = 256;
    stream.take(written(one));
    BOOST_TEST(stream.rejects.by_name().at("contradiction") == 1u);
}

BOOST_AUTO_TEST_CASE(descriptors_in_many_pieces_do_not_keep_whole_ones_out)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    heap_cutter cutter;
    cutter.payload = 1;
    const auto pieces = descriptors(cutter);
    for (std::size_t i = 0; i < pieces.size(); i += 2)
        stream.take(pieces[i]);
    cutter.payload = 4000;
    stream.take(descriptors(cutter));
    packet samples;
    samples.counter = 2;
    stream.take(written(samples));
    stream.pass(std::chrono::milliseconds(200));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 64);
}

BOOST_AUTO_TEST_CASE(descriptors_are_found_whatever_the_order_of_the_item_pointers)
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
        stream.take(cutter.cut(1, pointers, content));
        stream.end();
        BOOST_TEST(stream.counters[0].samples_received.get() == heap_samples);
    } while (std::next_permutation(pointers.begin(), pointers.end()));
}

// An item that only the new descriptors name, in a heap that began before them.
BOOST_AUTO_TEST_CASE(descriptors_that_name_more_items_leave_open_heaps_as_they_are)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    heap_cutter cutter;
    cutter.payload = 4000;
    stream.take(descriptors(cutter));
    packet whole, open;
    whole.counter = 2;
    open.counter = 3;
    open.timestamp += 64;
    open.heap_length = 128;
    stream.now += std::chrono::seconds(2);
    stream.take(written(whole));
    stream.take(written(open));
    auto items = default_items();
    items.push_back(immediate(0x3102, "status", { 1 }));
    stream.take(descriptors(cutter, items));
    stream.take(packet_of({ flavour.immediate(wire::heap_counter, 3),
                            flavour.immediate(wire::heap_length, 128),
                            flavour.immediate(wire::payload_offset, 64),
                            flavour.immediate(wire::payload_length, 64),
                            flavour.immediate(0x3102, 1) },
                          packet_bytes(64),
                          flavour));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 192);
    for (const auto& tag : stream.tags)
        if (tag.what == sample_tag::kind::item)
            BOOST_TEST(tag.item < stream.to.format()->immediates.size());
}

BOOST_AUTO_TEST_SUITE_END()
