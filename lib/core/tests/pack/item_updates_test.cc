/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Values of items that are set, and whose turn it is among the destinations.

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

#include <thread>

using namespace gr::spead;

namespace {

constexpr std::size_t set_index = 1;

packing with_immediate(std::uint64_t heap_samples, bool descriptors = true)
{
    packing p;
    p.heap_samples = heap_samples;
    p.descriptors = descriptors;
    p.max_packet = 200;
    p.items = { timestamp(), immediate(0x3101, "id", { 7 }, "d"), samples() };
    return p;
}

// In the order of the heaps; a value must be the same in all packets of a heap.
std::vector<std::uint64_t> values(const std::vector<bytes>& datagrams)
{
    std::vector<std::uint64_t> found;
    std::optional<std::uint64_t> heap;
    for (const auto& datagram : datagrams) {
        const auto p = decode(datagram);
        if (!p.find(0x3101))
            continue; // the end of the stream
        if (heap != p.get(1))
            found.push_back(p.get(0x3101));
        else
            BOOST_CHECK_EQUAL(p.get(0x3101), found.back());
        heap = p.get(1);
    }
    return found;
}

using list = std::vector<std::uint64_t>;

} // namespace

BOOST_AUTO_TEST_SUITE(items_while_packing)

BOOST_AUTO_TEST_CASE(a_value_is_set_from_the_next_heap_on)
{
    for (const bool descriptors : { false, true })
        for (const std::uint64_t size : { 100u, 1000u, 20000u }) {
            const auto p = with_immediate(size, descriptors);
            packed_stream stream(p);
            const auto in = noise(size);
            const auto half = [&] { stream.write_all(noise(size / 2)); };
            half();
            stream.packer.set_items({ { set_index, 8 } }); // in the middle of a heap
            half();
            stream.write_all(in);
            stream.packer.set_items({ { set_index, 9 } }); // between two
            stream.packer.set_items({ { set_index, 10 } });
            stream.write_all(in);
            half();
            stream.packer.set_items({ { set_index, 11 } }); // and before a tail
            stream.end();
            BOOST_CHECK(values(stream.datagrams) == (list{ 7, 8, 10, 10 }));
            // the next stream has it
            stream.datagrams.clear();
            stream.packer.start_run();
            stream.write_all(in);
            stream.end();
            BOOST_CHECK(values(stream.datagrams) == list{ 11 });
        }
}

// decode() refuses addresses that do not ascend
BOOST_AUTO_TEST_CASE(items_of_any_order_keep_their_places)
{
    const std::vector<item> in_order{ timestamp(),
                                      immediate(0x3101, "id", { 7 }, "d"),
                                      samples(),
                                      immediate(0x3102, "other", { 8 }, "e") };
    std::vector<std::size_t> order{ 0, 1, 2, 3 };
    do {
        // whole heaps that are held, and a large one in a small ring, with its zeros
        for (const std::size_t slots : { 4096u, 64u })
            for (const unsigned rest : { 1u, 5000u, 13000u }) {
                packing p = with_immediate(13001);
                p.slots = slots;
                p.items.clear();
                for (const auto i : order)
                    p.items.push_back(in_order[i]);
                const auto set = static_cast<std::size_t>(
                    std::find(order.begin(), order.end(), 1u) - order.begin());
                const auto in = noise(2 * p.heap_samples + rest);
                packed_stream stream(p);
                stream.packer.set_items({ { set, 70 } });
                stream.write_all(in);
                stream.end();

                bytes received;
                auto heaps = reassemble(stream.datagrams);
                BOOST_REQUIRE_EQUAL(heaps.size(), 4u);
                heaps.pop_back(); // the end of the stream
                for (std::size_t i = 0; i < heaps.size(); ++i) {
                    const auto& heap = heaps[i];
                    BOOST_CHECK_EQUAL(heap.immediate(0x1600), 1000 + i * p.heap_samples);
                    BOOST_CHECK_EQUAL(heap.immediate(0x3101), 70u);
                    BOOST_CHECK_EQUAL(heap.immediate(0x3102), 8u);
                    const auto part = heap.content(0x3300).value();
                    received.insert(received.end(), part.begin(), part.end());
                    std::vector<std::uint64_t> ids;
                    for (const auto& one : heap.pointers)
                        if (one.id >= 0x1600)
                            ids.push_back(one.id);
                    for (std::size_t j = 0; j < order.size(); ++j)
                        BOOST_CHECK_EQUAL(ids.at(j), p.items[j].id);
                }
                bytes expected(in.begin(), in.end());
                if (slots == 64 && rest > 1)
                    expected.resize(3 * p.heap_samples);
                BOOST_CHECK(received == expected);
                const auto described = heaps[0].descriptors();
                BOOST_REQUIRE_EQUAL(described.size(), 4u);
                for (std::size_t j = 0; j < order.size(); ++j)
                    BOOST_CHECK_EQUAL(described[j].get(0x14), p.items[j].id);
            }
    } while (std::next_permutation(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(headers_of_recycled_slots_have_the_value)
{
    auto p = with_immediate(1000, false);
    p.slots = p.config().min_ring_slots() + 32;
    packed_stream stream(p);
    list expected;
    for (std::uint64_t i = 0; i < 200; ++i) {
        if (i % 17 == 0)
            stream.packer.set_items({ { set_index, i } });
        stream.write_all(noise(1000));
        stream.send();
        expected.push_back(i / 17 * 17);
    }
    BOOST_CHECK(values(stream.datagrams) == expected);
}

BOOST_AUTO_TEST_CASE(a_large_heap_in_a_small_ring_keeps_its_value_to_the_end)
{
    for (const auto tail : { tail_policy::shorten, tail_policy::pad }) {
        auto p = with_immediate(1 << 16);
        p.slots = 64;
        p.tail = tail;
        packed_stream stream(p);
        for (std::uint64_t i = 0; i < 10; ++i) {
            stream.packer.set_items({ { set_index, 100 + i } });
            stream.write_all(noise(10000));
        }
        stream.packer.set_items({ { set_index, 1 } });
        stream.end();
        BOOST_CHECK(values(stream.datagrams) == (list{ 100, 106 }));
    }
}

BOOST_AUTO_TEST_CASE(what_is_too_wide_is_cut_off)
{
    packed_stream stream(with_immediate(8));
    stream.packer.set_items({ { set_index, ~std::uint64_t{ 0 } } });
    stream.write_all(noise(8));
    stream.end();
    BOOST_CHECK(values(stream.datagrams) == list{ 0xffffffffff });
}

BOOST_AUTO_TEST_CASE(another_thread_may_set_values_all_the_time)
{
    auto p = with_immediate(1000);
    p.slots = 200;
    packed_stream stream(p);
    std::atomic<bool> done{ false };
    std::atomic<std::uint64_t> last{ 0 };
    std::thread other([&] {
        for (std::uint64_t i = 8; !done; ++i) {
            stream.packer.set_items({ { set_index, i } });
            last = i;
        }
    });
    // it may take its time to begin
    while (last <= 8)
        std::this_thread::yield();
    for (int i = 0; i < 2000; ++i)
        stream.write_all(noise(500));
    done = true;
    other.join();
    stream.end();
    const auto found = values(stream.datagrams);
    BOOST_CHECK_EQUAL(found.size(), 1000u);
    BOOST_CHECK(std::is_sorted(found.begin(), found.end()));
    BOOST_CHECK_GT(found.back(), 8u);
}

BOOST_AUTO_TEST_CASE(heaps_go_to_the_destinations_in_turn)
{
    for (const bool descriptors : { false, true })
        for (const std::uint64_t size : { 100u, 1000u, 20000u }) {
            auto p = with_immediate(size, descriptors);
            p.destinations = 3;
            p.slots = std::max<std::size_t>(p.config().min_ring_slots(), 50);
            auto config = p.config();
            config.first_destination = 4;
            packed_stream stream(config, p.slots);
            for (int streams = 0; streams < 2; ++streams) {
                stream.packer.start_run();
                for (int i = 0; i < 50; ++i)
                    stream.write_all(noise(size));
                stream.write_all(noise(size / 2)); // a tail has its turn
                stream.end();
            }
            // heap and timestamp go up together: where it goes follows from that
            for (std::size_t i = 0; i < stream.datagrams.size(); ++i) {
                const auto packet = decode(stream.datagrams[i]);
                if (!packet.find(0x1600))
                    continue;
                const auto heap = (packet.get(0x1600) - 1000) / size;
                BOOST_REQUIRE_EQUAL(stream.destinations[i], 4 + heap % 3);
            }
        }
}

BOOST_AUTO_TEST_CASE(heaps_that_are_left_out_have_their_turn)
{
    packing p;
    p.heap_samples = 100;
    p.when_full = full_policy::drop;
    p.destinations = 3;
    p.slots = 16;
    packed_stream stream(p);
    for (int i = 0; i < 10; ++i) {
        BOOST_CHECK_EQUAL(stream.packer.write(raw(noise(3070).data()), 3070), 3070u);
        stream.send();
    }
    stream.end();
    BOOST_CHECK_GT(stream.counters.heaps_dropped.get(), 100u);
    for (std::size_t i = 0; i < stream.datagrams.size(); ++i) {
        const auto packet = decode(stream.datagrams[i]);
        if (packet.find(0x1600)) {
            BOOST_CHECK_EQUAL(stream.destinations[i], (packet.get(1) - 1) % 3);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_heap_that_never_began_gives_its_turn_back)
{
    packing p;
    p.heap_samples = 1000;
    p.destinations = 3;
    p.descriptors = false;
    p.slots = 16;
    packed_stream stream(p);
    const auto in = noise(100000);
    // full at the end of a heap: the next one has begun, and has no room
    const auto taken = stream.packer.write(raw(in.data()), in.size());
    BOOST_REQUIRE_EQUAL(taken % 1000, 0u);
    stream.end();
    stream.packer.start_run();
    stream.write_all(noise(1000));
    BOOST_REQUIRE(stream.packer.finish_tail());
    stream.send();
    BOOST_CHECK_EQUAL(stream.destinations.back(), taken / 1000 % 3);
}

BOOST_AUTO_TEST_CASE(all_stop_destinations_get_the_end_of_the_stream)
{
    packing p;
    p.heap_samples = 1000;
    for (const std::size_t limit : { 16u, 3u }) {
        p.slots = 16;
        auto config = p.config();
        config.stop_destinations = { 3, 5, 1, 2, 0 };
        packed_stream stream(config, p.slots);
        stream.write_all(noise(1500));
        while (!stream.packer.finish_tail())
            stream.send();
        stream.send();
        const auto before = stream.datagrams.size();
        stream.ring.set_limit(limit);
        BOOST_CHECK_EQUAL(stream.packer.send_stop(), limit > 5);
        while (!stream.packer.send_stop())
            stream.send();
        stream.send();
        const std::vector<std::uint16_t> to(stream.destinations.begin() +
                                                static_cast<long>(before),
                                            stream.destinations.end());
        BOOST_CHECK(to == (std::vector<std::uint16_t>{ 3, 5, 1, 2, 0 }));
        const auto heaps = reassemble(stream.datagrams);
        BOOST_REQUIRE_EQUAL(heaps.size(), 2u + 5);
        for (std::size_t i = 0; i < heaps.size(); ++i) {
            BOOST_CHECK_EQUAL(heaps[i].is_stop(), i >= 2);
            BOOST_CHECK_EQUAL(heaps[i].counter, i + 1);
        }
        BOOST_CHECK_EQUAL(stream.heaps_ended, 2u);
    }
}

BOOST_AUTO_TEST_SUITE_END()
