/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// In the steady state, a stream neither allocates memory nor takes a lock per packet.

#include "cost_stream.h"
#include "cost_watch.h"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <mutex>
#include <string>

using namespace gr::spead;

namespace {

constexpr std::size_t mib = 1 << 20;

struct cost {
    bool has_finished;
    cost_watch::tally writer; // this thread
    cost_watch::tally sender; // all other threads
};

// Nothing else may run in this process meanwhile, not even a check: it may allocate.
template <typename action>
cost measure(action&& act)
{
    const cost_watch watch;
    const bool has_finished = act();
    return { has_finished, watch.here(), watch.elsewhere() };
}

template <typename condition>
bool await(condition&& happened)
{
    const auto deadline = test_deadline();
    while (!happened()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::yield();
    }
    return true;
}

struct scenario {
    const char* name;
    std::int64_t heap_samples = 8192;
    std::int64_t packet_bytes = 1472;
    double rate = 0;
    const char* when_full = "block";
    std::size_t chunk = mib; // samples in a write
    std::size_t total = 32 * mib;
    double descriptor_interval = 0;
};

const scenario scenarios[] = {
    { "small heaps" },
    { "large packets", 1 << 20, 8972 },
    { "heaps larger than the ring", 4 << 20 },
    { "heaps of one sample", 1, 1472, 0, "block", 1000, 200000 },
    { "writes of less than a packet", 8192, 1472, 0, "block", 500, 4 * mib },
    { "paced, writer waits", 8192, 1472, 2e8 },
    { "paced, sender sleeps", 8192, 1472, 5e8, "block", 100000 },
    { "paced, heaps are dropped", 8192, 1472, 2e8, "drop" },
    { "repeated descriptors", 8192, 1472, 0, "block", 10000, 8 * mib, 1e-6 },
};

} // namespace

BOOST_AUTO_TEST_SUITE(costs)

BOOST_AUTO_TEST_CASE(cost_watch_counts_the_allocations_and_locks_of_each_thread)
{
    std::atomic<bool> go{ false };
    std::atomic<bool> has_finished{ false };
    std::mutex mutex;
    std::thread other([&] {
        await([&] { return go.load(); });
        void* volatile memory = std::malloc(10);
        std::free(memory);
        const std::lock_guard<std::mutex> lock(mutex);
        has_finished = true;
    });
    const auto found = measure([&] {
        std::string text(100, 'a');
        text.reserve(1000); // allocated in libstdc++
        go = true;
        return await([&] { return has_finished.load(); });
    });
    other.join();
    BOOST_CHECK(found.has_finished);
    BOOST_CHECK_EQUAL(found.writer.allocations, 2u);
    BOOST_CHECK_EQUAL(found.writer.locks, 0u);
    BOOST_CHECK_EQUAL(found.sender.allocations, 1u);
    BOOST_CHECK_EQUAL(found.sender.locks, 1u);
}

BOOST_AUTO_TEST_CASE(sending_a_packet_neither_allocates_nor_locks)
{
    const auto samples = noise(mib);
    const unread_socket receiver;
    for (const auto& s : scenarios) {
        BOOST_TEST_CONTEXT(s.name)
        {
            sink_options o;
            o.heap_samples = s.heap_samples;
            o.max_packet_size = s.packet_bytes;
            o.when_full = s.when_full;
            o.rate = s.rate;
            auto config = parse_options({ receiver.destination() }, o);
            config.descriptor_interval = s.descriptor_interval; // below the limit
            sink_engine stream(config, [](const auto&) {});
            stream.start();
            const auto is_empty = [&] {
                const auto counts = stream.counts();
                return counts.samples_sent + counts.samples_dropped == counts.samples_in;
            };
            const auto run = [&](std::size_t total) {
                return write_samples(stream, samples, total, s.chunk) && await(is_empty);
            };
            // warm up: use each slot of the ring once, and wait at least once
            BOOST_REQUIRE(run(s.total / 2));
            const auto before = stream.counts().packets_sent;
            const auto found = measure([&] { return run(s.total); });
            const auto packets = stream.counts().packets_sent - before;
            BOOST_CHECK(found.has_finished);
            BOOST_CHECK_GE(packets, 1000u);
            BOOST_CHECK_EQUAL(found.writer.allocations, 0u);
            // Boost.Asio allocates memory for some waits
            BOOST_CHECK_LE(found.sender.allocations, packets / 50);
            // A wake-up takes up to eight locks. There is at most one wake-up per write,
            // and four per lap of the ring.
            if (s.chunk == mib)
                BOOST_CHECK_LE(found.writer.locks + found.sender.locks, packets / 2);
            // local sends are copied; the override must send without a copy
            BOOST_CHECK(stream.stats().zero_copy || receiver.is_local());
            stream.stop();
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
