/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The engine over a real socket, started and stopped at any moment.

#include "helpers/packing.h"
#include "helpers/stress.h"
#include "sink_engine.h"

#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

// A socket on this host that somebody reads, slowly at times.
class listener
{
public:
    explicit listener(unsigned seed) : d_thread([this, seed] { run(seed); }) {}
    ~listener()
    {
        d_done = true;
        d_thread.join();
    }
    std::uint16_t port() const { return d_socket.local_endpoint().port(); }

private:
    using udp = boost::asio::ip::udp;
    void run(unsigned seed)
    {
        std::mt19937 random(seed);
        std::vector<char> datagram(65536);
        d_socket.non_blocking(true);
        while (!d_done) {
            boost::system::error_code error;
            d_socket.receive(boost::asio::buffer(datagram), 0, error);
            if (error || random() % 1000 == 0)
                std::this_thread::sleep_for(200us); // as one that cannot keep up
        }
    }
    boost::asio::io_context d_io;
    udp::socket d_socket{ d_io, { boost::asio::ip::address_v4::loopback(), 0 } };
    std::atomic<bool> d_done{ false };
    std::thread d_thread;
};

void one_real_stream(unsigned seed)
{
    std::mt19937 random(seed);
    listener receiver(seed);
    sink_options o;
    // now and then nobody listens
    const auto to = "127.0.0.1:" + std::to_string(random() % 4 ? receiver.port() : 9);
    o.heap_samples =
        pick(random, std::vector<std::int64_t>{ 1, 100, 8192, 100000, 1 << 20 });
    o.max_packet_size = pick(random, std::vector<std::int64_t>{ 0, 200, 1472, 9000 });
    o.descriptors = random() % 2 ? "first_heap" : "none";
    o.when_full = pick(random, std::vector<std::string>{ "block", "drop" });
    o.tail = pick(random, std::vector<std::string>{ "short", "pad", "drop" });
    o.rate = pick(random, std::vector<double>{ 0, 1, 1e6, 1e8, 1e308 });
    sink_engine stream({ to }, o, [](const auto&) {});
    balance_watch watch([&stream] { return stream.counts(); });
    const auto samples = noise(200000);

    std::uint64_t written = 0;
    for (int run = 0; run < 3; ++run) {
        stream.start();
        const auto end =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 20);
        while (std::chrono::steady_clock::now() < end) {
            const auto taken =
                stream.write(0, raw(samples.data()), 1 + random() % 200000);
            written += taken;
            if (random() % 8 == 0)
                stream.set_rate(
                    pick(random, std::vector<double>{ 0, 1e-300, 1, 1e7, 1e308 }));
            if (!taken)
                stream.wait_for_space(std::chrono::steady_clock::now() + 50us);
        }
        const auto before = std::chrono::steady_clock::now();
        stream.stop();
        const std::chrono::duration<double> took =
            std::chrono::steady_clock::now() - before;
        BOOST_CHECK_LE(took.count(), 30); // ended at all
        const auto counts = stream.counts();
        BOOST_CHECK_EQUAL(counts.samples_in, written);
        BOOST_CHECK_EQUAL(counts.samples_sent + counts.samples_dropped, written);
    }
    BOOST_CHECK(watch.finish());
}

// One packet; what else is written stays in the ring.
sink_options hardly_sending(std::int64_t heap_samples, std::int64_t buffer_size)
{
    sink_options o;
    o.heap_samples = heap_samples;
    o.buffer_size = buffer_size;
    o.rate = 1e-300;
    o.burst_size = 1;
    return o;
}

} // namespace

BOOST_AUTO_TEST_SUITE(engines)

BOOST_AUTO_TEST_CASE(started_and_stopped_at_any_moment_it_stays_balanced)
{
    for (unsigned seed = 1; seed <= 10; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) one_real_stream(seed);
}

// However short a burst is to be.
BOOST_AUTO_TEST_CASE(a_paced_queue_has_room_for_what_may_leave_at_a_time)
{
    const listener receiver(1);
    const auto samples = noise(8 << 20);
    for (const double rate : { 1e6, 4e8, 1e10 }) {
        sink_options o;
        o.rate = rate;
        o.burst_size = 1;
        sink_engine stream(
            { "127.0.0.1:" + std::to_string(receiver.port()) }, o, [](const auto&) {});
        // nothing is sent before start()
        const auto taken = stream.write(0, raw(samples.data()), samples.size());
        const double packet = static_cast<double>(stream.packet_bytes());
        const double bursts = 2 * pacer::burst(1, packet, rate);
        BOOST_CHECK_GE(static_cast<double>(taken), 0.9 * bursts - 8 * packet);
        BOOST_CHECK_LE(static_cast<double>(taken), rate / 2 + 20000 + bursts);
    }
}

BOOST_AUTO_TEST_CASE(the_fill_is_that_of_the_fullest_ring)
{
    const listener receiver(1);
    const auto samples = noise(4 << 20);
    sink_options o;
    o.num_inputs = 2;
    const auto to = "127.0.0.1:" + std::to_string(receiver.port());
    // nothing is sent before start()
    sink_engine full({ to, to }, o, [](const auto&) {});
    BOOST_CHECK_EQUAL(full.stats().ring_fill, 0);
    const auto most = full.write(1, raw(samples.data()), samples.size());
    BOOST_REQUIRE_LT(most, samples.size());
    BOOST_CHECK_GT(full.stats().ring_fill, 0.95);
    BOOST_CHECK_LE(full.stats().ring_fill, 1);
    full.write(0, raw(samples.data()), most / 4);
    BOOST_CHECK_GT(full.stats().ring_fill, 0.95);

    sink_engine half({ to, to }, o, [](const auto&) {});
    half.write(0, raw(samples.data()), most / 2);
    half.write(1, raw(samples.data()), most / 4);
    BOOST_CHECK_CLOSE(half.stats().ring_fill, 0.5, 5); // percent
}

// At the end, which has no time.
BOOST_AUTO_TEST_CASE(an_unfinished_heap_that_finds_no_room_is_counted)
{
    const listener receiver(1);
    const auto samples = noise(1 << 20);
    for (const std::int64_t heap :
         { 1 << 10, 1 << 20 }) // sent as a whole, or as it comes
        for (const auto* tail : { "short", "pad", "drop" })
            for (const bool send_stop : { true, false })
                BOOST_TEST_CONTEXT(heap << " " << tail << " " << send_stop)
                {
                    auto o = hardly_sending(heap, 1 << 17);
                    o.tail = tail;
                    o.send_stop = send_stop;
                    sink_engine stream({ "127.0.0.1:" + std::to_string(receiver.port()) },
                                       o,
                                       [](const auto&) {});
                    stream.start();
                    stream.write(0, raw(samples.data()), samples.size() - 1000);
                    stream.stop();
                    BOOST_CHECK_EQUAL(stream.stats().samples_pending, 0u);
                }
}

BOOST_AUTO_TEST_CASE(the_ring_is_no_larger_than_asked_for_and_hardly_smaller)
{
    const listener receiver(1);
    const auto samples = noise(4 << 20);
    for (const std::uint64_t heap : { 1000, 8192, 65536, 100000, 400000 })
        for (const std::size_t buffer :
             { std::size_t{ 1000000 }, std::size_t{ 3 << 20 } }) {
            auto o = hardly_sending(static_cast<std::int64_t>(heap),
                                    static_cast<std::int64_t>(buffer));
            o.when_full = "drop";
            sink_engine stream({ "127.0.0.1:" + std::to_string(receiver.port()) },
                               o,
                               [](const auto&) {});
            BOOST_CHECK_EQUAL(stream.write(0, raw(samples.data()), samples.size()),
                              samples.size());
            const auto kept = samples.size() - stream.counts().samples_dropped;
            BOOST_CHECK_LE(kept, buffer + 1472);
            // up to a quarter may go for whole heaps, and one of them may not fit
            BOOST_CHECK_GE(kept, buffer * 7 / 10 - heap);
        }
}

BOOST_AUTO_TEST_SUITE_END()
