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
    packer_config config;
    boost::asio::io_context io{ 1 };
    sink_counter_set packed;
    sender_counters sent;
    std::vector<std::string> log_lines;
    rate_limited_log log{ [this](const std::string& line) {
        log_lines.push_back(line);
    } };
    packet_ring ring;
    ring_wait space;
    scripted_transport network{ io };
    input_packer packer;
    std::optional<sender> out;

    explicit sent_stream(const sender_config& settings = {},
                         packing pack_options = {},
                         std::size_t slots = 2048)
        : p(pack_options),
          config(p.config()),
          ring(slots, config.regular.packet_bytes()),
          packer(config, ring, packed, [this] { out->wake(); })
    {
        out.emplace(
            io,
            std::vector<packet_ring*>{ &ring },
            network,
            sent,
            settings,
            [this] { space.notify(); },
            log);
    }

    // Returns the expected datagrams. All samples are queued before the thread starts, so
    // that batches do not depend on timing.
    std::vector<bytes> run(std::size_t samples,
                           std::chrono::milliseconds timeout = std::chrono::seconds(60))
    {
        const auto data = noise(samples);
        packer.start_run();
        BOOST_REQUIRE_EQUAL(packer.write(raw(data.data()), samples), samples);
        BOOST_REQUIRE(end_stream(packer));
        out->start();
        out->finish(sender::clock::now() + timeout);
        return pack(p, data);
    }

    std::string logged()
    {
        out.reset();
        log.flush();
        std::string all; // joined, since the number of lines depends on timing
        for (const auto& line : log_lines)
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

constexpr std::size_t n_samples = 8192 * 20 + 100;

} // namespace

BOOST_AUTO_TEST_SUITE(sending)

BOOST_AUTO_TEST_CASE(packets_are_sent_in_order_and_in_full_batches)
{
    for (const std::size_t packet : { 200u, 1472u, 8972u }) {
        packing pack_options;
        pack_options.max_packet = packet;
        pack_options.descriptors = false;
        sent_stream s({}, pack_options);
        const auto expected = s.run(n_samples);
        BOOST_CHECK(s.network.datagrams == expected);
        BOOST_CHECK_EQUAL(s.sent.packets_sent.get(), expected.size());
        BOOST_CHECK_EQUAL(s.sent.heaps_sent.get(), 21u);
        s.check_balance(n_samples);
        const auto size = expected.front().size();
        const auto message = std::min<std::size_t>(65469 / size, 64);
        BOOST_CHECK_EQUAL(*std::max_element(s.network.packets_per_message.begin(),
                                            s.network.packets_per_message.end()),
                          message);
        // the last heap and the end of the stream may need separate sends
        BOOST_CHECK_LE(s.network.send_calls, expected.size() / (8 * message) + 2);
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_lost_if_sends_fail_temporarily)
{
    const struct {
        script steps;
        std::map<int, std::uint64_t> errors;
        const char* logged;
    } table[] = {
        // full socket buffer
        { { { 0, EAGAIN }, { 1, 0 }, { 0, EAGAIN } }, { { EAGAIN, 2 } }, "" },
        // next hop not resolved yet
        { { { 0, transport::error_retry_later },
            { 1, 0 },
            { 0, transport::error_retry_later } },
          {},
          "" },
        // partial sends
        { { { 1, 0 }, { 2, 0 }, { 0, EINTR }, { 1, 0 } }, {}, "" },
        // full device queue: its retries are not counted with those of other errors
        { { { 0, ENOBUFS }, { 0, ENOBUFS }, { 0, ENOMEM }, { 0, ECONNREFUSED } },
          { { ENOBUFS, 2 }, { ENOMEM, 1 }, { ECONNREFUSED, 1 } },
          "sending failed: No buffer space available; sending failed: Cannot allocate "
          "memory; sending failed: Connection refused (no program listens there, or it "
          "has stopped)" },
        { { { 0, ECONNREFUSED }, { 1, 0 }, { 0, ECONNREFUSED } },
          { { ECONNREFUSED, 2 } },
          "sending failed: Connection refused (no program listens there, or it has "
          "stopped)" },
    };
    for (const auto& row : table) {
        sent_stream s;
        s.network.script = row.steps;
        BOOST_CHECK(s.run(n_samples) == s.network.datagrams);
        for (const auto& [error, count] : row.errors)
            BOOST_CHECK_EQUAL(s.errors(error), count);
        BOOST_CHECK_EQUAL(s.sent.errors.by_name().size(), row.errors.size());
        s.check_balance(n_samples);
        BOOST_CHECK_EQUAL(s.logged(), row.logged);
    }
}

BOOST_AUTO_TEST_CASE(outage_is_counted_and_logged)
{
    for (const int error : { ENETUNREACH, EMSGSIZE }) {
        packing pack_options; // a packet per heap, and a message per packet
        pack_options.heap_samples = 60000;
        pack_options.max_packet = 65507;
        sent_stream s({}, pack_options);
        const std::size_t samples = 21 * pack_options.heap_samples;
        s.network.script.assign(8, { 0, error }); // two messages, four attempts each
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

BOOST_AUTO_TEST_CASE(dropped_messages_count_towards_the_rate)
{
    sender_config settings;
    settings.rate = 1; // nothing is sent for hours after the first burst
    sent_stream s(settings);
    s.network.script.assign(1000, { 0, ENETUNREACH });
    s.run(n_samples, std::chrono::milliseconds(50));
    BOOST_CHECK_LE(s.errors(ENETUNREACH), 4u * (settings.burst_bytes / 1424 + 1));
    s.check_balance(n_samples);
}

BOOST_AUTO_TEST_CASE(icmp_errors_are_counted_and_logged)
{
    sent_stream s;
    s.network.script = { { 1, ECONNREFUSED }, { 1, ECONNREFUSED } };
    s.network.icmp_errors.count = 2;
    s.network.icmp_errors.causes[ECONNREFUSED] = true;
    s.network.icmp_errors.causes[EHOSTUNREACH] = true;
    BOOST_CHECK(s.run(n_samples) == s.network.datagrams);
    BOOST_CHECK_EQUAL(s.sent.icmp_errors.get(), 2u);
    BOOST_CHECK_EQUAL(
        s.logged(),
        "sending failed: Connection refused (no program listens there, or it has "
        "stopped); sending failed: No route to host");
}

BOOST_AUTO_TEST_CASE(segmentation_is_disabled_after_three_refusals)
{
    for (const int error : { EIO, EINVAL, EOPNOTSUPP })
        for (const std::size_t refusals : { 2u, 1000u }) {
            sent_stream s;
            s.network.refuse_segmented = error;
            s.network.refusals_left = refusals;
            BOOST_CHECK(s.run(n_samples) == s.network.datagrams);
            BOOST_CHECK_EQUAL(s.sent.gso_refused.get(), std::min(refusals, 3ul));
            BOOST_CHECK_EQUAL(s.out->gso(), refusals < 3);
            s.check_balance(n_samples);
        }
}

BOOST_AUTO_TEST_CASE(unsent_packets_are_dropped_and_counted_at_the_deadline)
{
    sent_stream s;
    s.network.script.assign(1000000, { 0, ENOBUFS });
    s.run(n_samples, std::chrono::milliseconds(50));
    BOOST_CHECK_EQUAL(s.sent.packets_sent.get(), 0u);
    BOOST_CHECK_EQUAL(s.sent.heaps_dropped.get(), 21u);
    BOOST_CHECK_EQUAL(s.ring.released(), s.ring.published());
    s.check_balance(n_samples);
}

BOOST_AUTO_TEST_CASE(paced_stream_is_sent_in_bursts)
{
    sender_config settings;
    settings.rate = 5e6;
    settings.burst_bytes = 4000;
    sent_stream s(settings);
    BOOST_CHECK(s.run(n_samples) == s.network.datagrams);
    auto packet = s.network.datagrams.begin();
    for (const auto packets : s.network.packets_per_message) {
        std::size_t message_bytes = 0;
        for (std::size_t i = 0; i < packets; ++i)
            message_bytes += packet++->size();
        BOOST_CHECK_LE(message_bytes, 2 * settings.burst_bytes);
    }
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// A stream whose messages stay in flight after send(), like zero-copy sends. The fuzz
// target of the sender tests that their slots are released when they are reported, not
// before.
struct in_flight_stream : sent_stream {
    static constexpr std::size_t slots = 64;
    const std::vector<std::int8_t> samples =
        noise(8 * slots * 1400); // several laps of the ring
    std::size_t written = 0;

    explicit in_flight_stream(const sender_config& settings = {})
        : sent_stream(settings, {}, slots)
    {
        network.keeps_in_flight = true;
        packer.start_run();
    }

    std::size_t write()
    {
        const auto accepted =
            packer.write(raw(samples.data() + written), samples.size() - written);
        written += accepted;
        return accepted;
    }
    // Fills the ring, until the packer waits and the sender is idle.
    void fill()
    {
        while (write())
            ;
        BOOST_REQUIRE_LT(written, samples.size());
        await([&] { return packets_done() == ring.published(); });
        ring.packer_waits.announce();
    }
    // Checks that everything arrives.
    void finish_stream()
    {
        end_in_flight();
        for (bool ended = false; !ended;) {
            const auto mark = ring.released();
            const auto accepted = write();
            ended = written == samples.size() && end_stream(packer);
            if (!accepted && !ended)
                BOOST_REQUIRE_MESSAGE(wait_for_space(space, ring, mark),
                                      "a wake-up was lost");
        }
        BOOST_CHECK(stop_in_time());
        BOOST_CHECK_EQUAL(network.overwritten, 0u);
        BOOST_CHECK(network.datagrams == pack(p, samples));
        BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 0u);
        check_balance(samples.size());
    }
    std::uint64_t packets_done() const // each takes one slot
    {
        return sent.packets_sent.get() + sent.packets_dropped.get();
    }
    // Reports all messages in flight; later ones are not kept in flight.
    void end_in_flight()
    {
        boost::asio::post(io, [this] {
            network.keeps_in_flight = false;
            network.report(network.in_flight.size());
        });
    }
    // Evaluates a function on the sender thread, when it is idle.
    template <typename function>
    auto evaluate_on_sender(function&& f)
    {
        std::promise<decltype(f())> result;
        auto future = result.get_future();
        boost::asio::post(io, [&] { result.set_value(f()); });
        BOOST_REQUIRE(future.wait_for(test_timeout) == std::future_status::ready);
        return future.get();
    }
    template <typename condition>
    static void await(condition&& is_met)
    {
        const auto end = test_deadline();
        while (!is_met()) {
            BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::yield();
        }
    }
    // Stops the sender. Returns whether it stopped before the deadline.
    bool stop_in_time()
    {
        const auto deadline = test_deadline();
        out->finish(deadline);
        return sender::clock::now() < deadline;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(messages_in_flight, in_flight_stream)

BOOST_AUTO_TEST_CASE(paced_stream_releases_slots_if_many_messages_are_in_flight)
{
    sender_config slow;
    slow.rate = 1000;
    slow.burst_bytes = 8 * 1400;
    in_flight_stream s(slow);
    s.ring.set_limit(16); // much less than the ring holds
    s.network.unread_reports = slots;
    while (s.write())
        ;
    s.out->start();
    await([&] { return s.ring.released() > 0; });
    BOOST_CHECK_LT(s.packets_done(), s.ring.published());
    s.out->finish(sender::clock::now());
}

BOOST_AUTO_TEST_CASE(messages_stay_in_flight_across_stop_and_start)
{
    out->start();
    fill();
    for (int i = 0; i < 3; ++i) {
        BOOST_CHECK(stop_in_time()); // does not wait for messages in flight
        BOOST_CHECK_EQUAL(ring.released(), 0u);
        BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 0u);
        out->start();
        BOOST_CHECK(evaluate_on_sender([&] { return bool(network.report_handler); }));
    }
    // the reports arrive while the sender is stopped
    BOOST_CHECK(stop_in_time());
    end_in_flight();
    out->start();
    await([&] { return ring.released() == ring.published(); });
    finish_stream();
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// Checks that each datagram was packed, and that heaps_sent counts the complete heaps.
void check_datagrams(const packing& p,
                     const std::vector<bytes>& datagrams,
                     const std::vector<std::int8_t>& samples,
                     std::uint64_t heaps_sent)
{
    // a short last heap is padded once part of it has been sent
    packing padded = p;
    padded.tail = tail_policy::pad;
    std::set<bytes> expected;
    for (const auto& pack_options : { p, padded })
        for (auto& datagram : pack(pack_options, samples))
            expected.insert(std::move(datagram));

    std::map<std::uint64_t, std::uint64_t> bytes_missing; // by heap
    std::uint64_t complete = 0;
    for (const auto& datagram : datagrams) {
        BOOST_CHECK_EQUAL(expected.count(datagram), 1u);
        const auto packet = decode(datagram);
        auto& missing = bytes_missing.emplace(packet.get(1), packet.get(2)).first->second;
        missing -= packet.get(4);
        complete += !missing && !packet.find(6);
    }
    BOOST_CHECK_EQUAL(complete, heaps_sent);
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
    sender_config settings;
    settings.burst_bytes = 1 + random() % 4000;
    sent_stream s(settings, p, slots);
    for (const auto failure_percent = random() % 30; s.network.script.size() < 10000;)
        if (random() % 100 < failure_percent)
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
    background_check counter_check([&] {
        const auto accounted = s.sent.samples_sent.get() + s.sent.samples_dropped.get() +
                               s.packed.samples_dropped.get();
        std::this_thread::sleep_for(20us); // leaves CPU time for the stream
        return accounted <= s.packed.samples_in.get();
    });

    const auto samples =
        noise(std::min<std::uint64_t>(p.heap_samples * 200 + random() % 1000, 60000));
    const auto min_slots = std::min(slots, s.config.min_slots_in_use(slots));
    s.packer.start_run();
    s.out->start();
    const std::size_t max_write = 1 + random() % 3000;
    for (std::size_t at = 0; at < samples.size();) {
        const auto mark = s.ring.released();
        const auto n =
            std::min<std::size_t>(1 + random() % max_write, samples.size() - at);
        const auto accepted = s.packer.write(raw(samples.data() + at), n);
        at += accepted;
        if (!accepted)
            BOOST_REQUIRE_MESSAGE(wait_for_space(s.space, s.ring, mark),
                                  "a wake-up was lost");
        if (random() % 16 == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
        if (random() % 32 == 0) {
            s.ring.set_limit(min_slots + random() % (slots - min_slots + 1));
            s.out->set_rate(pick(random, std::array{ 0., 0., 3e7, 1e308 }));
        }
    }
    s.out->set_rate(0);
    for (auto mark = s.ring.released(); !end_stream(s.packer); mark = s.ring.released())
        BOOST_REQUIRE_MESSAGE(wait_for_space(s.space, s.ring, mark),
                              "a wake-up was lost at the end");
    s.out->finish(test_deadline());

    BOOST_CHECK(counter_check.finish());
    s.check_balance(samples.size());
    BOOST_CHECK_EQUAL(s.sent.packets_sent.get(), s.network.datagrams.size());
    check_datagrams(p, s.network.datagrams, samples, s.sent.heaps_sent.get());
}

} // namespace

BOOST_AUTO_TEST_SUITE(stress)

// Connects a packer through a tiny ring to a sender that fails at random. Sleeps vary the
// interleaving of the threads. Sixty seeds take less than a second and cover all errors.
BOOST_AUTO_TEST_CASE(random_failures_neither_hang_the_stream_nor_miscount_packets)
{
    for (unsigned seed = 1; seed <= 60; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) run_failing_stream(seed);
}

BOOST_AUTO_TEST_SUITE_END()
