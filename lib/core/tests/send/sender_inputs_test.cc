/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// One sender, several rings that fill at their own speed.

#include "helpers/rings.h"
#include "helpers/stress.h"
#include "send/sender.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>

using namespace gr::spead;

namespace {

constexpr std::size_t slots = 64;

struct fixture {
    rings r{ 3, slots };
    boost::asio::io_context io;
    scripted_transport network{ io };
    sender_counters sent;
    ring_wait space;
    rate_limited_log lines{ [](const auto&) {} };
    sender out{ io,      { r.memory[0].get(), r.memory[1].get(), r.memory[2].get() },
                network, sent,
                {},      [this] { space.notify(); },
                lines };

    // as packers do, from one thread
    void put(std::size_t queue)
    {
        auto& ring = *r.memory[queue];
        const auto has_room = [&] {
            return r.heads[queue].count < ring.released() + slots;
        };
        BOOST_REQUIRE(space.wait(std::array{ &ring }, has_room, in_time()));
        r.put(queue, queue, packet_bytes, 1);
        if (ring.sender_sleeps.claim())
            out.wake();
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> arrived() const
    {
        std::map<std::uint32_t, std::vector<std::uint32_t>> by_queue;
        for (const auto& datagram : network.datagrams) {
            const auto s = rings::stamp_of(datagram);
            by_queue[s.queue].push_back(s.number);
        }
        return by_queue;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(sending_from_several_rings, fixture)

BOOST_AUTO_TEST_CASE(each_ring_wakes_the_sender_and_is_woken_by_it)
{
    out.start();
    const std::size_t n[] = { 5000, 300, 1 };
    for (std::size_t i = 0; i < n[0]; ++i)
        for (std::size_t queue = 0; queue < 3; ++queue)
            if (i < n[queue])
                put(queue);
    out.finish(sender::clock::now() + bound);
    auto all = arrived();
    for (std::uint32_t queue = 0; queue < 3; ++queue) {
        BOOST_CHECK_EQUAL(all[queue].size(), n[queue]);
        BOOST_CHECK(std::is_sorted(all[queue].begin(), all[queue].end()));
    }
    BOOST_CHECK_EQUAL(sent.samples_sent.get(), n[0] + n[1] + n[2]);
}

BOOST_AUTO_TEST_CASE(an_outage_of_one_message_costs_its_input_only)
{
    for (std::size_t queue = 0; queue < 3; ++queue)
        for (int i = 0; i < 20; ++i)
            put(queue);
    network.script = { { 1, 0 }, { 0, EPERM }, { 0, EPERM }, { 0, EPERM }, { 0, EPERM } };
    out.start();
    out.finish(sender::clock::now() + bound);
    auto all = arrived();
    BOOST_CHECK_EQUAL(all[0].size(), 20u);
    BOOST_CHECK_EQUAL(all[1].size(), 0u);
    BOOST_CHECK_EQUAL(all[2].size(), 20u);
    BOOST_CHECK_EQUAL(sent.samples_dropped.get(), 20u);
    BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 20u);
}

BOOST_AUTO_TEST_CASE(a_stop_without_time_counts_what_all_rings_hold)
{
    for (int i = 0; i < 20; ++i)
        for (std::size_t queue = 0; queue < 3; ++queue)
            put(queue);
    network.script.assign(1000000, { 0, ENOBUFS });
    out.start();
    out.finish(sender::clock::now());
    BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 60u);
    BOOST_CHECK_EQUAL(sent.samples_dropped.get(), 60u);
    for (const auto& ring : r.memory)
        BOOST_CHECK_EQUAL(ring->released(), ring->published());
}

BOOST_AUTO_TEST_SUITE_END()
