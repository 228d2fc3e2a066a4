/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What becomes of messages that the network still reads.

#include "helpers/in_flight_stream.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

BOOST_FIXTURE_TEST_SUITE(messages_in_flight, in_flight_stream)

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
        BOOST_CHECK(wait_for_space(space, ring, mark));
    }
    report_on_and_on();
    finish_stream();
    check_all_arrived();
}

BOOST_AUTO_TEST_CASE(at_a_pace_they_are_given_back_when_much_is_held)
{
    sink_options slow;
    slow.rate = 1000;
    slow.burst_size = 8 * 1400;
    make_sender(slow);
    ring.set_limit(16); // a queue much shorter than the memory
    network.reported = slots;
    packer.start_run();
    write_what_fits();
    out->start();
    until([&] { return ring.released() > 0; });
    BOOST_CHECK_LT(done_with(), ring.published());
    out->finish(sender::clock::now());
}

BOOST_AUTO_TEST_CASE(they_are_given_back_in_order_and_one_by_one)
{
    start();
    fill();
    const auto positions = ask([&] {
        std::vector<std::uint64_t> all;
        for (const auto& one : network.held)
            all.push_back(one.position);
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
            network.icmp_errors.count = 1;
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

BOOST_AUTO_TEST_CASE(
    after_a_stop_and_a_start_they_are_still_in_flight_and_then_given_back)
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
    packer.start_run();
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
    packer.start_run();
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
