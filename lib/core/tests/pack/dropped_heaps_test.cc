/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Heaps that are left for one of another timestamp.

#include "helpers/gap_stream.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(dropped_heaps)

BOOST_AUTO_TEST_CASE(between_heaps_only_the_timestamp_changes)
{
    packed_stream stream(heaps_of(1000));
    stream.packer.skip_to(77);
    stream.write_all(noise(1000));
    stream.packer.skip_to(55555);
    stream.packer.skip_to((std::uint64_t{ 1 } << 40) + 99999); // masked
    stream.write_all(noise(2000));
    stream.end();
    const auto heaps = data_heaps(stream);
    BOOST_REQUIRE_EQUAL(heaps.size(), 3u);
    const std::uint64_t times[] = { 77, 99999, 100999 };
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_CHECK_EQUAL(heaps[i].counter, i + 1);
        BOOST_CHECK_EQUAL(heaps[i].immediate(0x1600), times[i]);
    }
    BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(), 0u);
}

BOOST_AUTO_TEST_CASE(an_unfinished_heap_that_is_left_is_dropped_and_has_its_counter)
{
    for (const auto size : { std::uint64_t{ 1000 }, large })
        for (const std::uint64_t zeros : { 0u, 17u }) {
            auto p = heaps_of(size, small_ring);
            p.destinations = 2;
            packed_stream stream(p);
            stream.write_all(noise(size + size / 2));
            stream.write_all_zeros(zeros);
            stream.packer.skip_to(9000000);
            stream.write_all(noise(size));
            stream.end();
            const auto heaps = data_heaps(stream);
            BOOST_REQUIRE_EQUAL(heaps.size(), 2u);
            BOOST_CHECK_EQUAL(heaps[1].counter, 3u);
            BOOST_CHECK_EQUAL(heaps[1].immediate(0x1600), 9000000u);
            BOOST_CHECK_EQUAL(stream.destinations[stream.destinations.size() - 2], 0u);
            // one that is on its way is the sender's to count
            BOOST_CHECK_EQUAL(stream.abandoned, size == large ? size / 2 : 0);
            BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(),
                              size == large ? 0 : size / 2);
            BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), size == large ? 0 : 1);
            BOOST_CHECK_EQUAL(stream.ended, 2 * size);
            BOOST_CHECK_EQUAL(stream.heaps_ended, 2u);
            BOOST_CHECK(stream.is_balanced());
        }
}

BOOST_AUTO_TEST_CASE(a_heap_without_a_sample_gives_its_numbers_back)
{
    auto p = heaps_of(1000, 16);
    p.slots = 64;
    packed_stream stream(p);
    stream.ring.set_limit(8 * p.config().regular.packets());
    const auto in = noise(100000);
    // full at the end of a heap: the next one has begun, and has no room
    const auto taken = stream.packer.write(raw(in.data()), in.size());
    BOOST_REQUIRE_EQUAL(taken % 1000, 0u);
    stream.packer.skip_to(123);
    stream.send();
    stream.write_all(noise(1000));
    stream.end();
    const auto last = data_heaps(stream).back();
    BOOST_CHECK_EQUAL(last.counter, taken / 1000 + 1);
    BOOST_CHECK_EQUAL(last.immediate(0x1600), 123u);
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), 0u);
}

BOOST_AUTO_TEST_CASE(a_heap_that_is_left_out_can_be_left)
{
    auto p = heaps_of(1000);
    p.when_full = full_policy::drop;
    p.slots = p.config().min_ring_slots();
    packed_stream stream(p);
    while (!stream.counters.heaps_dropped.get())
        BOOST_REQUIRE_EQUAL(stream.packer.write(raw(noise(700).data()), 700), 700u);
    stream.packer.skip_to(123);
    stream.send();
    stream.write_all(noise(1000));
    stream.end();
    BOOST_CHECK_EQUAL(data_heaps(stream).back().immediate(0x1600), 123u);
    BOOST_CHECK_EQUAL(data_heaps(stream).back().payload.size(), 1000u);
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), 1u);
    BOOST_CHECK(stream.is_balanced());
}

BOOST_AUTO_TEST_CASE(the_mark_of_a_heap_that_is_left_waits_for_room)
{
    for (const bool write_on : { false, true }) {
        packed_stream stream(heaps_of(large, small_ring));
        const auto in = noise(large);
        const auto taken = stream.packer.write(raw(in.data()), in.size());
        BOOST_REQUIRE_LT(taken, large); // the ring is full
        stream.packer.skip_to(5);
        stream.packer.skip_to(7);
        BOOST_CHECK_EQUAL(stream.packer.write(raw(in.data()), 1), 0u);
        BOOST_CHECK_EQUAL(stream.packer.write(nullptr, 1), 0u);
        stream.send();
        BOOST_CHECK_EQUAL(stream.abandoned, 0u);
        if (write_on)
            stream.write_all(in);
        stream.end();
        BOOST_CHECK_EQUAL(stream.abandoned, taken);
        BOOST_CHECK(stream.is_balanced());
        const auto heaps = data_heaps(stream);
        BOOST_REQUIRE_EQUAL(heaps.size(), write_on ? 1u : 0u);
        if (write_on) {
            BOOST_CHECK_EQUAL(heaps[0].immediate(0x1600), 7u);
            BOOST_CHECK_EQUAL(heaps[0].counter, 2u);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_mark_that_finds_no_room_is_counted_when_all_is_given_up)
{
    packed_stream stream(heaps_of(large, small_ring));
    const auto in = noise(large);
    const auto taken = stream.packer.write(raw(in.data()), in.size());
    stream.packer.skip_to(5);
    BOOST_CHECK(!end_stream(stream.packer));
    stream.packer.drop_unpublished();
    BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(), taken);
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), 1u);
    stream.send();
    BOOST_CHECK(stream.is_balanced());
}

BOOST_AUTO_TEST_CASE(with_drop_a_mark_without_room_costs_a_heap_and_no_time)
{
    auto p = heaps_of(large);
    p.when_full = full_policy::drop;
    p.slots = p.config().min_ring_slots() + 3;
    packed_stream stream(p);
    stream.write_all(noise(large / 2));
    BOOST_REQUIRE_GT(stream.ring.published(), 0u);
    stream.ring.set_limit(stream.ring.published());
    stream.packer.skip_to(50000);
    const auto in = noise(2 * large);
    BOOST_CHECK_EQUAL(stream.packer.write(raw(in.data()), in.size()), in.size());
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), 2u);
    stream.ring.set_limit(p.slots);
    stream.send();
    stream.write_all(noise(large));
    stream.end();
    BOOST_CHECK_EQUAL(stream.abandoned, large / 2);
    BOOST_CHECK_EQUAL(data_heaps(stream).back().immediate(0x1600), 50000 + 2 * large);
    BOOST_CHECK(stream.is_balanced());
}

BOOST_AUTO_TEST_CASE(a_heap_that_is_left_in_its_descriptors_leaves_nothing_behind)
{
    auto p = heaps_of(large, small_ring);
    p.descriptors = true;
    p.items = { timestamp(), immediate(0x3101, "id", { 7 }, "d"), samples() };
    packed_stream stream(p);
    stream.ring.set_limit(1);
    const auto in = noise(large);
    BOOST_REQUIRE_EQUAL(stream.packer.write(raw(in.data()), 1), 0u);
    stream.packer.skip_to(123);
    stream.send();
    stream.packer.write(raw(in.data()), 0); // begins no heap
    stream.packer.set_items({ { 1, 8 } });
    stream.ring.set_limit(small_ring);
    stream.write_all(in);
    stream.end();
    const auto heaps = data_heaps(stream);
    BOOST_REQUIRE_EQUAL(heaps.size(), 1u);
    BOOST_CHECK_EQUAL(heaps[0].counter, 2u); // that of the first is on its way
    BOOST_CHECK_EQUAL(heaps[0].immediate(0x1600), 123u);
    BOOST_CHECK_EQUAL(heaps[0].immediate(0x3101), 8u);
    BOOST_CHECK_EQUAL(heaps[0].descriptors().size(), 3u);
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), 0u);
}

BOOST_AUTO_TEST_CASE(descriptors_in_a_heap_that_is_left_come_again)
{
    for (const auto size : { std::uint64_t{ 1000 }, large }) {
        auto p = heaps_of(size, small_ring);
        p.descriptors = true;
        packed_stream stream(p);
        stream.write_all(noise(size / 2));
        stream.packer.skip_to(123);
        stream.write_all(noise(2 * size));
        stream.end();
        const auto heaps = data_heaps(stream);
        BOOST_REQUIRE_EQUAL(heaps.size(), 2u);
        BOOST_CHECK_EQUAL(heaps[0].descriptors().size(), 2u);
        BOOST_CHECK_EQUAL(heaps[1].descriptors().size(), 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
