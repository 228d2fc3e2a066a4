/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "support/rate_limited_log.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

struct fixture {
    std::vector<std::string> written;
    rate_limited_log log{ [this](const std::string& line) { written.push_back(line); } };
    rate_limited_log::clock::time_point now{ 1000s };

    void check(const std::vector<std::string>& expected) const
    {
        BOOST_TEST(written == expected, boost::test_tools::per_element());
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(log_lines, fixture)

BOOST_AUTO_TEST_CASE(a_second_passes_between_lines)
{
    log.add("a");
    log.write(now);
    log.add("b");
    log.add("c ", 1);
    log.add("b");
    log.write(now + 999ms);
    check({ "a" });
    log.write(now + 1s);
    check({ "a", "b; c 1" });
    log.write(now + 2s);
    check({ "a", "b; c 1" });
}

BOOST_AUTO_TEST_CASE(the_last_line_does_not_wait)
{
    log.add("a");
    log.write(now);
    log.add("b");
    log.flush(now);
    check({ "a", "b" });
}

BOOST_AUTO_TEST_CASE(suppressed_messages_are_counted)
{
    for (int i = 0; i < 9; ++i)
        log.add(i);
    log.write(now);
    log.add("again");
    log.flush(now);
    check({ "0; 1; 2; 3; 4; 4 more", "again" });
}

BOOST_AUTO_TEST_SUITE_END()
