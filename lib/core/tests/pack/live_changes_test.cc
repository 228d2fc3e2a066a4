/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Two inputs whose tags tell of gaps, while another thread sets whatever may be set and
// reads whatever may be read: for a thread sanitizer, and for what a receiver would see.

#include "helpers/packing.h"
#include "helpers/stress.h"
#include "sink_engine.h"

#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>

#include <map>

using namespace gr::spead;
using boost::asio::ip::udp;

namespace {

constexpr std::size_t inputs = 2;
constexpr std::int64_t rate = 1000000;                   // samples a second
constexpr std::size_t first_value = 1, second_value = 3; // in the list of items
constexpr std::uint64_t first_id = 0x3101, second_id = 0x3102;

sink_options options_of(unsigned seed)
{
    std::mt19937 random(seed);
    sink_options o;
    o.num_inputs = inputs;
    o.items = { timestamp(),
                immediate(first_id, "first", { 0 }),
                samples(),
                immediate(second_id, "second", { 0 }) };
    o.heap_samples = pick(random, std::vector<std::int64_t>{ 64, 1000, 20000 });
    o.max_packet_size = pick(random, std::vector<std::int64_t>{ 200, 1472 });
    o.descriptors = pick(random, std::vector<std::string>{ "first_heap", "separate" });
    o.descriptor_interval = 0.001;
    o.sample_rate = exact_rate{ rate };
    o.on_gap = pick(random, std::vector<std::string>{ "realign", "zero_fill" });
    o.when_full = pick(random, std::vector<std::string>{ "block", "drop" });
    o.buffer_size = 200000;
    return o;
}

// What came in cannot be less than what is gone, and no counter runs backwards.
class counter_watch
{
public:
    explicit counter_watch(const sink_engine& stream) : d_stream(stream) {}
    bool look()
    {
        const auto counts = d_stream.counts();
        std::vector<std::uint64_t> now;
        sink_counters<std::uint64_t>::for_each(
            [&](const char*, auto which) { now.push_back(counts.*which); });
        bool grows = true;
        for (std::size_t i = 0; i < d_last.size(); ++i)
            grows = grows && now[i] >= d_last[i];
        d_last = now;
        return grows && counts.samples_sent + counts.samples_dropped <= counts.samples_in;
    }

private:
    const sink_engine& d_stream;
    std::vector<std::uint64_t> d_last;
};

// A user, who cannot leave anything alone.
class meddler
{
public:
    meddler(sink_engine& stream, unsigned seed)
        : d_stream(stream), d_random(seed), d_counters(stream)
    {
    }
    bool operator()()
    {
        ++d_value;
        const auto input = d_value % inputs;
        d_stream.set_items(
            { { first_value, d_value, input }, { second_value, d_value, input } });
        if (d_random() % 4 == 0)
            d_stream.set_rate(pick(d_random, std::vector<double>{ 0, 1e8, 1e9, 1e308 }));
        d_in_use += d_stream.stats().gso + d_stream.stats().zero_copy;
        const bool is_right =
            d_counters.look() && d_stream.packet_bytes() > 0 && d_stream.rate() >= 0;
        std::this_thread::yield();
        return is_right;
    }

private:
    sink_engine& d_stream;
    std::mt19937 d_random;
    counter_watch d_counters;
    std::uint64_t d_value = 0;
    std::uint64_t d_in_use = 0;
};

// Values that were set together are in the same packets, and time does not run back.
class receiver
{
public:
    receiver() { d_socket.non_blocking(true); }
    std::uint16_t port() const { return d_socket.local_endpoint().port(); }
    std::size_t checked() const { return d_checked; }

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
            return; // descriptors alone, or the end of the stream
        ++d_checked;
        BOOST_CHECK_EQUAL(p.get(first_id), p.get(second_id));
        auto& last = d_last[p.get(1) % inputs];
        if (p.get(1) != last.heap)
            BOOST_CHECK_GE(p.get(0x1600), last.end);
        last = { p.get(1), p.get(0x1600) + 1 };
    }
    struct passed {
        std::uint64_t heap = 0;
        std::uint64_t end = 0;
    };
    boost::asio::io_context d_io;
    udp::socket d_socket{ d_io, { boost::asio::ip::address_v4::loopback(), 0 } };
    std::map<std::uint64_t, passed> d_last; // of each input
    std::size_t d_checked = 0;
};

// Samples of an input in pieces, most of which begin with a time.
class tagged_source
{
public:
    explicit tagged_source(unsigned seed) : d_random(seed) {}

    // So many, in any case, however often that takes.
    template <typename writing>
    void give(std::size_t n, writing&& write)
    {
        tick();
        for (const auto end = d_given + n; d_given < end;)
            d_given += write(static_cast<std::size_t>(end - d_given), d_given, d_tags);
        d_tick += static_cast<std::int64_t>(n);
    }
    std::uint64_t given() const { return d_given; }

private:
    void tick()
    {
        d_tags.clear();
        if (d_random() % 4 == 0)
            return;
        if (d_random() % 2)
            d_tick += static_cast<std::int64_t>(d_random() % 3000) - 500;
        d_tags.push_back({ d_given,
                           static_cast<std::uint64_t>(d_tick / rate),
                           static_cast<double>(d_tick % rate) / rate });
    }
    std::mt19937 d_random;
    std::int64_t d_tick = rate;
    std::uint64_t d_given = 0;
    std::vector<time_tag> d_tags;
};

void one_stream(unsigned seed)
{
    receiver to;
    sink_engine stream({ "127.0.0.1:" + std::to_string(to.port()) },
                       options_of(seed),
                       [](const auto&) {});
    stream.start();
    bystander user(meddler(stream, seed));
    const auto content = noise(3000);
    std::vector<tagged_source> sources{ tagged_source(seed), tagged_source(seed + 1) };
    for (int piece = 0; piece < 300; ++piece) {
        const std::size_t input = static_cast<std::size_t>(piece) % inputs;
        sources[input].give(
            content.size() / (1 + input),
            [&](std::size_t n, std::uint64_t first, const std::vector<time_tag>& tags) {
                const auto taken =
                    stream.write(input, raw(content.data()), n, first, tags);
                if (taken == 0)
                    BOOST_REQUIRE(stream.wait_for_space(in_time()));
                return taken;
            });
        to.receive();
    }
    BOOST_CHECK(user.finish());
    stream.set_rate(0);
    stream.stop();
    to.receive();

    const auto given = sources[0].given() + sources[1].given();
    const auto counts = stream.counts();
    BOOST_CHECK_EQUAL(counts.samples_in, given);
    BOOST_CHECK_EQUAL(counts.samples_sent + counts.samples_dropped, given);
    BOOST_CHECK_GT(to.checked(), 0u);
}

} // namespace

BOOST_AUTO_TEST_SUITE(live_changes)

BOOST_AUTO_TEST_CASE(two_tagged_inputs_go_on_while_everything_is_set_and_read)
{
    for (unsigned seed = 1; seed <= 20; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) one_stream(seed);
}

BOOST_AUTO_TEST_SUITE_END()
