/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "send/outage_log.h"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <string>
#include <vector>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

struct fixture {
    std::vector<std::string> written;
    rate_limited_log lines{ [this](const std::string& line) {
        written.push_back(line);
    } };
    outage_log outages{ lines };
    rate_limited_log::clock::time_point now{ 1000s };

    void check(const std::vector<std::string>& expected) const
    {
        BOOST_TEST(written == expected, boost::test_tools::per_element());
    }
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
    outages.end();
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
    outages.end();
    lines.flush();
    check({ "sending failed: No route to host; 1000 packets were dropped" });
}

BOOST_AUTO_TEST_SUITE_END()
