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

// More missing ranges than the window remembers.
BOOST_AUTO_TEST_CASE(holes_inside_samples_find_room)
{
    receive_stream stream(complex_samples_of_4_bytes());
    packet one;
    one.heap_length = 12000;
    one.bytes = 1;
    for (; one.offset < one.heap_length; one.offset += 2)
        stream.take(written(one));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_missing.get() == 12000 / 4 - 1);
}

BOOST_AUTO_TEST_CASE(a_heap_from_long_before_holes_finds_room)
{
    receive_stream::options options;
    options.start_delay = std::chrono::milliseconds(10);
    receive_stream stream(options);
    packet one;
    one.heap_length = 8193;
    one.bytes = 1;
    for (; one.offset < one.heap_length; one.offset += 2)
        stream.take(written(one));
    packet earlier;
    earlier.counter = 0;
    earlier.timestamp -= options.window_bytes;
    stream.take(written(earlier));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 4097);
}

// It has no room in front of the first samples, which stay the first ones.
BOOST_AUTO_TEST_CASE(a_heap_from_long_before_does_not_move_the_begin_of_a_stream)
{
    receive_stream::options options;
    options.start_delay = std::chrono::milliseconds(10);
    receive_stream stream(options);
    stream.take(written({}));
    packet earlier;
    earlier.counter = 0;
    earlier.timestamp -= options.window_bytes;
    stream.take(written(earlier));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
    BOOST_TEST(stream.counters[0].samples_late.get() == 64);
}

// Of heaps whose samples never come: more changes than the window remembers.
BOOST_AUTO_TEST_CASE(values_of_skipped_heaps_find_room)
{
    auto format = std::make_shared<stream_format>();
    format->immediates = { { 0x3101, "selector", { 0, 1 } }, { 0x3102, "value" } };
    receive_stream::options options;
    options.outputs = 2;
    options.format = format;
    options.on_missing = missing_policy::skip;
    receive_stream stream(options);
    packet first, second;
    second.counter = 2;
    second.bytes = 0;
    const auto select = [](std::uint64_t output, std::uint64_t value) {
        return std::vector<std::uint64_t>{ flavour.immediate(0x3101, output),
                                           flavour.immediate(0x3102, value) };
    };
    for (std::uint64_t i = 0; i < 10000; ++i) {
        first.items = select(0, 0);
        second.items = select(1, i);
        stream.take(written(first));
        stream.take(written(second));
        first.counter = second.counter += 2;
        ++first.counter;
        first.timestamp = second.timestamp += 64;
    }
    second.bytes = 64;
    stream.take(written(second));
    stream.end();
    BOOST_TEST(stream.counters[1].samples_missing.get() == 640000);
    // one tag, of the value at the only heap that came
    const auto values = stream.tags_of(sample_tag::kind::item, 1);
    BOOST_REQUIRE(!values.empty());
    BOOST_TEST(values.back().first == 0);
    BOOST_TEST(values.back().second == 9999);
    BOOST_TEST(values.size() == 2); // with the selector
}

// No more than max_gap is filled, also inside a heap.
BOOST_AUTO_TEST_CASE(a_packet_far_ahead_in_its_heap_is_ignored)
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
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
    BOOST_TEST(stream.common.packets_ignored.get() == 1);
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

// Item pointers of the same ID, to one another's content.
BOOST_AUTO_TEST_CASE(the_time_for_a_packet_grows_as_its_size)
{
    receive_stream stream;
    stream.take(written({}));
    const auto cost = [&](std::size_t items) {
        packet one;
        one.counter = 2;
        one.items.assign(items, flavour.addressed(0x1600, 7));
        const auto bytes = written(one);
        auto least = receive_stream::clock::duration::max();
        for (int i = 0; i < 20; ++i) {
            const auto start = receive_stream::clock::now();
            stream.take(bytes);
            least = std::min(least, receive_stream::clock::now() - start);
        }
        return least;
    };
    BOOST_TEST((cost(8000) < 30 * cost(800)));
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
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 64);
}

// An item that only the new descriptors name, in a heap that began before them.
BOOST_AUTO_TEST_CASE(descriptors_that_name_more_items_end_open_heaps)
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
    BOOST_TEST(stream.counters[0].samples_received.get() == 128);
    for (const auto& tag : stream.tags)
        if (tag.what == sample_tag::kind::item)
            BOOST_TEST(tag.item < tag.format->immediates.size());
}

BOOST_AUTO_TEST_SUITE_END()
