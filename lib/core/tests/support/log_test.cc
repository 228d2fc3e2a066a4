/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/written_log.h"
#include "send/outage_log.h"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <chrono>
#include <ostream>
#include <string>
#include <vector>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

struct fixture : written_log {
    outage_log outages{ lines };
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(log_lines, fixture)

BOOST_AUTO_TEST_CASE(one_line_is_written_per_second)
{
    lines.add("a");
    lines.write(now);
    lines.add("b");
    lines.add("c ", 1);
    lines.add("b");
    lines.write(now + 999ms);
    check({ "a" });
    lines.write(now + 1s);
    check({ "a", "b; c 1" });
    for (int i = 0; i < 9; ++i)
        lines.add(i);
    lines.flush(now + 1s); // does not wait
    lines.write(now + 9s);
    check({ "a", "b; c 1", "0; 1; 2; 3; 4; 4 more" });
}

BOOST_AUTO_TEST_CASE(outage_ends_after_a_second_without_loss)
{
    outages.failed(EPERM, 3, now);
    outages.succeeded(now + 500ms);
    outages.failed(EPERM, 4, now + 900ms);
    outages.succeeded(now + 1800ms);
    lines.flush();
    check({ "sending failed: Operation not permitted" });
    outages.succeeded(now + 1900ms);
    outages.succeeded(now + 2000ms);
    outages.end(now);
    lines.flush();
    check({ "sending failed: Operation not permitted",
            "sending works again; 7 packets were dropped" });
}

BOOST_AUTO_TEST_CASE(lasting_outage_of_one_destination_is_logged_once)
{
    for (int i = 0; i < 1000; ++i, now += 50ms) {
        outages.failed(EHOSTUNREACH, 1, now);
        outages.succeeded(now);
    }
    outages.end(now);
    lines.flush();
    check({ "sending failed: No route to host; 1000 packets were dropped" });
}

// Time of the first refusal and of the end, after the first packet.
struct refusal_times {
    std::chrono::milliseconds refused, ended;
    bool is_logged;
};

std::ostream& operator<<(std::ostream& out, const refusal_times& times)
{
    return out << "refused " << times.refused.count() << ", ended "
               << times.ended.count();
}

const refusal_times all_refusal_times[]{
    { 0ms, 20ms, true },                                 // no receiver
    { 1900ms, 1950ms, true },                            // limited rate of ICMP errors
    { 5000ms, 5100ms, false },                           // stopped with the flow graph
    { 5000ms, 6999ms, false }, { 5000ms, 7000ms, true }, // stopped before
    { 2100ms, 2200ms, false },
};

BOOST_DATA_TEST_CASE(receiver_that_stops_with_the_flow_graph_is_not_logged,
                     boost::unit_test::data::make(all_refusal_times))
{
    const auto end = now + sample.ended;
    const auto refused = now + sample.refused;
    for (; now < end; now += 10ms) {
        outages.succeeded(now);
        if (now >= refused)
            outages.failed(ECONNREFUSED, 0, now);
    }
    outages.end(end);
    lines.flush();
    const std::string line =
        "sending failed: Connection refused (no program listens there, "
        "or it has stopped)";
    check(sample.is_logged ? std::vector{ line } : std::vector<std::string>{});
}

BOOST_AUTO_TEST_CASE(refusal_is_logged_when_packets_are_accepted_again)
{
    outages.succeeded(now);
    outages.succeeded(now + 2s);
    outages.failed(ECONNREFUSED, 0, now + 2s);
    outages.succeeded(now + 4s);
    outages.end(now + 5s);
    outages.succeeded(now + 6s); // another run
    outages.failed(ECONNREFUSED, 0, now + 6s);
    lines.flush();
    check({ "sending failed: Connection refused (no program listens there, or it has "
            "stopped)" });
}

// The refusal of a packet is reported when the next one is sent.
BOOST_AUTO_TEST_CASE(receiver_that_stops_long_before_a_slow_sender_is_logged)
{
    for (int i = 0; i < 4; ++i, now += 2500ms)
        outages.succeeded(now);
    outages.failed(ECONNREFUSED, 0, now);
    outages.end(now + 100ms);
    lines.flush();
    check({ "sending failed: Connection refused (no program listens there, or it has "
            "stopped)" });
}

BOOST_AUTO_TEST_SUITE_END()
