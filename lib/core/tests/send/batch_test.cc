/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The fuzz target of the sender tests random failures.

#include "helpers/scripted_transport.h"
#include "send/batch.h"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <memory>
#include <vector>

using namespace gr::spead;

namespace {

constexpr std::size_t packet_bytes = 1000;
constexpr auto unlimited = static_cast<std::size_t>(-1);

// Rings of packets that contain the index of their ring, their destination and number.
struct rings {
    sender_counters counters;
    std::vector<std::unique_ptr<packet_ring>> memory;
    std::vector<ring_reader> readers;
    std::vector<ring_cursor> heads;
    std::vector<std::uint32_t> next;
    std::unique_ptr<batch> out;

    explicit rings(std::size_t n, std::size_t slots = 4096) : heads(n), next(n)
    {
        for (std::size_t i = 0; i < n; ++i) {
            memory.push_back(std::make_unique<packet_ring>(slots, packet_bytes));
            readers.emplace_back(*memory.back(), counters);
        }
        out = std::make_unique<batch>(readers);
    }

    // Adds a packet. If \p samples is not 0, it ends a heap with this many samples.
    void put(std::size_t to_ring,
             std::size_t destination,
             std::size_t size = packet_bytes,
             std::uint64_t samples = 0)
    {
        auto& ring = *memory[to_ring];
        auto& at = heads[to_ring];
        const std::uint32_t words[] = { static_cast<std::uint32_t>(to_ring),
                                        static_cast<std::uint32_t>(destination),
                                        next[to_ring]++ };
        std::memcpy(ring.data(at.slot), words, sizeof words);
        const int flags = samples ? packet_info::heap_end | packet_info::data : 0;
        ring.info(at.slot) = { static_cast<std::uint32_t>(size),
                               static_cast<std::uint16_t>(flags),
                               static_cast<std::uint16_t>(destination),
                               samples };
        ring.advance_packet(at);
        ring.publish(at.count);
    }

    struct stamp {
        std::uint32_t ring, destination, number;
    };
    std::vector<stamp> stamps(std::size_t message) const
    {
        std::vector<stamp> all;
        for (const auto& datagram : packets_of(out->messages()[message])) {
            all.emplace_back();
            std::memcpy(&all.back(), datagram.data(), sizeof(stamp));
        }
        return all;
    }
    std::vector<stamp> stamps_of_first(std::size_t messages) const
    {
        std::vector<stamp> all;
        for (std::size_t i = 0; i < messages; ++i) {
            const auto more = stamps(i);
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }
    std::vector<std::size_t> message_bytes() const
    {
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < out->size(); ++i)
            all.push_back(out->messages()[i].bytes);
        return all;
    }
};

using sizes = std::vector<std::size_t>;

} // namespace

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(packets_to_one_destination_share_a_message)
{
    rings r(1);
    for (int heap = 0; heap < 160; ++heap)
        for (int packet = 0; packet < 2; ++packet)
            r.put(0, heap % 8u);
    r.out->collect(unlimited, true);
    BOOST_CHECK(r.message_bytes() == sizes(8, 40 * packet_bytes));
    for (std::size_t i = 0; i < 8; ++i) {
        const auto& m = r.out->messages()[i];
        BOOST_CHECK_EQUAL(m.destination, i);
        BOOST_CHECK_LE(
            m.n_pieces,
            21u); // one per heap, and one more if a collection ends within a heap
        BOOST_CHECK_EQUAL(m.position, 2 * i);
        std::uint32_t expected = static_cast<std::uint32_t>(2 * i);
        for (const auto& s : r.stamps(i)) {
            BOOST_CHECK_EQUAL(s.number, expected);
            expected += expected % 2 ? 15 : 1;
        }
    }
    r.out->sent(8);
    BOOST_CHECK(r.out->is_empty());
    BOOST_CHECK_EQUAL(r.counters.packets_sent.get(), 320u);
}

BOOST_AUTO_TEST_CASE(message_ends_at_a_segmentation_limit)
{
    rings r(1);
    for (int i = 0; i < 100; ++i)
        r.put(0, 0);
    r.put(0, 0, 500);  // a shorter packet may end a message
    r.put(0, 0, 2500); // occupies three slots
    r.put(0, 0, 700);  // unused bytes follow in its slot
    r.put(0, 0, 700);
    r.out->collect(unlimited, true);
    BOOST_CHECK((r.message_bytes() ==
                 sizes{ 64 * packet_bytes, 36 * packet_bytes + 500, 2500, 700, 700 }));
}

BOOST_AUTO_TEST_CASE(consecutive_packets_are_one_piece)
{
    rings r(2);
    for (int i = 0; i < 20; ++i)
        r.put(0, 0);
    r.put(1, 0);
    for (int i = 0; i < 20; ++i)
        r.put(0, 0);
    r.out->collect(unlimited, true);
    BOOST_CHECK((r.message_bytes() ==
                 sizes{ 20 * packet_bytes, packet_bytes, 20 * packet_bytes }));
    BOOST_CHECK_EQUAL(r.out->messages()[0].n_pieces, 1u);
}

BOOST_AUTO_TEST_CASE(all_rings_share_the_allowance)
{
    rings r(2);
    for (int i = 0; i < 10; ++i)
        for (std::size_t ring = 0; ring < 2; ++ring)
            r.put(ring, 0);
    r.out->collect(5 * packet_bytes + 999, true);
    BOOST_CHECK_EQUAL(r.out->bytes_of(r.out->size()), 5 * packet_bytes);
    r.out->collect(1, true); // at least one packet
    BOOST_CHECK_EQUAL(r.out->bytes_of(r.out->size()), packet_bytes);
}

BOOST_AUTO_TEST_CASE(lost_message_damages_only_its_own_heaps)
{
    rings r(1);
    for (std::uint32_t heap = 0; heap < 12; ++heap)
        for (int packet = 0; packet < 3; ++packet)
            r.put(0, heap % 4, packet_bytes, packet == 2 ? 100 : 0);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 4u);
    r.out->drop_first();
    // later heaps are counted once the packets before them have been sent
    BOOST_CHECK_EQUAL(r.counters.packets_dropped.get(), 3u);
    BOOST_CHECK_EQUAL(r.readers[0].position().count, 3u);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 3u);
    r.out->sent(3);
    BOOST_CHECK_EQUAL(r.counters.heaps_dropped.get(), 3u);
    BOOST_CHECK_EQUAL(r.counters.heaps_sent.get(), 9u);
    BOOST_CHECK_EQUAL(r.counters.samples_dropped.get(), 300u);
    BOOST_CHECK_EQUAL(r.counters.packets_dropped.get(), 9u);
    BOOST_CHECK_EQUAL(r.counters.packets_sent.get(), 27u);
    // recycled slots have no flags of earlier packets
    for (std::size_t slot = 0; slot < 36; ++slot)
        BOOST_CHECK(!(r.memory[0]->info(slot).flags &
                      (packet_info::sent | packet_info::dropped)));
}

BOOST_AUTO_TEST_CASE(split_message_is_sent_as_single_packets)
{
    rings r(1);
    for (std::uint32_t i = 0; i < 20; ++i)
        r.put(0, i % 2);
    r.out->collect(unlimited, true);
    r.out->split();
    r.out->collect(unlimited, true);
    // packets to the other destination in between are split, too
    BOOST_CHECK(r.message_bytes() == sizes(20, packet_bytes));
}

BOOST_AUTO_TEST_CASE(packets_are_sent_in_published_order)
{
    rings r(3);
    std::vector<std::size_t> published, sent;
    for (std::size_t run = 0; run < 200; ++run)
        for (std::size_t i = 0; i < 1 + run % 100; ++i) {
            r.put(run % 3, 0);
            published.push_back(run % 3);
        }
    for (unsigned sends = 0; !r.out->is_empty(); ++sends) {
        r.out->collect(sends % 3 ? unlimited : 20 * packet_bytes, true);
        const auto size = r.out->size();
        const auto count = sends % 2 ? size : (size + 1) / 2;
        for (const auto& s : r.stamps_of_first(count))
            sent.push_back(s.ring);
        r.out->sent(count);
        BOOST_REQUIRE_LT(sends, 10000u);
    }
    BOOST_CHECK(sent == published);
}

BOOST_AUTO_TEST_SUITE_END()
