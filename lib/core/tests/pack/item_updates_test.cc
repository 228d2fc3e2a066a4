/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Updates of item values from another thread. The fuzz target of the packer tests when
// they apply.

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

#include <thread>

using namespace gr::spead;

namespace {

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

} // namespace

BOOST_AUTO_TEST_SUITE(items_while_packing)

BOOST_AUTO_TEST_CASE(another_thread_may_set_items)
{
    packing p;
    p.heap_samples = 1000;
    p.max_packet = 200;
    p.slots = 200;
    p.items = { timestamp(), immediate(0x3101, "id", { 7 }), samples() };
    packed_stream stream(p);
    std::atomic<bool> done{ false };
    std::atomic<std::uint64_t> last{ 0 };
    std::thread other([&] {
        for (std::uint64_t i = 8; !done; ++i) {
            stream.packer.set_items({ { 1, i } });
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

BOOST_AUTO_TEST_SUITE_END()
