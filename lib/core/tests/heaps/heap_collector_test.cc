/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heaps/heap_collector.h"
#include "heaps/heap_packets.h"
#include "helpers/spead_packets.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

constexpr wire::flavour flavour{ 40 };

std::vector<std::uint64_t> packet_pointers(std::uint64_t counter,
                                           std::uint64_t heap_length,
                                           std::uint64_t offset,
                                           std::uint64_t bytes)
{
    return { flavour.immediate(wire::heap_counter, counter),
             flavour.immediate(wire::heap_length, heap_length),
             flavour.immediate(wire::payload_offset, offset),
             flavour.immediate(wire::payload_length, bytes) };
}

packet_bytes packet(std::uint64_t counter,
                    std::uint64_t heap_length,
                    std::uint64_t offset,
                    const packet_bytes& payload)
{
    auto pointers = packet_pointers(counter, heap_length, offset, payload.size());
    pointers.push_back(flavour.addressed(0x1000, 0));
    return packet_of(pointers, payload, flavour);
}

packet_bytes filled(std::size_t bytes, int value)
{
    return packet_bytes(bytes, std::byte(value));
}

struct collecting {
    heap_collector collector;
    std::chrono::nanoseconds now = 1h;
    std::vector<received_heap> heaps = {};

    packet_error add(const packet_bytes& datagram, std::uint64_t sender = 1)
    {
        auto result = collector.add(datagram.data(), datagram.size(), { sender, 0 }, now);
        if (result.heap)
            heaps.push_back(std::move(*result.heap));
        return result.error;
    }
    heap_counters<std::uint64_t> counts() const { return collector.counts(); }
};

packet_bytes content_of(const received_heap& heap, const heap_item& item)
{
    const auto* begin = heap.payload.get() + item.value;
    return { begin, begin + item.bytes };
}

} // namespace

BOOST_AUTO_TEST_SUITE(heap_collector_tests)

// Random heaps in both flavours, in packets of any size and in any order, some of them
// twice, of which some are lost.
BOOST_AUTO_TEST_CASE(heaps_arrive_whole_or_not_at_all)
{
    for (unsigned run = 0; run < 300; ++run) {
        std::mt19937_64 random(run);
        const auto up_to = [&](std::size_t n) { return random() % (n + 1); };
        collecting test;
        const wire::flavour run_flavour{ run % 2 ? 40u : 48u };
        struct sent_heap {
            std::vector<packet_bytes> contents;
            std::vector<outgoing_item> items;
            bool is_lost = false;
        };
        std::vector<sent_heap> sent(1 + up_to(9));
        std::vector<packet_bytes> packets;
        for (std::size_t i = 0; i < sent.size(); ++i) {
            auto& heap = sent[i];
            heap.contents.resize(up_to(run % 5 ? 3 : 60));
            for (auto& content : heap.contents) {
                content.resize(up_to(run % 3 ? 2000 : 3));
                for (auto& byte : content)
                    byte = std::byte(random());
            }
            for (std::size_t item = 0; item < heap.contents.size(); ++item)
                heap.items.push_back({ 0x1000 + item,
                                       false,
                                       0,
                                       heap.contents[item].data(),
                                       heap.contents[item].size() });
            heap.items.push_back({ 0x3000, true, up_to(1 << 20), nullptr, 0 });
            auto own = packets_of(heap.items, i, run_flavour, 64 + up_to(1400));
            if (up_to(3) == 0) {
                own.erase(own.begin() +
                          static_cast<std::ptrdiff_t>(up_to(own.size() - 1)));
                heap.is_lost = true;
            } else if (up_to(1) == 0) {
                own.push_back(own[up_to(own.size() - 1)]);
            }
            packets.insert(packets.end(), own.begin(), own.end());
        }
        std::shuffle(packets.begin(), packets.end(), random);
        for (const auto& datagram : packets)
            BOOST_REQUIRE((test.add(datagram) == packet_error::none));
        test.collector.clear();

        const auto is_lost = [](const auto& heap) { return heap.is_lost; };
        const auto lost = std::count_if(sent.begin(), sent.end(), is_lost);
        BOOST_TEST(test.heaps.size() == sent.size() - static_cast<std::size_t>(lost));
        BOOST_TEST(test.counts().heaps_received == test.heaps.size());
        BOOST_TEST(test.collector.bytes() == 0U);
        for (const auto& heap : test.heaps) {
            const auto& original = sent[heap.counter];
            BOOST_TEST(!original.is_lost);
            BOOST_TEST(heap.invalid_items == 0U);
            BOOST_REQUIRE(heap.items.size() == original.items.size());
            for (const auto& item : heap.items) {
                const auto index = item.id - 0x1000;
                if (item.is_immediate)
                    BOOST_TEST(item.value == original.items.back().value);
                else
                    BOOST_TEST((content_of(heap, item) == original.contents[index]));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_silent_heap_is_given_up)
{
    collecting test;
    test.add(packet(1, 20, 0, filled(10, 1)));
    test.now += 4s;
    test.collector.expire(test.now);
    BOOST_TEST(test.counts().heaps_incomplete == 0U);
    test.now += 2s;
    test.collector.expire(test.now);
    BOOST_TEST(test.counts().heaps_incomplete == 1U);
    test.add(packet(1, 20, 10, filled(10, 1)));
    BOOST_TEST(test.heaps.empty());
}

BOOST_AUTO_TEST_CASE(duplicates_are_not_delivered_again)
{
    collecting test;
    for (int i = 0; i < 2; ++i) {
        test.add(packet(1, 20, 0, filled(10, 1)));
        test.add(packet(1, 20, 10, filled(10, 1)));
        test.add(packet(2, 10, 0, filled(10, 2)));
    }
    BOOST_TEST(test.heaps.size() == 2U);
    BOOST_TEST(test.counts().packets_duplicate == 3U);
    test.collector.clear();
    BOOST_TEST(test.counts().heaps_incomplete == 0U);
}

BOOST_AUTO_TEST_CASE(a_heap_counter_may_be_used_again_after_the_end_of_a_stream)
{
    collecting test;
    const auto end =
        from_hex("5304030500000006800001000000000480000200000000018000030000000"
                 "00080000400000000018000060000000002000000000000000000");
    test.add(packet(1, 10, 0, filled(10, 1)));
    test.add(end);
    test.add(end);
    test.add(packet(1, 10, 0, filled(10, 1)));
    BOOST_TEST(test.heaps.size() == 2U);
    BOOST_TEST(test.counts().streams_ended == 1U);
    BOOST_TEST(test.counts().packets_duplicate == 1U);
}

BOOST_AUTO_TEST_CASE(a_heap_counter_may_be_used_again_later)
{
    collecting test;
    test.add(packet(1, 10, 0, filled(10, 1)));
    test.now += 2s;
    test.add(packet(1, 10, 0, filled(10, 1)));
    BOOST_TEST(test.heaps.size() == 2U);
}

// The sender restarts while its first heap is incomplete.
BOOST_AUTO_TEST_CASE(heaps_before_and_after_a_restart_are_not_mixed)
{
    collecting test;
    test.add(packet(1, 20, 0, filled(10, 1)));
    test.add(packet(1, 20, 0, filled(10, 2)));
    test.add(packet(1, 20, 10, filled(10, 2)));
    BOOST_REQUIRE(test.heaps.size() == 1U);
    BOOST_TEST((content_of(test.heaps[0], test.heaps[0].items[0]) == filled(20, 2)));
    BOOST_TEST(test.counts().heaps_incomplete == 1U);
}

BOOST_AUTO_TEST_CASE(senders_may_use_the_same_heap_counters)
{
    collecting test;
    for (std::uint64_t sender : { 1, 2 })
        test.add(packet(1, 20, 0, filled(10, int(sender))), sender);
    for (std::uint64_t sender : { 1, 2 })
        test.add(packet(1, 20, 10, filled(10, int(sender))), sender);
    BOOST_REQUIRE(test.heaps.size() == 2U);
    for (const auto& heap : test.heaps)
        BOOST_TEST((content_of(heap, heap.items[0]) == filled(20, int(heap.sender))));
}

BOOST_AUTO_TEST_CASE(contradictions_are_rejected)
{
    collecting test;
    test.add(packet(1, 20, 0, filled(10, 1)));
    BOOST_TEST(
        (test.add(packet(1, 30, 10, filled(10, 1))) == packet_error::contradiction));
    test.add(packet(1, 20, 10, filled(10, 1)));
    BOOST_TEST(test.heaps.size() == 1U);
    BOOST_TEST((test.add(packet_of({ flavour.immediate(wire::heap_counter, 9),
                                     flavour.immediate(wire::payload_offset, 0),
                                     flavour.immediate(wire::payload_length, 0) },
                                   {},
                                   flavour)) == packet_error::missing_item));
}

BOOST_AUTO_TEST_CASE(items_beyond_the_heap_are_counted)
{
    collecting test;
    auto pointers = packet_pointers(1, 10, 0, 10);
    pointers.push_back(flavour.addressed(0x1000, 11));
    pointers.push_back(flavour.addressed(0x1001, 0));
    test.add(packet_of(pointers, filled(10, 1), flavour));
    BOOST_REQUIRE(test.heaps.size() == 1U);
    BOOST_TEST(test.heaps[0].items.size() + test.heaps[0].invalid_items == 2U);
    BOOST_TEST(test.heaps[0].invalid_items > 0U);
}

BOOST_AUTO_TEST_CASE(memory_is_bounded)
{
    collecting test;
    const heap_collector::limits limits;
    BOOST_TEST((test.add(packet(1, max_heap_bytes + 1, 0, filled(10, 1))) ==
                packet_error::heap_size));
    BOOST_TEST((test.add(packet(1, std::uint64_t{ 1 } << 39, 0, filled(10, 1))) ==
                packet_error::heap_size));
    for (std::uint64_t i = 0; i < 1000; ++i) {
        test.add(packet(i, max_heap_bytes, 0, filled(10, 1)), 1 + i % 200);
        BOOST_TEST(test.collector.bytes() <= limits.bytes);
    }
    BOOST_TEST(test.counts().heaps_incomplete >= 1000 - limits.bytes / max_heap_bytes);
}

BOOST_AUTO_TEST_CASE(the_memory_of_item_pointers_is_bounded)
{
    heap_collector::limits limits;
    limits.bytes = 1 << 20;
    collecting test{ heap_collector(limits) };
    for (std::uint64_t i = 0; i < 100; ++i)
        for (std::uint64_t counter = 0; counter < 10; ++counter) {
            auto pointers = packet_pointers(counter, 1000, i, 1);
            for (std::uint64_t j = 0; j < 100; ++j)
                pointers.push_back(flavour.immediate(0x1000 + 100 * i + j, 1));
            test.add(packet_of(pointers, filled(1, 1), flavour));
            BOOST_TEST(test.collector.bytes() <= limits.bytes);
        }
    BOOST_TEST(test.counts().heaps_incomplete > 0U);
    test.collector.clear();
    BOOST_TEST(test.collector.bytes() == 0U);
}

BOOST_AUTO_TEST_CASE(a_flood_does_not_evict_the_heap_of_another_sender)
{
    collecting test;
    test.add(packet(1, 20, 0, filled(10, 1)), 1);
    for (std::uint64_t i = 0; i < 100; ++i)
        test.add(packet(i, max_heap_bytes, 0, filled(10, 1)), 2);
    test.add(packet(1, 20, 10, filled(10, 1)), 1);
    BOOST_TEST(test.heaps.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_heap_of_too_many_pieces_or_pointers_is_given_up)
{
    collecting test;
    const heap_collector::limits limits;
    for (std::uint64_t i = 0; i < 2 * limits.missing_ranges; ++i)
        test.add(packet(1, 1 << 20, 2 * i, filled(1, 1)));
    BOOST_TEST(test.counts().heaps_incomplete >= 1U);
    std::uint64_t id = 0x1000;
    for (int i = 0; i < 100; ++i) {
        auto pointers = packet_pointers(2, 1 << 20, std::uint64_t(i) * 10, 10);
        for (int j = 0; j < 500; ++j)
            pointers.push_back(flavour.immediate(id++, 1));
        test.add(packet_of(pointers, filled(10, 1), flavour));
    }
    BOOST_TEST(test.collector.rejects().by_name().at("items") >= 1U);
}

BOOST_AUTO_TEST_SUITE_END()
