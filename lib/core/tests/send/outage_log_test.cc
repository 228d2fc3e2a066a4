/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "send/outage_log.h"

#include <boost/test/unit_test.hpp>

#include <cerrno>

using namespace gr::spead;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::string said_of(void (*what)(outage_log& log, outage_log::time_point now))
{
    std::string text;
    rate_limited_log lines([&](const std::string& line) { text += line + "; "; });
    outage_log log(lines);
    what(log, outage_log::time_point{ seconds(1000) });
    lines.flush();
    return text;
}

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
        ++n;
    return n;
}

} // namespace

BOOST_AUTO_TEST_SUITE(outages)

BOOST_AUTO_TEST_CASE(an_outage_ends_when_nothing_has_been_lost_for_a_second)
{
    const auto text = said_of([](outage_log& log, outage_log::time_point now) {
        log.failed(EPERM, 3, now);
        log.succeeded(now + milliseconds(500));
        log.failed(EPERM, 4, now + milliseconds(900));
        log.succeeded(now + milliseconds(1800));
        log.succeeded(now + milliseconds(1900));
        log.succeeded(now + milliseconds(2000));
        log.end();
    });
    BOOST_CHECK_EQUAL(count(text, "sending failed: "), 1u);
    BOOST_CHECK_EQUAL(count(text, "sending works again; 7 packets were dropped"), 1u);
    BOOST_CHECK_EQUAL(count(text, "dropped"), 1u);
}

// of several
BOOST_AUTO_TEST_CASE(a_destination_that_stays_out_of_reach_is_said_once)
{
    const auto text = said_of([](outage_log& log, outage_log::time_point now) {
        for (int i = 0; i < 1000; ++i, now += milliseconds(50)) {
            log.failed(EHOSTUNREACH, 1, now);
            log.succeeded(now);
        }
        log.end();
    });
    BOOST_CHECK_EQUAL(count(text, "sending failed: "), 1u);
    BOOST_CHECK_EQUAL(count(text, "again"), 0u);
    BOOST_CHECK_EQUAL(count(text, "1000 packets were dropped"), 1u);
}

BOOST_AUTO_TEST_SUITE_END()
