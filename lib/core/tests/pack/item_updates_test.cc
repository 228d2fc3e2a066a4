/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Updates of item values, and the rotation of heaps through the destinations.

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

// The item value of each heap, in order. All packets of a heap must have the same value.
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

BOOST_AUTO_TEST_CASE(item_values_apply_from_the_next_heap)
{
    for (const bool descriptors : { false, true })
        for (const std::uint64_t size : { 100u, 1000u, 20000u }) {
            const auto p = with_immediate(size, descriptors);
            packed_stream stream(p);
            const auto in = noise(size);
            const auto write_half = [&] { stream.write_all(noise(size / 2)); };
            write_half();
            stream.packer.set_items({ { set_index, 8 } }); // in the middle of a heap
            write_half();
            stream.write_all(in);
            stream.packer.set_items({ { set_index, 9 } }); // between two heaps
            stream.packer.set_items({ { set_index, 10 } });
            stream.write_all(in);
            write_half();
            stream.packer.set_items(
                { { set_index, 11 } }); // before an incomplete last heap
            stream.end();
            BOOST_CHECK(values(stream.datagrams) == (list{ 7, 8, 10, 10 }));
            // applies from the next run
            stream.datagrams.clear();
            stream.packer.start_run();
            stream.write_all(in);
            stream.end();
            BOOST_CHECK(values(stream.datagrams) == list{ 11 });
        }
}

BOOST_AUTO_TEST_CASE(another_thread_may_set_items)
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
    // wait until the thread has started
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

BOOST_AUTO_TEST_CASE(heaps_rotate_through_destinations)
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
                stream.write_all(noise(size / 2)); // an incomplete last heap rotates, too
                stream.end();
            }
            // the timestamp gives the index of the heap, and this its destination
            for (std::size_t i = 0; i < stream.datagrams.size(); ++i) {
                const auto packet = decode(stream.datagrams[i]);
                if (!packet.find(0x1600))
                    continue;
                const auto heap = (packet.get(0x1600) - 1000) / size;
                BOOST_REQUIRE_EQUAL(stream.destinations[i], 4 + heap % 3);
            }
        }
}

BOOST_AUTO_TEST_SUITE_END()
