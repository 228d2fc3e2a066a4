/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/packing.h"
#include "helpers/scripted_transport.h"
#include "helpers/stress.h"
#include "send/sender.h"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <future>
#include <map>
#include <optional>
#include <set>

using namespace gr::spead;

namespace {

using script = std::deque<scripted_transport::step>;

struct sent_stream {
    packing p;
    stream_config config;
    boost::asio::io_context io{ 1 };
    sink_counter_set packed;
    sender_counters sent;
    std::vector<std::string> log;
    rate_limited_log lines{ [this](const std::string& line) { log.push_back(line); } };
    packet_ring ring;
    ring_wait space;
    scripted_transport network{ io };
    input_packer packer;
    std::optional<sender> out;

    explicit sent_stream(const sink_options& options = {},
                         packing how = {},
                         std::size_t slots = 2048)
        : p(how),
          config(p.config()),
          ring(slots, config.regular.packet_bytes()),
          packer(config, ring, packed, [this] { out->wake(); })
    {
        out.emplace(
            io,
            std::vector<packet_ring*>{ &ring },
            network,
            sent,
            options,
            [this] { space.notify(); },
            lines);
    }

    // Returns the datagrams that should be sent. They are queued before the thread
    // starts: so batches do not depend on timing.
    std::vector<bytes> run(std::size_t samples,
                           std::chrono::milliseconds time = std::chrono::seconds(60))
    {
        const auto data = noise(samples);
        packer.start_run();
        BOOST_REQUIRE_EQUAL(packer.write(raw(data.data()), samples), samples);
        BOOST_REQUIRE(end_stream(packer));
        out->start();
        out->finish(sender::clock::now() + time);
        return pack(p, data);
    }

    std::string logged()
    {
        out.reset();
        lines.flush();
        std::string all; // one line or several: that depends on timing
        for (const auto& line : log)
            all += (all.empty() ? "" : "; ") + line;
        return all;
    }

    std::uint64_t errors(int error) const
    {
        const auto counts = sent.errors.by_name();
        const auto found = counts.find(strerrorname_np(error));
        return found == counts.end() ? 0 : found->second;
    }
    void check_balance(std::size_t samples) const
    {
        BOOST_CHECK_EQUAL(packed.samples_in.get(), samples);
        BOOST_CHECK_EQUAL(sent.samples_sent.get() + sent.samples_dropped.get() +
                              packed.samples_dropped.get(),
                          samples);
    }
};

constexpr std::size_t some = 8192 * 20 + 100;

} // namespace

BOOST_AUTO_TEST_SUITE(sending)

BOOST_AUTO_TEST_CASE(queue_leaves_in_order_and_in_full_batches)
{
    for (const std::size_t packet : { 200u, 1472u, 8972u }) {
        packing how;
        how.max_packet = packet;
        how.descriptors = false;
        sent_stream s({}, how);
        const auto expected = s.run(some);
        BOOST_CHECK(s.network.datagrams == expected);
        BOOST_CHECK_EQUAL(s.sent.packets_sent.get(), expected.size());
        BOOST_CHECK_EQUAL(s.sent.heaps_sent.get(), 21u);
        s.check_balance(some);
        const auto size = expected.front().size();
        const auto message = std::min<std::size_t>(65469 / size, 64);
        BOOST_CHECK_EQUAL(*std::max_element(s.network.packets_per_message.begin(),
                                            s.network.packets_per_message.end()),
                          message);
        // the tail and the end of the stream may need a send of their own
        BOOST_CHECK_LE(s.network.send_calls, expected.size() / (8 * message) + 2);
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_lost_when_sends_fail_for_a_moment)
{
    const struct {
        script steps;
        std::map<int, std::uint64_t> errors;
        const char* logged;
    } table[] = {
        // full socket buffer
        { { { 0, EAGAIN }, { 1, 0 }, { 0, EAGAIN } }, { { EAGAIN, 2 } }, "" },
        // next hop being resolved
        { { { 0, transport::error_next_hop_pending },
            { 1, 0 },
            { 0, transport::error_next_hop_pending } },
          {},
          "" },
        // partial sends
        { { { 1, 0 }, { 2, 0 }, { 0, EINTR }, { 1, 0 } }, {}, "" },
        // full queue of the kernel: its retries do not count as those of other errors
        { { { 0, ENOBUFS }, { 0, ENOBUFS }, { 0, ENOMEM }, { 0, ECONNREFUSED } },
          { { ENOBUFS, 2 }, { ENOMEM, 1 }, { ECONNREFUSED, 1 } },
          "sending failed: No buffer space available; sending failed: Cannot allocate "
          "memory; sending failed: Connection refused" },
        { { { 0, ECONNREFUSED }, { 1, 0 }, { 0, ECONNREFUSED } },
          { { ECONNREFUSED, 2 } },
          "sending failed: Connection refused" },
    };
    for (const auto& row : table) {
        sent_stream s;
        s.network.script = row.steps;
        BOOST_CHECK(s.run(some) == s.network.datagrams);
        for (const auto& [error, count] : row.errors)
            BOOST_CHECK_EQUAL(s.errors(error), count);
        BOOST_CHECK_EQUAL(s.sent.errors.by_name().size(), row.errors.size());
        s.check_balance(some);
        BOOST_CHECK_EQUAL(s.logged(), row.logged);
    }
}

BOOST_AUTO_TEST_CASE(outage_is_counted_and_logged)
{
    for (const int error : { ENETUNREACH, EMSGSIZE }) {
        packing how; // each packet is a heap and a message
        how.heap_samples = 60000;
        how.max_packet = 65507;
        sent_stream s({}, how);
        const std::size_t samples = 21 * how.heap_samples;
        s.network.script.assign(8, { 0, error }); // four attempts each
        const auto expected = s.run(samples);
        BOOST_CHECK(std::vector<bytes>(expected.begin() + 2, expected.end()) ==
                    s.network.datagrams);
        BOOST_CHECK_EQUAL(s.sent.packets_dropped.get(), 2u);
        BOOST_CHECK_EQUAL(s.sent.heaps_dropped.get(), 2u);
        BOOST_CHECK_EQUAL(s.sent.heaps_sent.get(), 19u);
        BOOST_CHECK_EQUAL(s.errors(error), 8u);
        s.check_balance(samples);
        const std::string first = "sending failed: " + std::string(std::strerror(error));
        const auto logged = s.logged();
        BOOST_CHECK_EQUAL(logged.substr(0, first.size()), first);
        BOOST_CHECK(logged.find("2 packets were dropped") != logged.npos);
    }
}

BOOST_AUTO_TEST_CASE(dropped_messages_count_towards_rate)
{
    sink_options options;
    options.rate = 1; // nothing leaves for hours after the first burst
    sent_stream s(options);
    s.network.script.assign(1000, { 0, ENETUNREACH });
    s.run(some, std::chrono::milliseconds(50));
    BOOST_CHECK_LE(s.errors(ENETUNREACH), 4u * (options.burst_size / 1424 + 1));
    s.check_balance(some);
}

BOOST_AUTO_TEST_CASE(icmp_errors_are_counted_and_logged)
{
    sent_stream s;
    s.network.script = { { 1, ECONNREFUSED }, { 1, ECONNREFUSED } };
    s.network.icmp_errors.count = 2;
    s.network.icmp_errors.causes[ECONNREFUSED] = true;
    s.network.icmp_errors.causes[EHOSTUNREACH] = true;
    BOOST_CHECK(s.run(some) == s.network.datagrams);
    BOOST_CHECK_EQUAL(s.sent.icmp_errors.get(), 2u);
    BOOST_CHECK_EQUAL(
        s.logged(),
        "sending failed: Connection refused; sending failed: No route to host");
}

BOOST_AUTO_TEST_CASE(segmentation_is_disabled_after_three_refusals)
{
    for (const int error : { EIO, EINVAL, EOPNOTSUPP })
        for (const std::size_t refusals : { 2u, 1000u }) {
            sent_stream s;
            s.network.refuse_segmented = error;
            s.network.refusals_left = refusals;
            BOOST_CHECK(s.run(some) == s.network.datagrams);
            BOOST_CHECK_EQUAL(s.sent.gso_refused.get(), std::min(refusals, 3ul));
            BOOST_CHECK_EQUAL(s.out->gso(), refusals < 3);
            s.check_balance(some);
        }
}

BOOST_AUTO_TEST_CASE(rest_is_dropped_and_counted_at_deadline)
{
    sent_stream s;
    s.network.script.assign(1000000, { 0, ENOBUFS });
    s.run(some, std::chrono::milliseconds(50));
    BOOST_CHECK_EQUAL(s.sent.packets_sent.get(), 0u);
    BOOST_CHECK_EQUAL(s.sent.heaps_dropped.get(), 21u);
    BOOST_CHECK_EQUAL(s.ring.released(), s.ring.published());
    s.check_balance(some);
}

BOOST_AUTO_TEST_CASE(paced_stream_leaves_in_bursts)
{
    sink_options options;
    options.rate = 5e6;
    options.burst_size = 4000;
    sent_stream s(options);
    BOOST_CHECK(s.run(some) == s.network.datagrams);
    auto packet = s.network.datagrams.begin();
    for (const auto packets : s.network.packets_per_message) {
        std::size_t message_bytes = 0;
        for (std::size_t i = 0; i < packets; ++i)
            message_bytes += packet++->size();
        BOOST_CHECK_LE(message_bytes, 2 * options.burst_size);
    }
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// A stream into a network that reads packets in the ring after it has taken them.
struct in_flight_stream : sent_stream {
    static constexpr std::size_t slots = 64;
    const std::vector<std::int8_t> samples = noise(8 * slots * 1400); // several laps
    std::size_t written = 0;

    explicit in_flight_stream(const sink_options& options = {})
        : sent_stream(options, {}, slots)
    {
        network.keeps_in_flight = true;
        packer.start_run();
    }

    std::size_t write()
    {
        const auto taken =
            packer.write(raw(samples.data() + written), samples.size() - written);
        written += taken;
        return taken;
    }
    // In the end the packer waits, and the sender has nothing to do.
    void fill()
    {
        while (write())
            ;
        BOOST_REQUIRE_LT(written, samples.size());
        await([&] { return packets_done() == ring.published(); });
        ring.packer_waits.announce();
    }
    void finish_stream()
    {
        release_at_once();
        for (bool ended = false; !ended;) {
            const auto mark = ring.released();
            const auto taken = write();
            ended = written == samples.size() && end_stream(packer);
            if (!taken && !ended)
                BOOST_REQUIRE_MESSAGE(wait_for_space(space, ring, mark),
                                      "a wake-up was lost");
        }
        BOOST_CHECK(stop_in_time());
        BOOST_CHECK_EQUAL(network.overwritten, 0u);
        check_balance(samples.size());
    }
    void check_all_arrived() const
    {
        BOOST_CHECK(network.datagrams == pack(p, samples));
        BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 0u);
    }
    std::uint64_t packets_done() const // each takes one slot
    {
        return sent.packets_sent.get() + sent.packets_dropped.get();
    }
    void report(std::size_t messages)
    {
        boost::asio::post(io, [this, messages] { network.report(messages); });
    }
    void release_at_once() // all that is held, and all that will be sent
    {
        boost::asio::post(io, [this] {
            network.keeps_in_flight = false;
            network.report(network.in_flight.size());
        });
    }
    // Asks on the thread of the sender, when that has nothing to do.
    template <typename question>
    auto ask(question&& q)
    {
        std::promise<decltype(q())> answer;
        auto future = answer.get_future();
        boost::asio::post(io, [&] { answer.set_value(q()); });
        BOOST_REQUIRE(future.wait_for(test_timeout) == std::future_status::ready);
        return future.get();
    }
    template <typename condition>
    static void await(condition&& c)
    {
        const auto end = test_deadline();
        while (!c()) {
            BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::yield();
        }
    }
    bool stop_in_time()
    {
        const auto deadline = test_deadline();
        out->finish(deadline);
        return sender::clock::now() < deadline;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(messages_in_flight, in_flight_stream)

BOOST_AUTO_TEST_CASE(slots_are_released_when_messages_are_reported)
{
    out->start();
    fill();
    // a report of something else releases nothing
    boost::asio::post(io, [&] {
        network.icmp_errors.count = 1;
        network.report(0);
    });
    await([&] { return sent.icmp_errors.get() == 1; });
    BOOST_CHECK_EQUAL(ring.released(), 0u);

    const auto positions = ask([&] {
        std::vector<std::uint64_t> all;
        for (const auto& one : network.in_flight)
            all.push_back(one.position);
        return all;
    });
    BOOST_REQUIRE_GT(positions.size(), 1u);
    for (std::size_t i = 1; i < positions.size(); ++i) {
        report(1);
        await([&] { return ring.released() == positions[i]; });
        BOOST_CHECK(ask([&] { return bool(network.report_handler); }));
    }
    for (int laps = 0; laps < 3; ++laps) { // the packer is woken
        const auto mark = ring.released();
        report(1000);
        BOOST_CHECK(wait_for_space(space, ring, mark));
        await([&] { return ring.released() == ring.published(); });
        BOOST_CHECK(!ask([&] { return bool(network.report_handler); }));
        fill();
    }
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(paced_stream_releases_slots_when_much_is_in_flight)
{
    sink_options slow;
    slow.rate = 1000;
    slow.burst_size = 8 * 1400;
    in_flight_stream s(slow);
    s.ring.set_limit(16); // a queue much shorter than the memory
    s.network.unread_reports = slots;
    while (s.write())
        ;
    s.out->start();
    await([&] { return s.ring.released() > 0; });
    BOOST_CHECK_LT(s.packets_done(), s.ring.published());
    s.out->finish(sender::clock::now());
}

BOOST_AUTO_TEST_CASE(messages_stay_in_flight_over_stop_and_start)
{
    out->start();
    fill();
    for (int i = 0; i < 3; ++i) {
        BOOST_CHECK(stop_in_time()); // does not wait for them
        BOOST_CHECK_EQUAL(ring.released(), 0u);
        BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 0u);
        out->start();
        BOOST_CHECK(ask([&] { return bool(network.report_handler); }));
    }
    // reported while nothing runs
    BOOST_CHECK(stop_in_time());
    release_at_once();
    out->start();
    await([&] { return ring.released() == ring.published(); });
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(dropped_packets_wait_for_those_in_flight)
{
    network.script.assign(1000000, { 0, ENOBUFS });
    network.script.front() = { 1, 0 };
    while (write())
        ;
    out->start();
    await([&] { return sent.packets_sent.get() > 0; });
    out->finish(sender::clock::now());
    BOOST_CHECK_EQUAL(packets_done(), ring.published());
    BOOST_CHECK_GT(sent.packets_dropped.get(), 0u);
    BOOST_CHECK_EQUAL(ring.released(), 0u);

    network.script.clear();
    out->start();
    finish_stream();
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// Each packet is one that was packed, and heaps_sent counts those of which all arrived.
void check_datagrams(const packing& p,
                     const std::vector<bytes>& datagrams,
                     const std::vector<std::int8_t>& samples,
                     std::uint64_t heaps_sent)
{
    // a tail that is to be short is padded once a part of it has left
    packing padded = p;
    padded.tail = tail_policy::pad;
    std::set<bytes> expected;
    for (const auto& how : { p, padded })
        for (auto& datagram : pack(how, samples))
            expected.insert(std::move(datagram));

    std::map<std::uint64_t, std::uint64_t> bytes_missing; // by heap
    std::uint64_t whole = 0;
    for (const auto& datagram : datagrams) {
        BOOST_CHECK_EQUAL(expected.count(datagram), 1u);
        const auto packet = decode(datagram);
        auto& missing = bytes_missing.emplace(packet.get(1), packet.get(2)).first->second;
        missing -= packet.get(4);
        whole += !missing && !packet.find(6);
    }
    BOOST_CHECK_EQUAL(whole, heaps_sent);
}

void run_failing_stream(unsigned seed)
{
    std::mt19937 random(seed);
    packing p;
    p.heap_samples = pick(random, std::vector<std::uint64_t>{ 1, 8, 100, 1000, 5000 });
    p.max_packet = pick(random, std::vector<std::size_t>{ 104, 200, 1472 });
    p.tail = pick(
        random, std::array{ tail_policy::shorten, tail_policy::pad, tail_policy::drop });
    p.when_full = pick(random, std::array{ full_policy::block, full_policy::drop });
    p.descriptors = random() % 2;
    p.pad = random() % 2;
    const auto slots = p.config().min_ring_slots() + random() % 40;
    sink_options options;
    options.burst_size = 1 + random() % 4000;
    sent_stream s(options, p, slots);
    for (const auto trouble = random() % 30; s.network.script.size() < 10000;)
        if (random() % 100 < trouble)
            s.network.script.push_back({ random() % 3,
                                         pick(random,
                                              std::array{ EAGAIN,
                                                          ENOBUFS,
                                                          ECONNREFUSED,
                                                          EINTR,
                                                          ENETUNREACH,
                                                          EIO,
                                                          EMSGSIZE }) });
        else
            s.network.script.push_back({ transport::max_messages, 0 });
    background_check watch([&] {
        const auto gone = s.sent.samples_sent.get() + s.sent.samples_dropped.get() +
                          s.packed.samples_dropped.get();
        std::this_thread::sleep_for(20us); // leaves CPU time to the stream
        return gone <= s.packed.samples_in.get();
    });

    const auto samples =
        noise(std::min<std::uint64_t>(p.heap_samples * 200 + random() % 1000, 60000));
    const auto fewest = std::min(slots, s.config.min_slots_in_use(slots));
    s.packer.start_run();
    s.out->start();
    const std::size_t largest = 1 + random() % 3000;
    for (std::size_t at = 0; at < samples.size();) {
        const auto mark = s.ring.released();
        const auto n = std::min<std::size_t>(1 + random() % largest, samples.size() - at);
        const auto taken = s.packer.write(raw(samples.data() + at), n);
        at += taken;
        if (!taken)
            BOOST_REQUIRE_MESSAGE(wait_for_space(s.space, s.ring, mark),
                                  "a wake-up was lost");
        if (random() % 16 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
        if (random() % 32 == 0) {
            s.ring.set_limit(fewest + random() % (slots - fewest + 1));
            s.out->set_rate(pick(random, std::array{ 0., 0., 3e7, 1e308 }));
        }
    }
    s.out->set_rate(0);
    for (auto mark = s.ring.released(); !end_stream(s.packer); mark = s.ring.released())
        BOOST_REQUIRE_MESSAGE(wait_for_space(s.space, s.ring, mark),
                              "a wake-up was lost at the end");
    s.out->finish(test_deadline());

    BOOST_CHECK(watch.finish());
    s.check_balance(samples.size());
    BOOST_CHECK_EQUAL(s.sent.packets_sent.get(), s.network.datagrams.size());
    check_datagrams(p, s.network.datagrams, samples, s.sent.heaps_sent.get());
}

} // namespace

BOOST_AUTO_TEST_SUITE(stress)

// A packer, a sender that fails at random, and a tiny ring in between. Sleeps vary how
// the threads meet. Sixty seeds take less than a second and reach every error.
BOOST_AUTO_TEST_CASE(random_failures_neither_hang_nor_miscount)
{
    for (unsigned seed = 1; seed <= 60; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) run_failing_stream(seed);
}

BOOST_AUTO_TEST_SUITE_END()
