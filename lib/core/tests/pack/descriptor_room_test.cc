/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Heaps of descriptors in a ring that has little room for them.

#include "helpers/descriptor_stream.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(descriptors_without_room)

BOOST_AUTO_TEST_CASE(they_wait_for_room_and_are_complete)
{
    for (std::size_t limit = 1; limit < 12; ++limit) {
        auto p = separate();
        p.max_packet = 128;
        p.slots = 16 * 8; // where heaps are held
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
        BOOST_CHECK_EQUAL(stream.ended, 3000u);
    }
}

BOOST_AUTO_TEST_CASE(with_drop_descriptors_without_room_cost_heaps_and_no_time)
{
    auto p = separate();
    p.when_full = full_policy::drop;
    p.max_packet = 128;
    p.slots = p.config().min_ring_slots();
    packed_stream stream(p);
    const auto in = noise(2000);
    stream.ring.set_limit(2);
    BOOST_CHECK_EQUAL(stream.packer.write(raw(in.data()), in.size()), in.size());
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), 2u);
    stream.ring.set_limit(p.slots);
    stream.send();
    stream.write_all(in);
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == positions{ 0 });
    const auto heaps = reassemble(stream.datagrams);
    BOOST_CHECK_EQUAL(heaps[1].counter, 3u); // the first that a receiver can read
    BOOST_CHECK(stream.is_balanced());
}

BOOST_AUTO_TEST_CASE(with_drop_no_heap_overtakes_its_descriptors)
{
    auto p = separate(8);
    p.when_full = full_policy::drop;
    p.slots = p.config().min_ring_slots();
    const auto config = p.config();
    const auto packet = config.descriptors->packet_bytes();
    for (std::size_t limit = 1; limit < p.slots; ++limit) {
        packed_stream stream(p);
        stream.ring.set_limit(limit); // enough for a heap before it is for descriptors
        stream.write_all(noise(8));
        stream.send();
        const auto sent = reassemble(stream.datagrams);
        BOOST_CHECK_EQUAL(sent.empty(), limit < stream.ring.slots_for(packet));
        BOOST_CHECK(sent.empty() || sent[0].is_descriptors());
    }
}

BOOST_AUTO_TEST_CASE(a_stop_cuts_a_round_short_but_no_heap)
{
    for (std::size_t limit = 1; limit < 40; ++limit) {
        auto p = separate();
        p.max_packet = 128;
        auto config = p.config();
        config.destinations = 3;
        const auto each = config.descriptors->packets();
        packed_stream stream(config, 128);
        stream.ring.set_limit(limit);
        stream.packer.write(raw(noise(1).data()), 1);
        stream.end();
        const auto begun = std::min<std::uint64_t>((limit + each - 1) / each, 3);
        BOOST_CHECK_EQUAL(descriptor_positions(stream).size(), begun);
        BOOST_CHECK(stream.is_balanced());
        // and the next stream has all of them
        stream.datagrams.clear();
        stream.ring.set_limit(128);
        stream.packer.start_run();
        stream.write_all(noise(1));
        stream.end();
        BOOST_CHECK_EQUAL(descriptor_positions(stream).size(), 3u);
        BOOST_CHECK_EQUAL(reassemble(stream.datagrams)[0].counter, last_counter - begun);
    }
}

BOOST_AUTO_TEST_CASE(a_round_that_is_given_up_uses_no_counter_twice)
{
    auto p = separate();
    p.max_packet = 128;
    packed_stream stream(p);
    stream.ring.set_limit(1);
    stream.packer.write(raw(noise(1).data()), 1);
    BOOST_CHECK(!end_stream(stream.packer));
    stream.packer.drop_unpublished();
    stream.send();
    stream.ring.set_limit(100);
    stream.packer.start_run();
    stream.write_all(noise(1));
    stream.end();
    BOOST_CHECK(descriptor_positions(stream) == positions{ 0 });
    BOOST_CHECK_EQUAL(reassemble(stream.datagrams)[0].counter, last_counter - 1);
}

BOOST_AUTO_TEST_CASE(they_may_be_larger_than_a_slot)
{
    for (const std::size_t slots : { 0u, 31u, 32u, 33u, 34u }) {
        auto p = separate(8);
        p.interval = 1;
        p.slots = std::max(slots, p.config().min_ring_slots());
        BOOST_REQUIRE_GT(p.config().descriptors->packet_bytes(),
                         2 * p.config().regular.packet_bytes());
        packed_stream stream(p);
        write_heaps(stream, p, 100);
        stream.end();
        BOOST_CHECK_EQUAL(descriptor_positions(stream).size(), 25u);
        BOOST_CHECK_EQUAL(reassemble(stream.datagrams).size(), 126u);
        BOOST_CHECK_EQUAL(stream.ended, 800u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
