/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Two threads, tiny rings and a network that fails at random: nothing hangs, nothing is
// miscounted, and whole heaps carry the samples that went in. What sleeps here does so to
// make the threads meet in ever new ways.

#include "helpers/packing.h"
#include "helpers/scripted_transport.h"
#include "helpers/stress.h"
#include "send/sender.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

// Fails in every way a socket can, at random; what it takes is remembered.
struct chaotic_transport : transport {
    boost::asio::io_context& io;
    std::mt19937 random;
    double trouble;
    std::vector<bytes> datagrams;

    chaotic_transport(boost::asio::io_context& context, unsigned seed, double how_often)
        : io(context), random(seed), trouble(how_often)
    {
    }
    send_result send(const message* messages, std::size_t n) noexcept override
    {
        const bool fails = std::uniform_real_distribution<>(0, 1)(random) < trouble;
        const std::size_t go =
            fails ? std::uniform_int_distribution<std::size_t>(0, n - 1)(random) : n;
        for (std::size_t i = 0; i < go; ++i)
            for (auto& packet : packets_of(messages[i]))
                datagrams.push_back(std::move(packet));
        static constexpr int errors[] = { EAGAIN, EAGAIN,      ENOBUFS, ECONNREFUSED,
                                          EINTR,  ENETUNREACH, EIO,     EMSGSIZE };
        return { go, go ? 0 : errors[random() % std::size(errors)] };
    }
    void async_wait_writable(std::function<void()> handler) override
    {
        boost::asio::post(io, std::move(handler));
    }
    icmp_errors take_reports() noexcept override { return {}; }
    void async_wait_reports(std::function<void()>) override {}
};

// Whole heaps hold the samples of their timestamp.
void check_heaps(const packing& p,
                 const std::vector<bytes>& datagrams,
                 const std::vector<std::int8_t>& samples,
                 std::uint64_t heaps_sent)
{
    std::map<std::uint64_t, std::vector<packet>> packets;
    for (const auto& d : datagrams) {
        auto decoded = decode(d);
        if (!decoded.find(6))
            packets[decoded.get(1)].push_back(std::move(decoded));
    }
    std::uint64_t whole = 0;
    for (const auto& [counter, parts] : packets) {
        heap h;
        for (const auto& part : parts) {
            if (part.get(3) != h.payload.size())
                break; // a packet was given up
            h.payload.insert(h.payload.end(), part.payload.begin(), part.payload.end());
            h.pointers.insert(
                h.pointers.end(), part.pointers.begin(), part.pointers.end());
        }
        if (h.payload.size() != parts.front().get(2))
            continue;
        ++whole;
        const auto content = h.content(0x3300);
        BOOST_REQUIRE(content);
        const auto start = (counter - 1) * p.heap_samples;
        BOOST_CHECK_EQUAL(h.immediate(0x1600), 1000 + start);
        for (std::size_t i = 0; i < content->size(); ++i) {
            const auto expected =
                start + i < samples.size() ? samples[start + i] : std::int8_t{ 0 };
            if (static_cast<std::int8_t>((*content)[i]) != expected) {
                BOOST_ERROR("heap " << counter << " differs at sample " << i);
                break;
            }
        }
    }
    BOOST_CHECK_EQUAL(whole, heaps_sent);
}

void one_chaotic_stream(unsigned seed)
{
    std::mt19937 random(seed);
    packing p;
    p.heap_samples = pick(random, std::vector<std::uint64_t>{ 1, 8, 100, 1000, 5000 });
    p.max_packet = pick(random, std::vector<std::size_t>{ 104, 200, 1472 });
    p.tail = pick(random,
                  std::vector<tail_policy>{
                      tail_policy::shorten, tail_policy::pad, tail_policy::drop });
    p.when_full =
        pick(random, std::vector<full_policy>{ full_policy::block, full_policy::drop });
    p.descriptors = random() % 2;
    p.pad = random() % 2;
    const auto config = p.config();
    const auto slots = config.min_ring_slots() + random() % 40;

    sink_options options;
    options.burst_size = 1 + random() % 4000;
    boost::asio::io_context io(1);
    packet_ring ring(slots, config.regular.packet_bytes());
    sink_counter_set packed;
    sender_counters sent;
    ring_wait space;
    rate_limited_log lines([](auto&) {});
    chaotic_transport network(
        io, seed, pick(random, std::vector<double>{ 0, 0.05, 0.3 }));
    sender out(
        io,
        std::vector<packet_ring*>{ &ring },
        network,
        sent,
        options,
        [&] { space.notify(); },
        lines);
    input_packer packer(config, ring, packed, [&] { out.wake(); });
    balance_watch watch([&] {
        sink_counters<std::uint64_t> now;
        now.samples_sent = sent.samples_sent.get();
        now.samples_dropped = sent.samples_dropped.get() + packed.samples_dropped.get();
        now.samples_in = packed.samples_in.get();
        return now;
    });

    const auto samples =
        noise(std::min<std::uint64_t>(p.heap_samples * 200 + random() % 1000, 60000));
    const auto wait = [&](std::uint64_t mark) {
        return wait_for_space(space, ring, mark);
    };

    packer.start_run();
    out.start();
    const std::size_t largest = 1 + random() % 3000;
    for (std::size_t at = 0; at < samples.size();) {
        const auto mark = ring.released();
        const auto n = std::min<std::size_t>(1 + random() % largest, samples.size() - at);
        const auto taken = packer.write(raw(samples.data() + at), n);
        at += taken;
        if (!taken)
            BOOST_REQUIRE_MESSAGE(wait(mark), "a wake-up was lost, seed " << seed);
        if (random() % 16 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
        if (random() % 32 == 0) {
            const auto most =
                slots - std::min(slots, packer.config().min_slots_in_use(slots));
            ring.set_limit(std::min(slots, packer.config().min_slots_in_use(slots)) +
                           (most ? random() % (most + 1) : 0));
            out.set_rate(pick(random, std::vector<double>{ 0, 0, 3e7, 1e308 }));
        }
    }
    out.set_rate(0);
    for (auto mark = ring.released(); !end_stream(packer); mark = ring.released())
        BOOST_REQUIRE_MESSAGE(wait(mark), "a wake-up was lost at the end, " << seed);
    out.finish(sender::clock::now() + bound);

    BOOST_CHECK(watch.finish());
    BOOST_CHECK_EQUAL(packed.samples_in.get(), samples.size());
    BOOST_CHECK_EQUAL(sent.samples_sent.get() + sent.samples_dropped.get() +
                          packed.samples_dropped.get(),
                      samples.size());
    BOOST_CHECK_EQUAL(sent.packets_sent.get(), network.datagrams.size());
    check_heaps(p, network.datagrams, samples, sent.heaps_sent.get());
}

} // namespace

BOOST_AUTO_TEST_SUITE(stress)

BOOST_AUTO_TEST_CASE(a_network_that_fails_at_random_neither_hangs_nor_miscounts)
{
    for (unsigned seed = 1; seed <= 60; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) one_chaotic_stream(seed);
}

BOOST_AUTO_TEST_SUITE_END()
