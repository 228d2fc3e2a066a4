/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The memory of packets is recycled: a stream that runs allocates none.

#include "cost_stream.h"
#include "cost_watch.h"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

using namespace gr::spead;

namespace {

constexpr std::size_t mib = 1 << 20;

struct cost {
    bool done;
    cost_watch::tally writer;
    cost_watch::tally sender;
};

// Nothing else may happen in this process meanwhile, not even a check that succeeds.
template <typename action>
cost cost_of(action&& act)
{
    const cost_watch watch;
    const bool done = act();
    return { done, watch.here(), watch.elsewhere() };
}

// Asio allocates for a wait now and then.
void check_packets_are_recycled(const cost& found, std::uint64_t packets)
{
    BOOST_CHECK(found.done);
    BOOST_CHECK_EQUAL(found.writer.allocations, 0u);
    BOOST_CHECK_LE(found.sender.allocations, packets / 50);
}

struct scenario {
    const char* name;
    std::size_t heap_samples = 8192;
    std::size_t packet_bytes = 1472;
    double rate = 0;
    const char* when_full = "block";
    std::size_t chunk = mib; // samples in a write
    std::size_t total = 32 * mib;
    double descriptor_interval = 0;
};

std::ostream& operator<<(std::ostream& out, const scenario& s) { return out << s.name; }

const auto drop = "drop";
const auto block = "block";
const scenario scenarios[] = {
    { "small heaps" },
    { "large packets", 1 << 20, 8972 },
    { "heaps that are larger than the ring", 4 << 20 },
    { "heaps of one sample", 1, 1472, 0, block, 1000, 200000 },
    { "writes of less than a packet", 8192, 1472, 0, block, 500, 4 * mib },
    { "paced: the writer waits", 8192, 1472, 2e8 },
    { "paced: the sender sleeps", 8192, 1472, 5e8, block, 100000 },
    { "paced: heaps are dropped", 8192, 1472, 2e8, drop },
    { "descriptors again and again", 8192, 1472, 0, block, 10000, 8 * mib, 1e-6 },
};

struct fixture {
    const std::vector<std::int8_t> samples = noise(mib);
    const unread_socket receiver{};
};

} // namespace

BOOST_AUTO_TEST_SUITE(cost_watching)

BOOST_AUTO_TEST_CASE(every_way_to_allocate_is_seen_on_every_thread)
{
    const auto allocate = [] {
        void* volatile memory = std::malloc(10);
        memory = std::realloc(memory, 1000);
        std::free(memory);
        memory = std::calloc(10, 10);
        std::free(memory);
        memory = std::aligned_alloc(64, 128);
        std::free(memory);
        void* aligned = nullptr;
        if (posix_memalign(&aligned, 64, 128) == 0)
            std::free(aligned);
        memory = ::operator new(10);
        ::operator delete(memory);
        memory = ::operator new(128, std::align_val_t(64));
        ::operator delete(memory, std::align_val_t(64));
        return true;
    };
    // a library does it, in code of its own
    const auto stretch = [](std::string& text) { text.reserve(2 * text.capacity()); };
    constexpr std::uint64_t ways = 7;

    std::string text(100, 'a');
    const auto here = cost_of([&] {
        stretch(text);
        return allocate();
    });
    BOOST_CHECK_EQUAL(here.writer.allocations, ways + 1);
    BOOST_CHECK_EQUAL(here.sender.allocations, 0u);

    std::atomic<bool> go{ false };
    std::atomic<bool> gone{ false };
    std::mutex mutex;
    std::thread other([&] {
        await([&] { return go.load(); });
        stretch(text);
        allocate();
        const std::lock_guard<std::mutex> lock(mutex);
        gone = true;
    });
    const auto there = cost_of([&] {
        go = true;
        return await([&] { return gone.load(); });
    });
    other.join();
    BOOST_CHECK(there.done);
    BOOST_CHECK_EQUAL(there.writer.allocations, 0u);
    BOOST_CHECK_EQUAL(there.writer.locks, 0u);
    BOOST_CHECK_EQUAL(there.sender.allocations, ways + 1);
    BOOST_CHECK_EQUAL(there.sender.locks, 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(allocations, fixture)

BOOST_AUTO_TEST_CASE(the_memory_of_packets_is_recycled)
{
    for (const auto& s : scenarios) {
        BOOST_TEST_CONTEXT(s)
        {
            sink_options o;
            o.heap_samples = static_cast<std::int64_t>(s.heap_samples);
            o.max_packet_size = static_cast<std::int64_t>(s.packet_bytes);
            o.when_full = s.when_full;
            o.descriptor_interval = s.descriptor_interval;
            o.rate = s.rate;
            sink_engine stream({ receiver.destination() }, o, [](const auto&) {});
            only_input only{ stream };
            stream.start();
            const auto everything_is_gone = [&] {
                const auto counts = stream.counts();
                return counts.samples_sent + counts.samples_dropped == counts.samples_in;
            };
            const auto run = [&](std::size_t total) {
                return pass(only, samples, total, s.chunk) && await(everything_is_gone);
            };
            // at least once around the ring, with a wait here and there
            BOOST_REQUIRE(run(s.total / 2));
            const auto before = stream.counts().packets_sent;
            const auto found = cost_of([&] { return run(s.total); });
            const auto packets = stream.counts().packets_sent - before;
            check_packets_are_recycled(found, packets);
            BOOST_CHECK_GE(packets, 1000u);
            // who sends elsewhere wants to know about messages without a copy
            BOOST_CHECK(stream.stats().zero_copy || receiver.is_here());
            stream.stop();
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
