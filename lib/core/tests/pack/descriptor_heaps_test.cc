/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// When descriptors are sent, and to which destinations.

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t last_counter = (std::uint64_t{ 1 } << 40) - 1;

packing with_separate_descriptors(std::uint64_t heap_samples = 1000)
{
    packing p;
    p.heap_samples = heap_samples;
    p.descriptors = false;
    p.separate_descriptors = true;
    return p;
}

std::vector<std::size_t> descriptor_positions(const packed_stream& stream)
{
    std::vector<std::size_t> found;
    const auto heaps = reassemble(stream.datagrams);
    for (std::size_t i = 0; i < heaps.size(); ++i)
        if (heaps[i].is_descriptors())
            found.push_back(i);
    return found;
}

// Writes one heap per quarter of a second.
void write_heaps(packed_stream& stream, const packing& p, int n)
{
    for (int i = 0; i < n; ++i) {
        stream.write_all(noise(p.heap_samples));
        stream.now += std::chrono::milliseconds(250);
    }
}

using positions = std::vector<std::size_t>;

} // namespace

BOOST_AUTO_TEST_SUITE(descriptor_heaps)

BOOST_AUTO_TEST_CASE(separate_descriptors_precede_each_run)
{
    packed_stream stream(with_separate_descriptors());
    for (int i = 0; i < 2; ++i) {
        stream.packer.start_run();
        stream.write_all(noise(2500));
        stream.end();
    }
    // each run has descriptors, three heaps and the end of the stream
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 5 }));
    const auto heaps = reassemble(stream.datagrams);
    BOOST_REQUIRE_EQUAL(heaps.size(), 10u);
    BOOST_CHECK_EQUAL(heaps[0].counter, last_counter);
    BOOST_CHECK_EQUAL(heaps[5].counter, last_counter - 1);
    // heaps of samples are numbered independently of descriptors
    const std::uint64_t counters[] = { 1, 2, 3, 4 };
    for (std::size_t i = 0; i < 4; ++i) {
        BOOST_CHECK_EQUAL(heaps[1 + i].counter, counters[i]);
        BOOST_CHECK_EQUAL(heaps[6 + i].counter, 4 + counters[i]);
    }
    BOOST_CHECK_EQUAL(stream.heaps_completed, 6u);
    BOOST_CHECK_EQUAL(stream.samples_completed, 5000u);
}

BOOST_AUTO_TEST_CASE(separate_descriptors_repeat_after_each_interval)
{
    auto p = with_separate_descriptors();
    p.descriptor_interval = 1;
    packed_stream stream(p);
    write_heaps(stream, p, 12);
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 5, 10 }));
    const auto heaps = reassemble(stream.datagrams);
    BOOST_CHECK_EQUAL(heaps[5].counter, last_counter - 1);
    BOOST_CHECK_EQUAL(heaps[10].counter, last_counter - 2);
}

BOOST_AUTO_TEST_CASE(idle_stream_sends_missed_descriptors_once)
{
    auto p = with_separate_descriptors();
    p.descriptor_interval = 1;
    packed_stream stream(p);
    write_heaps(stream, p, 2);
    stream.now += 1h;
    write_heaps(stream, p, 6);
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 3, 8 }));
}

BOOST_AUTO_TEST_CASE(late_writes_do_not_shift_the_interval)
{
    auto p = with_separate_descriptors();
    p.descriptor_interval = 1;
    packed_stream stream(p);
    stream.write_all(noise(1000)); // sends descriptors at 0 s
    stream.now += 1900ms;
    stream.write_all(noise(1000)); // again, at 1.9 s
    stream.now += 200ms;
    stream.write_all(noise(1000)); // and at 2.1 s
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 2, 4 }));
}

BOOST_AUTO_TEST_CASE(unfinished_heap_is_completed_before_descriptors_are_sent)
{
    for (const std::uint64_t size : { 1000u, 200000u }) {
        auto p = with_separate_descriptors(size);
        p.descriptor_interval = 1;
        p.slots = 64;
        packed_stream stream(p);
        stream.write_all(noise(size / 2));
        stream.now += 2s;
        stream.write_all(noise(size));
        stream.end();
        BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 2 }));
    }
}

BOOST_AUTO_TEST_CASE(each_destination_gets_its_own_descriptors)
{
    auto p = with_separate_descriptors();
    p.destinations = 3;
    p.max_packet = 128; // several packets
    p.descriptor_interval = 1;
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
    std::vector<std::pair<std::uint64_t, int>> found; // heaps and their destinations
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
    // descriptors do not disturb the rotation of heaps of samples
    for (std::size_t i = 0; i < stream.datagrams.size(); ++i) {
        const auto packet = decode(stream.datagrams[i]);
        if (packet.find(0x1600)) {
            BOOST_CHECK_EQUAL(stream.destinations[i], packet.get(1) + 4);
        }
    }
}

BOOST_AUTO_TEST_CASE(descriptor_counters_wrap_below_zero)
{
    auto p = with_separate_descriptors(8);
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

BOOST_AUTO_TEST_CASE(descriptors_wait_for_room_in_the_ring)
{
    for (std::size_t limit = 1; limit < 12; ++limit) {
        auto p = with_separate_descriptors();
        p.max_packet = 128;
        p.slots = 16 * 8; // enough to buffer whole heaps
        auto config = p.config();
        config.destinations = 3;
        packed_stream stream(config, p.slots);
        const auto in = noise(3000);
        stream.ring.set_limit(limit);
        BOOST_CHECK_EQUAL(stream.packer.write(raw(in.data()), 1), 0u);
        BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), 0u);
        stream.send();
        for (int i = 0; i < 20; ++i) {
            stream.packer.write(raw(in.data()), 0);
            stream.send();
        }
        stream.ring.set_limit(p.slots);
        stream.write_all(in);
        stream.end();
        BOOST_CHECK(descriptor_positions(stream) == (positions{ 0, 1, 2 }));
        BOOST_CHECK_EQUAL(stream.samples_completed, 3000u);
    }
}

BOOST_AUTO_TEST_CASE(no_heap_overtakes_its_descriptors_when_the_ring_drops)
{
    auto p = with_separate_descriptors(8);
    p.when_full = full_policy::drop;
    p.slots = p.config().min_ring_slots();
    const auto config = p.config();
    const auto packet = config.descriptors->packet_bytes();
    for (std::size_t limit = 1; limit < p.slots; ++limit) {
        packed_stream stream(p);
        stream.ring.set_limit(limit); // smaller limits fit a heap but not descriptors
        stream.write_all(noise(8));
        stream.send();
        const auto sent = reassemble(stream.datagrams);
        BOOST_CHECK_EQUAL(sent.empty(), limit < stream.ring.slots_for(packet));
        BOOST_CHECK(sent.empty() || sent[0].is_descriptors());
    }
}

BOOST_AUTO_TEST_SUITE_END()
