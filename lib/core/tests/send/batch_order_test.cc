/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Several rings and several destinations, and what becomes of packets that do not leave
// in the order in which they lie.

#include "helpers/rings.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <vector>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(inputs_and_destinations)

BOOST_AUTO_TEST_CASE(packets_to_one_destination_leave_in_one_message)
{
    rings r(1);
    for (int heap = 0; heap < 160; ++heap)
        for (int packet = 0; packet < 2; ++packet)
            r.put(0, heap % 8u);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 8u);
    for (std::size_t i = 0; i < 8; ++i) {
        const auto& m = r.out->messages()[i];
        BOOST_CHECK_EQUAL(m.destination, i);
        BOOST_CHECK_LE(m.n_pieces, 21u); // a heap is one; a turn may end within one
        BOOST_CHECK_EQUAL(m.bytes, 40 * packet_bytes);
        BOOST_CHECK_EQUAL(m.position, 2 * i);
        std::uint32_t expected = static_cast<std::uint32_t>(2 * i);
        for (const auto& s : r.content(i)) {
            BOOST_CHECK_EQUAL(s.destination, i);
            BOOST_CHECK_EQUAL(s.number, expected);
            expected += expected % 2 ? 15 : 1;
        }
    }
    r.out->sent(8);
    BOOST_CHECK(r.out->is_empty());
    BOOST_CHECK_EQUAL(r.counters.packets_sent.get(), 320u);
}

BOOST_AUTO_TEST_CASE(a_message_ends_where_segmentation_would_not_take_more)
{
    rings r(1);
    for (int i = 0; i < 200; ++i)
        r.put(0, 0);
    r.put(0, 0, 500); // may be the last one of its message
    r.put(0, 0);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 5u);
    for (std::size_t i = 0; i < 3; ++i)
        BOOST_CHECK_EQUAL(r.out->messages()[i].bytes, 64 * packet_bytes);
    BOOST_CHECK_EQUAL(r.out->messages()[3].bytes, 8 * packet_bytes + 500);
    BOOST_CHECK_EQUAL(r.out->messages()[4].bytes, packet_bytes);
}

BOOST_AUTO_TEST_CASE(a_larger_packet_or_a_small_one_goes_alone)
{
    rings r(1);
    r.put(0, 0, 2500); // three slots
    r.put(0, 0, 700);
    r.put(0, 0, 700); // a gap lies between them
    r.put(0, 0);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 4u);
    for (std::size_t i = 0; i < 4; ++i)
        BOOST_CHECK(!r.out->messages()[i].segmented());
    r.out->sent(1); // the second one fails
    BOOST_CHECK_EQUAL(r.counters.packets_sent.get(), 1u);
    r.out->collect(unlimited, true);
    BOOST_CHECK_EQUAL(r.content(0)[0].number, 1u);
}

BOOST_AUTO_TEST_CASE(packets_leave_in_the_order_in_which_they_were_published)
{
    rings r(3);
    std::vector<std::size_t> published;
    for (std::size_t run = 0; run < 200; ++run)
        for (std::size_t i = 0; i < 1 + run % 100; ++i) {
            r.put(run % 3, 0);
            published.push_back(run % 3);
        }
    std::vector<std::size_t> gone;
    for (unsigned sends = 0; !r.out->is_empty(); ++sends) {
        r.out->collect(sends % 3 ? unlimited : 20 * packet_bytes, true);
        const auto size = r.out->size();
        const auto go = sends % 2 ? size : (size + 1) / 2;
        for (std::size_t i = 0; i < go; ++i)
            for (const auto& s : r.content(i))
                gone.push_back(s.queue);
        r.out->sent(go);
        BOOST_REQUIRE_LT(sends, 10000u);
    }
    BOOST_CHECK(gone == published);
}

BOOST_AUTO_TEST_CASE(packets_published_one_by_one_leave_in_one_message)
{
    rings r(2);
    for (int i = 0; i < 20; ++i)
        r.put(0, 0);
    r.put(1, 0);
    for (int i = 0; i < 20; ++i)
        r.put(0, 0);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 3u);
    for (const std::size_t i : { 0u, 2u }) {
        BOOST_CHECK_EQUAL(r.out->messages()[i].bytes, 20 * packet_bytes);
        BOOST_CHECK_EQUAL(r.out->messages()[i].n_pieces, 1u);
    }
}

BOOST_AUTO_TEST_CASE(an_idle_queue_costs_the_others_nothing)
{
    rings r(3);
    for (int i = 0; i < 600; ++i)
        r.put(1, 0);
    r.out->collect(unlimited, true);
    BOOST_CHECK_EQUAL(r.packets_in_batch(), 8 * transport::max_segments);
}

BOOST_AUTO_TEST_CASE(the_allowance_is_for_all_queues_together)
{
    rings r(2);
    for (int i = 0; i < 10; ++i)
        for (std::size_t l = 0; l < 2; ++l)
            r.put(l, 0);
    r.out->collect(5 * packet_bytes + 999, true);
    BOOST_CHECK_EQUAL(r.out->bytes_of(r.out->size()), 5 * packet_bytes);
    r.out->collect(1, true); // one packet at least
    BOOST_CHECK_EQUAL(r.out->bytes_of(r.out->size()), packet_bytes);
}

BOOST_AUTO_TEST_CASE(what_could_not_be_sent_comes_first_again_and_what_was_does_not)
{
    rings r(2);
    for (std::uint32_t i = 0; i < 40; ++i)
        r.put(0, i % 4);
    for (std::uint32_t i = 0; i < 40; ++i)
        r.put(1, 4 + i % 4);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 8u);
    const auto failed = r.content(5).front();
    r.out->sent(5);
    // counted in the order of the ring, up to the first one that is still there
    BOOST_CHECK_LT(r.counters.packets_sent.get(), 80u);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 3u);
    BOOST_CHECK_EQUAL(r.content(0).front().queue, failed.queue);
    BOOST_CHECK_EQUAL(r.content(0).front().number, failed.number);
    r.out->sent(3);
    BOOST_CHECK_EQUAL(r.counters.packets_sent.get(), 80u);
    BOOST_CHECK(r.out->is_empty());
}

BOOST_AUTO_TEST_CASE(a_message_that_is_given_up_damages_its_own_heaps_only)
{
    rings r(1);
    for (std::uint32_t heap = 0; heap < 12; ++heap)
        for (int packet = 0; packet < 3; ++packet)
            r.put(0, heap % 4, packet_bytes, packet == 2 ? 100 : 0);
    r.out->collect(unlimited, true);
    BOOST_REQUIRE_EQUAL(r.out->size(), 4u);
    r.out->drop_first();
    // the first heap is known to be lost; those behind it wait for theirs
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
    // slots that are used again carry no outcome
    for (std::size_t slot = 0; slot < 36; ++slot)
        BOOST_CHECK(!(r.memory[0]->info(slot).flags &
                      (packet_info::sent | packet_info::dropped)));
}

BOOST_AUTO_TEST_CASE(packets_of_a_split_message_go_one_by_one)
{
    rings r(1);
    for (std::uint32_t i = 0; i < 20; ++i)
        r.put(0, i % 2);
    r.out->collect(unlimited, true);
    r.out->split();
    r.out->collect(unlimited, true);
    // the other destination's are between them, all but the last
    BOOST_CHECK_EQUAL(r.out->size(), 20u);
    for (std::size_t i = 0; i < r.out->size(); ++i)
        BOOST_CHECK(!r.out->messages()[i].segmented());
}

BOOST_AUTO_TEST_CASE(more_destinations_than_messages_take_several_sends)
{
    rings r(1);
    for (std::uint32_t i = 0; i < 300; ++i)
        r.put(0, i % 100);
    std::map<std::uint32_t, std::vector<std::uint32_t>> arrived;
    for (int sends = 0; !r.out->is_empty(); ++sends) {
        r.out->collect(unlimited, true);
        for (std::size_t i = 0; i < r.out->size(); ++i)
            for (const auto& s : r.content(i))
                arrived[s.destination].push_back(s.number);
        r.out->sent(r.out->size());
        BOOST_REQUIRE_LT(sends, 10);
    }
    BOOST_CHECK_EQUAL(arrived.size(), 100u);
    for (const auto& [destination, numbers] : arrived)
        BOOST_CHECK((numbers == std::vector<std::uint32_t>{
                                    destination, destination + 100, destination + 200 }));
}

BOOST_AUTO_TEST_SUITE_END()
