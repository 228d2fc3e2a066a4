/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A system call for many packets, and a lock for a wake-up: neither for each packet.

#include "cost/cost_stream.h"
#include "cost/cost_watch.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

struct shape {
    std::uint64_t heap_samples;
    std::size_t max_packet;
};

std::ostream& operator<<(std::ostream& out, const shape& s)
{
    return out << "heaps of " << s.heap_samples << " in packets of up to "
               << s.max_packet;
}

// Without descriptors and with heaps that fill their packets all packets are of one size.
const shape shapes[] = { { 8192, 1472 },
                         { 1 << 20, 1472 },
                         { 1 << 20, 8972 },
                         { 65536, 65507 },
                         { 1 << 16, 200 } };

packing packing_of(const shape& s, std::size_t slots)
{
    packing how;
    how.heap_samples = s.heap_samples;
    how.max_packet = s.max_packet;
    how.descriptors = false;
    how.stop = false;
    how.slots = slots;
    return how;
}

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by)
{
    return (value + by - 1) / by;
}

// What a call is to take. Numbers of the test's own: they are what is promised.
std::size_t packets_in_a_message(std::size_t packet_bytes)
{
    return std::clamp<std::size_t>(65469 / packet_bytes, 1, 64);
}

std::size_t packets_in_a_batch(std::size_t packet_bytes)
{
    return 8 * packets_in_a_message(packet_bytes);
}

constexpr std::size_t mib = 1 << 20;

struct costs {
    bool done = false;
    std::uint64_t packets_in_a_message = 0;
    std::uint64_t packets_in_a_batch = 0;
    std::uint64_t laps = 0; // around the ring
    std::uint64_t packets = 0;
    std::uint64_t writes = 0;
    std::uint64_t refusals = 0;
    std::uint64_t sends = 0;
    std::uint64_t wakes = 0;
    std::uint64_t spaces = 0;
    std::uint64_t locks_of_sender = 0;
    std::uint64_t locks_of_writer = 0;
};

std::ostream& operator<<(std::ostream& out, const costs& c)
{
    return out << c.packets << " packets, " << c.writes << " writes, " << c.refusals
               << " refused, " << c.sends << " sends, " << c.wakes << " wakes, "
               << c.spaces << " spaces, locks: sender " << c.locks_of_sender
               << ", writer " << c.locks_of_writer;
}

costs costs_of_a_stream(const shape& s,
                        const unread_socket* to,
                        const std::vector<std::int8_t>& samples)
{
    sink_options options;
    auto how = packing_of(s, 0);
    const auto packet_bytes = how.config().regular.packet_bytes();
    how.slots = 2 * mib / packet_bytes;
    open_stream stream(how, options, to);
    stream.start();
    const auto run = [&](std::size_t total) {
        return pass(stream, samples, total, mib) &&
               await([&] { return stream.sender_sleeps(); });
    };
    // a warm-up, so that the start is not counted
    if (!run(8 * mib))
        return {};

    costs before;
    const auto count = [&](costs& c) {
        c.packets = stream.sent().packets_sent.get();
        c.writes = stream.writes.get();
        c.refusals = stream.refusals.get();
        c.sends = stream.network.sends.get();
        c.wakes = stream.wakes.get();
        c.spaces = stream.spaces.get();
    };
    count(before);
    costs c;
    {
        const cost_watch watch;
        c.done = run(64 * mib);
        c.locks_of_writer = watch.here().locks;
        c.locks_of_sender = watch.elsewhere().locks;
    }
    count(c);
    c.packets -= before.packets;
    c.writes -= before.writes;
    c.refusals -= before.refusals;
    c.sends -= before.sends;
    c.wakes -= before.wakes;
    c.spaces -= before.spaces;
    c.packets_in_a_message = packets_in_a_message(packet_bytes);
    c.packets_in_a_batch = packets_in_a_batch(packet_bytes);
    c.laps = divide_up(c.packets, how.slots) + 1;
    c.done = stream.stop() && c.done;
    return c;
}

} // namespace

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(a_queue_leaves_in_full_batches)
{
    const auto samples = noise(8 * mib);
    for (const auto& s : shapes) {
        BOOST_TEST_CONTEXT(s)
        {
            sink_options options;
            auto how = packing_of(s, 0);
            const auto& layout = how.config().regular;
            const auto packets = layout.packets() * (samples.size() / s.heap_samples);
            how.slots = static_cast<std::size_t>(packets) + 8;
            open_stream stream(how, options);
            // queued before the thread starts: what it finds does not depend on time
            BOOST_REQUIRE_EQUAL(stream.write(samples.data(), samples.size()),
                                samples.size());
            stream.start();
            BOOST_REQUIRE(stream.stop());

            BOOST_REQUIRE_EQUAL(stream.sent().packets_sent.get(), packets);
            BOOST_CHECK_EQUAL(
                stream.network.sends.get(),
                divide_up(packets, packets_in_a_batch(layout.packet_bytes())));
        }
    }
}

// Both threads run as fast as they can, and meet as chance will have it. What is demanded
// follows from the design, not from how they meet.
BOOST_AUTO_TEST_CASE(calls_and_locks_are_for_batches_and_wake_ups_only)
{
    const auto samples = noise(mib);
    const unread_socket receiver;
    for (const auto& s : shapes) {
        for (const auto* to : { static_cast<const unread_socket*>(nullptr), &receiver }) {
            BOOST_TEST_CONTEXT(s << (to ? ", through a socket" : ""))
            {
                const auto found = costs_of_a_stream(s, to, samples);
                BOOST_REQUIRE(found.done);
                BOOST_TEST_MESSAGE(found);
                // What is published once costs one batch that is not full: a quarter of
                // the ring, or what is left at the end of a write. A message ends with
                // the ring.
                const auto published = found.writes + 4 * found.laps;
                const auto broken = found.laps * found.packets_in_a_message;
                const auto full = (found.packets + broken) / found.packets_in_a_batch;
                BOOST_CHECK_LE(found.sends, full + published);
                BOOST_CHECK_LE(found.wakes, published);
                // Asio's, for each wait, of which one has begun already. Boost's
                // condition variable has a mutex of its own: one lock to notify, two to
                // wait. The sender yields to other handlers in between.
                BOOST_CHECK_LE(found.locks_of_sender,
                               8 * (found.wakes + 1) + 2 * found.spaces + found.sends);
                // A wake-up for too little room is followed by another wait.
                BOOST_CHECK_LE(found.locks_of_writer,
                               3 * found.refusals + 2 * found.spaces);
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
