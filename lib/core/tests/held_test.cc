/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A network that reads packets where they lie, long after it has taken them.

#include "packing.h"
#include "scripted_transport.h"
#include "sender.h"
#include "stress.h"

#include <boost/test/unit_test.hpp>

#include <future>
#include <optional>

using namespace gr::spead;

namespace {

constexpr std::size_t slots = 64;
constexpr std::size_t several_rings = 8 * slots * 1400;

struct fixture {
    packing p;
    stream_plan plan = p.plan();
    boost::asio::io_context io;
    packer_counters packed;
    sender_counters sent;
    packet_ring ring{ slots, plan.regular.packet_bytes() };
    scripted_transport network{ io };
    heap_packer packer{ plan, ring, packed, [this] { out->wake(); } };
    gate space;
    const std::vector<std::int8_t> samples = noise(several_rings);
    std::size_t written = 0;
    std::optional<sender> out;

    fixture()
    {
        network.holds = true;
        out.emplace(
            io,
            ring,
            network,
            sent,
            sender_options{},
            [this] { space.notify(); },
            [](const auto&) {});
    }

    void start()
    {
        packer.start_stream();
        out->start();
    }
    // false if nobody wakes the packer
    bool wait_for_space(std::uint64_t mark)
    {
        return space.wait([&] { return ring.released() != mark && ring.has_space(); },
                          [&] { ring.packer_waits.announce(); });
    }
    void write_what_fits()
    {
        std::size_t taken = 0;
        do {
            taken = packer.write(samples.data() + written, samples.size() - written);
            written += taken;
        } while (taken);
        BOOST_REQUIRE_LT(written, samples.size());
    }
    // in the end the packer waits, and the sender has nothing to do
    void fill()
    {
        write_what_fits();
        until([&] { return done_with() == ring.published(); });
        ring.packer_waits.announce();
    }
    // the rest of the samples, and the end of the stream
    void finish_stream()
    {
        for (bool ended = false; !ended;) {
            const auto mark = ring.released();
            const auto taken =
                packer.write(samples.data() + written, samples.size() - written);
            written += taken;
            ended = written == samples.size() && packer.end_stream();
            if (!taken && !ended)
                BOOST_REQUIRE_MESSAGE(wait_for_space(mark), "a wake-up was lost");
        }
    }
    // all packets take one slot here
    std::uint64_t done_with() const
    {
        return sent.packets_sent.get() + sent.packets_dropped.get();
    }
    // on the thread of the sender, or when it runs again
    template <typename action>
    void post(action&& a)
    {
        boost::asio::post(io, std::forward<action>(a));
    }
    void report(std::size_t messages)
    {
        post([this, messages] { network.report(messages); });
    }
    // as a device that has done with all, whenever there are some
    void report_on_and_on()
    {
        post([this] {
            network.holds = false;
            network.report(network.held.size());
        });
    }
    // what the thread of the sender sees, after what it has to do now
    template <typename question>
    auto ask(question&& q)
    {
        std::promise<decltype(q())> answer;
        auto future = answer.get_future();
        post([&] { answer.set_value(q()); });
        BOOST_REQUIRE(future.wait_for(bound) == std::future_status::ready);
        return future.get();
    }
    template <typename condition>
    static void until(condition&& c)
    {
        const auto end = std::chrono::steady_clock::now() + bound;
        while (!c()) {
            BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::yield();
        }
    }
    bool stop_in_time()
    {
        const auto deadline = sender::clock::now() + bound;
        out->finish(deadline);
        return sender::clock::now() < deadline;
    }
    void check_all_arrived()
    {
        BOOST_CHECK(stop_in_time());
        BOOST_CHECK(network.datagrams == pack(p, samples));
        BOOST_CHECK_EQUAL(network.spoilt, 0u);
        BOOST_CHECK_EQUAL(sent.samples_sent.get(), samples.size());
        BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 0u);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(held_messages, fixture)

BOOST_AUTO_TEST_CASE(they_are_neither_given_back_nor_written_over)
{
    start();
    fill();
    BOOST_CHECK_EQUAL(ring.released(), 0u);
    BOOST_CHECK_GT(ask([&] { return network.held.size(); }), 1u);
    report(1000);
    until([&] { return ring.released() == ring.published(); });
    fill();
    BOOST_CHECK_GT(ring.published(), slots);
    report_on_and_on();
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(a_packer_that_waits_for_them_is_woken_by_their_reports)
{
    start();
    for (int rings = 0; rings < 5; ++rings) {
        const auto mark = ring.released();
        fill();
        report(1000);
        BOOST_CHECK(wait_for_space(mark));
    }
    report_on_and_on();
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(they_are_given_back_in_order_and_one_by_one)
{
    start();
    fill();
    const auto positions = ask([&] {
        std::vector<std::uint64_t> all;
        for (const auto& one : network.held)
            all.push_back(one.of.position);
        return all;
    });
    BOOST_CHECK_EQUAL(positions.front(), 0u);
    for (std::size_t i = 1; i < positions.size(); ++i) {
        report(1);
        until([&] { return ring.released() == positions[i]; });
        BOOST_CHECK(ask([&] { return bool(network.on_reports); }));
    }
    report(1);
    until([&] { return ring.released() == ring.published(); });
    BOOST_CHECK(!ask([&] { return bool(network.on_reports); }));
    report_on_and_on();
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(a_report_on_something_else_gives_nothing_back)
{
    start();
    fill();
    for (int i = 0; i < 100; ++i) {
        post([&] {
            network.icmp_errors = 1;
            network.report(0);
        });
        until([&] { return sent.icmp_errors.get() == static_cast<unsigned>(i) + 1; });
    }
    BOOST_CHECK_EQUAL(ring.released(), 0u);
    report_on_and_on();
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(a_stop_does_not_wait_for_them)
{
    start();
    fill();
    BOOST_CHECK(stop_in_time());
    BOOST_CHECK_EQUAL(ring.released(), 0u);
    BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 0u);
}

BOOST_AUTO_TEST_CASE(after_a_stop_and_a_start_they_are_still_held_and_then_given_back)
{
    start();
    fill();
    for (int i = 0; i < 3; ++i) {
        BOOST_CHECK(stop_in_time());
        out->start();
        BOOST_CHECK(ask([&] { return bool(network.on_reports); }));
        BOOST_CHECK_EQUAL(ring.released(), 0u);
    }
    // reported while nobody runs
    BOOST_CHECK(stop_in_time());
    report_on_and_on();
    out->start();
    until([&] { return ring.released() == ring.published(); });
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(what_is_given_up_behind_them_waits_for_them)
{
    // one message goes, four tries cost the next one
    network.script = { { 1, 0 }, { 0, EPERM }, { 0, EPERM }, { 0, EPERM }, { 0, EPERM } };
    packer.start_stream();
    write_what_fits();
    out->start();
    until([&] { return done_with() == ring.published(); });
    BOOST_CHECK_GT(sent.packets_dropped.get(), 0u);
    BOOST_CHECK_EQUAL(ring.released(), 0u);
    report(1000);
    until([&] { return ring.released() == ring.published(); });
    report_on_and_on();
    finish_stream();
    BOOST_CHECK(stop_in_time());
    BOOST_CHECK_EQUAL(network.spoilt, 0u);
    BOOST_CHECK_EQUAL(sent.samples_sent.get() + sent.samples_dropped.get(),
                      samples.size());
}

BOOST_AUTO_TEST_CASE(what_a_stop_drops_behind_them_waits_for_them)
{
    network.script.assign(1000000, { 0, ENOBUFS });
    network.script.front() = { 1, 0 };
    packer.start_stream();
    write_what_fits();
    out->start();
    until([&] { return sent.packets_sent.get() > 0; });
    out->finish(sender::clock::now());
    BOOST_CHECK_EQUAL(done_with(), ring.published());
    BOOST_CHECK_GT(sent.packets_dropped.get(), 0u);
    BOOST_CHECK_EQUAL(ring.released(), 0u);

    network.script.clear();
    out->start();
    report_on_and_on();
    until([&] { return ring.released() == ring.published(); });
    finish_stream();
    BOOST_CHECK(stop_in_time());
    BOOST_CHECK_EQUAL(network.spoilt, 0u);
    BOOST_CHECK_EQUAL(sent.samples_sent.get() + sent.samples_dropped.get(),
                      samples.size());
}

BOOST_AUTO_TEST_SUITE_END()
