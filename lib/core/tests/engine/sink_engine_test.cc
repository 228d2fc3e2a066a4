/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/packing.h"
#include "helpers/stress.h"
#include "sink_engine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>

using namespace gr::spead;
using boost::asio::ip::udp;

namespace {

constexpr std::size_t inputs = 2;
constexpr std::int64_t sample_rate = 1000000;
constexpr std::size_t first_item = 1, second_item = 3; // indices in the list of items
constexpr std::uint64_t first_id = 0x3101, second_id = 0x3102;

// Checks that two values set in one call arrive together, and that timestamps increase.
class receiver
{
public:
    receiver() { d_socket.non_blocking(true); }
    std::string destination() const
    {
        return "127.0.0.1:" + std::to_string(d_socket.local_endpoint().port());
    }
    std::size_t checked_packets() const { return d_checked; }

    void receive()
    {
        for (;;) {
            bytes datagram(65536);
            boost::system::error_code error;
            datagram.resize(d_socket.receive(boost::asio::buffer(datagram), 0, error));
            if (error)
                return;
            check(decode(datagram));
        }
    }

private:
    void check(const packet& p)
    {
        if (!p.find(first_id))
            return; // descriptors or end of stream
        ++d_checked;
        BOOST_CHECK_EQUAL(p.get(first_id), p.get(second_id));
        auto& last = d_last[p.get(1) % inputs];
        if (p.get(1) != last.heap)
            BOOST_CHECK_GE(p.get(0x1600), last.end);
        last = { p.get(1), p.get(0x1600) + 1 };
    }
    struct heap_time {
        std::uint64_t heap = 0;
        std::uint64_t end = 0;
    };
    boost::asio::io_context d_io;
    udp::socket d_socket{ d_io, { boost::asio::ip::address_v4::loopback(), 0 } };
    std::map<std::uint64_t, heap_time> d_last; // by input
    std::size_t d_checked = 0;
};

sink_options random_options(std::mt19937& random)
{
    sink_options o;
    o.num_inputs = inputs;
    o.items = { timestamp(),
                immediate(first_id, "first", { 0 }),
                samples(),
                immediate(second_id, "second", { 0 }) };
    o.heap_samples = pick(random, std::vector<std::int64_t>{ 1, 64, 1000, 20000 });
    o.max_packet_size = pick(random, std::vector<std::int64_t>{ 200, 1472, 9000 });
    o.descriptors = pick(random, std::vector<std::string>{ "first_heap", "separate" });
    o.descriptor_interval = 0.001;
    o.sample_rate = exact_rate{ sample_rate };
    o.on_gap = pick(random, std::vector<std::string>{ "realign", "zero_fill" });
    o.when_full = pick(random, std::vector<std::string>{ "block", "drop" });
    o.tail = pick(random, std::vector<std::string>{ "short", "pad", "drop" });
    o.buffer_size = 200000;
    return o;
}

// Changes settings and reads statistics of a running stream. False if more samples were
// sent or dropped than written, or if a counter decreased.
class live_user
{
public:
    live_user(sink_engine& stream, unsigned seed) : d_stream(stream), d_random(seed) {}
    bool operator()()
    {
        const auto input = ++d_value % inputs;
        d_stream.set_items(
            { { first_item, d_value, input }, { second_item, d_value, input } });
        if (d_random() % 4 == 0)
            d_stream.set_rate(pick(d_random, std::vector<double>{ 0, 1e8, 1e9, 1e308 }));
        const auto counts = d_stream.stats();
        std::vector<std::uint64_t> values;
        sink_counters<std::uint64_t>::for_each(
            [&](const char*, auto which) { values.push_back(counts.*which); });
        bool is_consistent =
            counts.samples_sent + counts.samples_dropped <= counts.samples_in &&
            d_stream.packet_bytes() > 0 && d_stream.rate() >= 0;
        for (std::size_t i = 0; i < d_last.size(); ++i)
            is_consistent = is_consistent && values[i] >= d_last[i];
        d_last = values;
        std::this_thread::yield();
        return is_consistent;
    }

private:
    sink_engine& d_stream;
    std::mt19937 d_random;
    std::uint64_t d_value = 0;
    std::vector<std::uint64_t> d_last;
};

// Writes the samples of an input in pieces. Most of them begin with a time tag.
class tagged_source
{
public:
    explicit tagged_source(unsigned seed) : d_random(seed) {}

    void start_run() { d_in_run = 0; }
    template <typename write_function>
    void write(std::size_t n, write_function&& write_samples)
    {
        std::vector<rx_time_tag> tags;
        if (d_random() % 4) {
            if (d_random() % 2)
                d_tick += static_cast<std::int64_t>(d_random() % 3000) - 500;
            tags.push_back({ d_in_run,
                             static_cast<std::uint64_t>(d_tick / sample_rate),
                             static_cast<double>(d_tick % sample_rate) / sample_rate });
        }
        for (const auto end = d_in_run + n; d_in_run < end;)
            d_in_run +=
                write_samples(static_cast<std::size_t>(end - d_in_run), d_in_run, tags);
        d_tick += static_cast<std::int64_t>(n);
    }

private:
    std::mt19937 d_random;
    std::int64_t d_tick = sample_rate;
    std::uint64_t d_in_run = 0; // samples
};

void run_random_stream(unsigned seed)
{
    std::mt19937 random(seed);
    receiver listener;
    sink_engine stream(parse_options({ listener.destination() }, random_options(random)),
                       [](const auto&) {});
    background_check user(live_user(stream, seed));
    const auto content = noise(3000);
    std::vector<tagged_source> sources{ tagged_source(seed), tagged_source(seed + 1) };
    std::uint64_t written = 0;
    for (int run = 0; run < 3; ++run) {
        stream.start();
        for (auto& source : sources)
            source.start_run();
        for (auto pieces = random() % 100; pieces; --pieces) {
            const std::size_t input = pieces % inputs;
            sources[input].write(
                1 + random() % content.size(),
                [&](std::size_t n, std::uint64_t first, const auto& tags) {
                    const auto accepted =
                        stream.write(input, raw(content.data()), n, first, tags);
                    if (accepted == 0)
                        BOOST_REQUIRE(stream.wait_for_space(test_deadline()));
                    written += accepted;
                    return accepted;
                });
            listener.receive();
        }
        stream.stop();
        listener.receive();
        const auto counts = stream.counts();
        BOOST_CHECK_EQUAL(counts.samples_in, written);
        BOOST_CHECK_EQUAL(counts.samples_sent + counts.samples_dropped, written);
    }
    BOOST_CHECK(user.finish());
    BOOST_CHECK_GT(listener.checked_packets(), 0u);
}

// Sends one packet; the others stay in the ring.
sink_options almost_stalled(std::int64_t heap_samples, std::int64_t buffer_size)
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

// Starts and stops two tagged inputs while another thread changes settings and reads
// statistics. Eight seeds cover all options. A thread sanitizer would detect a race with
// any of them.
BOOST_AUTO_TEST_CASE(counters_balance_under_live_changes)
{
    for (unsigned seed = 1; seed <= 8; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) run_random_stream(seed);
}

BOOST_AUTO_TEST_CASE(paced_ring_holds_two_bursts)
{
    const receiver listener;
    const auto samples = noise(8 << 20);
    for (const double rate : { 1e6, 4e8, 1e10 }) {
        sink_options o;
        o.rate = rate;
        o.burst_size = 1;
        sink_engine stream(parse_options({ listener.destination() }, o),
                           [](const auto&) {});
        // nothing is sent before start()
        const auto accepted = stream.write(0, raw(samples.data()), samples.size());
        const double packet = static_cast<double>(stream.packet_bytes());
        const double bursts = 2 * pacer::burst_size(1, packet, rate);
        BOOST_CHECK_GE(static_cast<double>(accepted), 0.9 * bursts - 8 * packet);
        BOOST_CHECK_LE(static_cast<double>(accepted), rate / 2 + 20000 + bursts);
    }
}

BOOST_AUTO_TEST_CASE(ring_fill_reports_the_fullest_ring)
{
    const receiver listener;
    const auto samples = noise(4 << 20);
    sink_options o;
    o.num_inputs = 2;
    sink_engine stream(
        parse_options({ listener.destination(), listener.destination() }, o),
        [](const auto&) {});
    const auto write = [&](std::size_t input, std::size_t n) {
        return stream.write(input, raw(samples.data()), n);
    };
    // nothing is sent before start()
    BOOST_CHECK_EQUAL(stream.stats().ring_fill, 0);
    const auto capacity = write(1, samples.size());
    BOOST_REQUIRE_LT(capacity, samples.size());
    BOOST_CHECK_GT(stream.stats().ring_fill, 0.95);
    BOOST_CHECK_LE(stream.stats().ring_fill, 1);
    write(0, capacity / 4);
    BOOST_CHECK_GT(stream.stats().ring_fill, 0.95);
}

// Each stop() times out after two seconds, so they run concurrently.
BOOST_AUTO_TEST_CASE(unfinished_heap_is_counted_when_the_ring_is_full)
{
    const receiver listener;
    const auto samples = noise(1 << 20);
    std::vector<std::unique_ptr<sink_engine>> streams;
    std::vector<std::future<void>> stops;
    for (const std::int64_t heap :
         { 1 << 10, 1 << 20 }) // buffered whole, or sent as it fills
        for (const auto* tail : { "short", "pad", "drop" })
            for (const bool send_stop : { true, false }) {
                auto o = almost_stalled(heap, 1 << 17);
                o.tail = tail;
                o.send_stop = send_stop;
                streams.push_back(std::make_unique<sink_engine>(
                    parse_options({ listener.destination() }, o), [](const auto&) {}));
                auto& stream = *streams.back();
                stream.start();
                stream.write(0, raw(samples.data()), samples.size() - 1000);
                stops.push_back(
                    std::async(std::launch::async, [&stream] { stream.stop(); }));
            }
    for (std::size_t i = 0; i < streams.size(); ++i) {
        stops[i].get();
        BOOST_CHECK_EQUAL(streams[i]->stats().samples_pending, 0u);
    }
}

BOOST_AUTO_TEST_CASE(ring_holds_the_requested_buffer_size)
{
    const receiver listener;
    const auto samples = noise(4 << 20);
    for (const std::uint64_t heap : { 1000, 100000, 400000 })
        for (const std::size_t buffer : { 1000000u, 3u << 20 }) {
            auto o = almost_stalled(static_cast<std::int64_t>(heap),
                                    static_cast<std::int64_t>(buffer));
            o.when_full = "drop";
            sink_engine stream(parse_options({ listener.destination() }, o),
                               [](const auto&) {});
            BOOST_CHECK_EQUAL(stream.write(0, raw(samples.data()), samples.size()),
                              samples.size());
            const auto kept = samples.size() - stream.counts().samples_dropped;
            BOOST_CHECK_LE(kept, buffer + 1472);
            // buffering whole heaps may waste a quarter, and the last heap may not fit
            BOOST_CHECK_GE(kept, buffer * 7 / 10 - heap);
        }
}

// By default, the signal SIGPIPE ends programs that are not written in Python.
BOOST_AUTO_TEST_CASE(process_survives_a_pipe_whose_reader_leaves)
{
    std::string folder = std::filesystem::temp_directory_path() / "spead-XXXXXX";
    BOOST_REQUIRE(mkdtemp(folder.data()));
    const auto pipe = folder + "/stream.pcap";
    BOOST_REQUIRE_EQUAL(mkfifo(pipe.c_str(), 0600), 0);
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    {
        sink_engine stream(parse_options({ pipe }, sink_options()), [](const auto&) {});
        close(reader);
        const auto samples = noise(100000);
        stream.start();
        stream.write(0, raw(samples.data()), samples.size());
        stream.stop();
        BOOST_CHECK_EQUAL(stream.stats().packets_sent, 0u);
        BOOST_CHECK_GT(stream.stats().packets_dropped, 0u);
    }
    unlink(pipe.c_str());
    rmdir(folder.c_str());
}

BOOST_AUTO_TEST_SUITE_END()
