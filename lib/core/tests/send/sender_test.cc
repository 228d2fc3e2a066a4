/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/packing.h"
#include "helpers/scripted_transport.h"
#include "send/sender.h"

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <optional>

using namespace gr::spead;

namespace {

struct fixture {
    packing p;
    stream_config config;
    boost::asio::io_context io;
    sink_counter_set packed;
    sender_counters sent;
    std::vector<std::string> log;
    rate_limited_log lines{ [this](const std::string& line) { log.push_back(line); } };
    packet_ring ring;
    scripted_transport network{ io };
    input_packer packer;
    std::optional<sender> out;

    explicit fixture(sink_options options = {}, packing how = {})
        : p(how),
          config(p.config()),
          ring(1024, config.regular.packet_bytes()),
          packer(config, ring, packed, [this] { out->wake(); })
    {
        out.emplace(
            io, std::vector<packet_ring*>{ &ring }, network, sent, options, [] {}, lines);
    }

    // queued before the thread starts, so that what it finds does not depend on time
    std::vector<bytes> run(std::size_t samples, double seconds = 60)
    {
        const auto data = noise(samples);
        packer.start_run();
        BOOST_REQUIRE_EQUAL(packer.write(raw(data.data()), samples), samples);
        BOOST_REQUIRE(end_stream(packer));
        out->start();
        out->finish(sender::clock::now() +
                    std::chrono::milliseconds(static_cast<int>(1000 * seconds)));
        return pack(p, data);
    }

    // All lines, when the sender has gone.
    const std::vector<std::string>& logged()
    {
        out.reset();
        lines.flush();
        return log;
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
        BOOST_CHECK_EQUAL(sent.samples_sent.get() + sent.samples_dropped.get(), samples);
    }
};

constexpr std::size_t some = 8192 * 20 + 100;

} // namespace

BOOST_AUTO_TEST_SUITE(sending)

BOOST_AUTO_TEST_CASE(everything_goes_in_order_and_in_runs_across_heaps)
{
    fixture f;
    const auto expected = f.run(some);
    BOOST_CHECK(f.network.datagrams == expected);
    BOOST_CHECK_EQUAL(f.sent.packets_sent.get(), expected.size());
    BOOST_CHECK_EQUAL(f.sent.heaps_sent.get(), 21u);
    f.check_balance(some);
    BOOST_CHECK_EQUAL(*std::max_element(f.network.runs.begin(), f.network.runs.end()),
                      transport::max_segmented_bytes / 1424);
    BOOST_CHECK_LE(f.network.sends, 3u);
}

BOOST_AUTO_TEST_CASE(a_full_socket_is_waited_for)
{
    fixture f;
    f.network.script = { { 0, EAGAIN }, { 1, 0 }, { 0, EAGAIN }, { 0, EAGAIN } };
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    BOOST_CHECK_GE(f.network.writable_waits, 1u);
    BOOST_CHECK_EQUAL(f.errors(EAGAIN), 3u);
    f.check_balance(some);
    BOOST_CHECK(f.logged().empty());
}

BOOST_AUTO_TEST_CASE(what_is_not_to_be_sent_yet_has_not_failed)
{
    fixture f;
    f.network.script = { { 0, transport::not_yet }, { 1, 0 }, { 0, transport::not_yet } };
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    BOOST_CHECK(f.sent.errors.by_name().empty());
    BOOST_CHECK(f.log.empty());
}

BOOST_AUTO_TEST_CASE(a_send_cut_short_goes_on_behind_what_went)
{
    fixture f;
    f.network.script = { { 1, 0 }, { 2, 0 }, { 0, EINTR }, { 1, 0 } };
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    f.check_balance(some);
}

BOOST_AUTO_TEST_CASE(a_full_queue_is_tried_again_later)
{
    fixture f;
    f.network.script = { { 0, ENOBUFS }, { 0, ENOBUFS }, { 0, ENOMEM } };
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    BOOST_CHECK_EQUAL(f.errors(ENOBUFS), 2u);
    BOOST_CHECK_EQUAL(f.sent.packets_dropped.get(), 0u);
    f.check_balance(some);
}

BOOST_AUTO_TEST_CASE(a_queue_that_stays_full_costs_a_message)
{
    fixture f;
    // 150 tries at 10 ms are more than the sender's patience
    f.network.script.assign(150, { 0, ENOBUFS });
    f.run(some);
    BOOST_CHECK_GT(f.sent.packets_dropped.get(), 0u);
    BOOST_CHECK_GT(f.sent.packets_sent.get(), 0u);
    f.check_balance(some);
}

BOOST_AUTO_TEST_CASE(a_refused_connection_costs_nothing)
{
    fixture f;
    f.network.script = { { 0, ECONNREFUSED }, { 1, 0 }, { 0, ECONNREFUSED } };
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    BOOST_CHECK_EQUAL(f.errors(ECONNREFUSED), 2u);
    BOOST_CHECK_EQUAL(f.sent.packets_dropped.get(), 0u);
    BOOST_CHECK_EQUAL(f.logged().size(), 1u);
}

BOOST_AUTO_TEST_CASE(an_outage_is_counted_and_logged)
{
    for (const int error : { ENETUNREACH, EHOSTUNREACH, EPERM, ENETDOWN, EMSGSIZE }) {
        packing how; // each packet is a heap and a message
        how.heap_samples = 60000;
        how.max_packet = 65507;
        fixture f({}, how);
        const std::size_t samples = 21 * how.heap_samples;
        // four tries a message: two messages are lost
        f.network.script.assign(8, { 0, error });
        const auto expected = f.run(samples);
        BOOST_CHECK(std::vector<bytes>(expected.begin() + 2, expected.end()) ==
                    f.network.datagrams);
        BOOST_CHECK_EQUAL(f.sent.packets_dropped.get(), 2u);
        BOOST_CHECK_EQUAL(f.sent.heaps_dropped.get(), 2u);
        BOOST_CHECK_EQUAL(f.sent.heaps_sent.get(), 19u);
        BOOST_CHECK_EQUAL(f.errors(error), 8u);
        f.check_balance(samples);
        BOOST_CHECK_EQUAL(f.logged().back(),
                          std::string("sending failed: ") + std::strerror(error) +
                              "; 2 packets were dropped");
    }
}

BOOST_AUTO_TEST_CASE(the_log_counts_what_was_lost_among_other_destinations)
{
    packing how;
    how.destinations = 2;
    how.descriptors = false;
    fixture f({}, how);
    f.network.script.assign(4, { 0, EPERM });
    f.run(some);
    const auto lost = f.sent.packets_dropped.get();
    BOOST_CHECK_GT(lost, 10u);
    const auto end = std::to_string(lost) + " packets were dropped";
    const auto last = f.logged().back();
    BOOST_CHECK_EQUAL(last.substr(last.size() - std::min(last.size(), end.size())), end);
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_full_queue_is_no_try)
{
    fixture f;
    f.network.script = {
        { 0, ENOBUFS }, { 0, ENOBUFS }, { 0, ENOBUFS }, { 0, ECONNREFUSED }
    };
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    BOOST_CHECK_EQUAL(f.sent.packets_dropped.get(), 0u);
}

BOOST_AUTO_TEST_CASE(what_an_outage_costs_counts_towards_the_pace)
{
    sink_options options;
    options.rate = 1; // after the first burst nothing goes for hours
    fixture f(options);
    f.network.script.assign(1000, { 0, ENETUNREACH });
    f.run(some, 0.05);
    BOOST_CHECK_LE(f.errors(ENETUNREACH), 4u * (options.burst_size / 1424 + 1));
    f.check_balance(some);
}

BOOST_AUTO_TEST_CASE(errors_that_cut_a_send_short_are_counted)
{
    fixture f;
    f.network.script = { { 1, ECONNREFUSED }, { 1, ECONNREFUSED } };
    f.network.icmp_errors.count = 2;
    f.network.icmp_errors.causes[ECONNREFUSED] = true;
    f.network.icmp_errors.causes[EHOSTUNREACH] = true;
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    BOOST_CHECK_EQUAL(f.sent.icmp_errors.get(), 2u);
    std::string said; // in one line or two
    for (const auto& line : f.logged())
        said += (said.empty() ? "" : "; ") + line;
    BOOST_CHECK_EQUAL(
        said, "sending failed: Connection refused; sending failed: No route to host");
}

BOOST_AUTO_TEST_CASE(refused_segmentation_loses_nothing_and_ends_on_proof)
{
    for (const int error : { EIO, EINVAL, EOPNOTSUPP }) {
        fixture f;
        f.network.refuse_segmented = error;
        BOOST_CHECK(f.run(some) == f.network.datagrams);
        BOOST_CHECK_EQUAL(f.sent.gso_refused.get(), 3u);
        BOOST_CHECK(!f.out->gso());
        f.check_balance(some);
    }
}

BOOST_AUTO_TEST_CASE(a_passing_refusal_does_not_end_segmentation)
{
    fixture f;
    f.network.refuse_segmented = EIO;
    f.network.refusals_left = 2;
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    BOOST_CHECK_EQUAL(f.sent.gso_refused.get(), 2u);
    BOOST_CHECK(f.out->gso());
}

BOOST_AUTO_TEST_CASE(what_is_left_at_the_deadline_is_counted)
{
    fixture f;
    // for ever, as far as this test goes
    f.network.script.assign(1000000, { 0, ENOBUFS });
    f.run(some, 0.05);
    BOOST_CHECK_EQUAL(f.sent.packets_sent.get(), 0u);
    BOOST_CHECK_EQUAL(f.sent.heaps_dropped.get(), 21u);
    f.check_balance(some);
}

BOOST_AUTO_TEST_CASE(a_paced_stream_is_whole)
{
    sink_options options;
    options.rate = 5e6;
    options.burst_size = 4000;
    fixture f(options);
    BOOST_CHECK(f.run(some) == f.network.datagrams);
    auto packet = f.network.datagrams.begin();
    for (const auto packets : f.network.runs) {
        std::size_t run_bytes = 0;
        for (std::size_t i = 0; i < packets; ++i)
            run_bytes += packet++->size();
        BOOST_CHECK_LE(run_bytes, 2 * options.burst_size);
    }
}

BOOST_AUTO_TEST_CASE(it_starts_again_after_a_stop)
{
    fixture f;
    for (int i = 0; i < 3; ++i)
        f.run(some);
    BOOST_CHECK_EQUAL(f.sent.heaps_sent.get(), 63u);
    f.check_balance(3 * some);
}

BOOST_AUTO_TEST_CASE(an_abandoned_heap_is_dropped)
{
    packing p;
    p.heap_samples = 1 << 20; // larger than what is held
    p.tail = tail_policy::drop;
    fixture f({}, p);
    f.run(100000);
    BOOST_CHECK_EQUAL(f.sent.heaps_dropped.get(), 1u);
    BOOST_CHECK_EQUAL(f.sent.samples_dropped.get(), 100000u);
    f.check_balance(100000);
}

BOOST_AUTO_TEST_SUITE_END()
