/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// When descriptors come in heaps of their own, and where they go.

#include "helpers/descriptor_stream.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(separate_descriptors)

BOOST_AUTO_TEST_CASE(they_come_before_the_first_samples_of_each_stream)
{
    packed_stream stream(separate());
    for (int i = 0; i < 2; ++i) {
        stream.packer.start_run();
        stream.write_all(noise(2500));
        stream.end();
    }
    // of two streams: descriptors, three heaps, the end
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 5 }));
    const auto heaps = reassemble(stream.datagrams);
    BOOST_REQUIRE_EQUAL(heaps.size(), 10u);
    BOOST_CHECK_EQUAL(heaps[0].counter, last_counter);
    BOOST_CHECK_EQUAL(heaps[5].counter, last_counter - 1);
    // samples do without their counters
    const std::uint64_t counters[] = { 1, 2, 3, 4 };
    for (std::size_t i = 0; i < 4; ++i) {
        BOOST_CHECK_EQUAL(heaps[1 + i].counter, counters[i]);
        BOOST_CHECK_EQUAL(heaps[6 + i].counter, 4 + counters[i]);
    }
    BOOST_CHECK_EQUAL(stream.heaps_ended, 6u);
    BOOST_CHECK_EQUAL(stream.ended, 5000u);
}

BOOST_AUTO_TEST_CASE(they_describe_all_items)
{
    auto p = separate();
    p.items = { timestamp(), immediate(0x3101, "id", { 7 }, "d"), samples() };
    p.address_bits = 48;
    packed_stream stream(p);
    stream.write_all(noise(1000));
    stream.end();
    const auto first = reassemble(stream.datagrams).front();
    BOOST_CHECK_EQUAL(first.counter, (std::uint64_t{ 1 } << 48) - 1);
    const auto descriptors = first.descriptors();
    BOOST_REQUIRE_EQUAL(descriptors.size(), 3u);
    const std::uint64_t ids[] = { 0x1600, 0x3101, 0x3300 };
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_CHECK_EQUAL(descriptors[i].get(0x14), ids[i]);
}

BOOST_AUTO_TEST_CASE(without_samples_there_are_none)
{
    packed_stream stream(separate());
    stream.end();
    BOOST_CHECK(descriptor_positions(stream).empty());
}

BOOST_AUTO_TEST_CASE(they_come_again_after_each_interval)
{
    auto p = separate();
    p.interval = 1;
    packed_stream stream(p);
    write_heaps(stream, p, 12);
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 5, 10 }));
    const auto heaps = reassemble(stream.datagrams);
    BOOST_CHECK_EQUAL(heaps[5].counter, last_counter - 1);
    BOOST_CHECK_EQUAL(heaps[10].counter, last_counter - 2);
}

BOOST_AUTO_TEST_CASE(a_slow_stream_has_them_once_and_not_for_all_that_was_missed)
{
    auto p = separate();
    p.interval = 1;
    packed_stream stream(p);
    write_heaps(stream, p, 2);
    stream.now += 1h;
    write_heaps(stream, p, 6);
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 3, 8 }));
}

BOOST_AUTO_TEST_CASE(the_interval_goes_on_however_late_a_write_is)
{
    auto p = separate();
    p.interval = 1;
    packed_stream stream(p);
    stream.write_all(noise(1000)); // descriptors
    stream.now += 1900ms;
    stream.write_all(noise(1000)); // again
    stream.now += 200ms;
    stream.write_all(noise(1000)); // and again: 2.1 s
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 2, 4 }));
}

BOOST_AUTO_TEST_CASE(after_descriptors_in_the_first_heap_only_the_repetitions_come)
{
    auto p = separate();
    p.descriptors = true;
    p.interval = 1;
    packed_stream stream(p);
    write_heaps(stream, p, 6);
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == positions{ 4 });
    BOOST_CHECK_EQUAL(reassemble(stream.datagrams)[0].descriptors().size(), 2u);
}

BOOST_AUTO_TEST_CASE(a_heap_that_has_begun_is_completed_first)
{
    for (const std::uint64_t size : { 1000u, 200000u }) {
        auto p = separate(size);
        p.interval = 1;
        p.slots = 64;
        packed_stream stream(p);
        stream.write_all(noise(size / 2));
        stream.now += 2s;
        stream.write_all(noise(size));
        stream.end();
        BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 2 }));
    }
}

BOOST_AUTO_TEST_CASE(each_destination_gets_them_with_a_counter_of_its_own)
{
    auto p = separate();
    p.destinations = 3;
    p.max_packet = 128; // several packets
    p.interval = 1;
    auto config = p.config();
    config.first_destination = 5;
    config.descriptor_id_start = 100;
    config.descriptor_id_step = 2;
    packed_stream stream(config, 0);
    stream.write_all(noise(1000));
    stream.now += 1s;
    stream.write_all(noise(1000));
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 1, 2, 4, 5, 6 }));
    std::vector<std::pair<std::uint64_t, int>> found; // heaps and where they go
    std::size_t packets = 0;
    for (std::size_t i = 0; i < stream.datagrams.size(); ++i) {
        const auto packet = decode(stream.datagrams[i]);
        if (packet.find(0x1600) || packet.find(6))
            continue;
        ++packets;
        const auto heap = std::pair(packet.get(1), int{ stream.destinations[i] });
        if (found.empty() || found.back() != heap)
            found.push_back(heap);
    }
    BOOST_CHECK_EQUAL(packets, 6 * config.descriptors->packets());
    BOOST_CHECK_GT(packets, 6u);
    const decltype(found) expected{ { 100, 5 }, { 98, 6 }, { 96, 7 },
                                    { 94, 5 },  { 92, 6 }, { 90, 7 } };
    BOOST_CHECK(found == expected);
    // samples have their turns as if there were none
    for (std::size_t i = 0; i < stream.datagrams.size(); ++i) {
        const auto packet = decode(stream.datagrams[i]);
        if (packet.find(0x1600)) {
            BOOST_CHECK_EQUAL(stream.destinations[i], packet.get(1) + 4);
        }
    }
}

BOOST_AUTO_TEST_CASE(their_counters_wrap_below_zero)
{
    auto p = separate(8);
    auto config = p.config();
    config.destinations = 2;
    config.descriptor_id_start = 0;
    packed_stream stream(config, 0);
    stream.write_all(noise(8));
    stream.end();
    const auto heaps = reassemble(stream.datagrams);
    BOOST_CHECK_EQUAL(heaps[0].counter, 0u);
    BOOST_CHECK_EQUAL(heaps[1].counter, last_counter);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(descriptors_with_samples)

BOOST_AUTO_TEST_CASE(the_first_heap_to_each_destination_has_them)
{
    packing p;
    p.heap_samples = 1000;
    p.destinations = 3;
    packed_stream stream(p);
    for (int i = 0; i < 2; ++i) {
        stream.packer.start_run();
        stream.write_all(noise(5000));
        stream.end();
    }
    std::vector<std::size_t> described;
    for (const auto& heap : reassemble(stream.datagrams))
        if (heap.content(0x3300))
            described.push_back(heap.descriptors().size());
    BOOST_CHECK((described == std::vector<std::size_t>{ 2, 2, 2, 0, 0, 2, 2, 2, 0, 0 }));
}

BOOST_AUTO_TEST_SUITE_END()
