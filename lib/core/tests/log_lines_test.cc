/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "log_lines.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

struct fixture {
    std::vector<std::string> written;
    log_lines lines{ [this](const std::string& line) { written.push_back(line); } };
    log_lines::time_point now{ 1h };

    void check(const std::vector<std::string>& expected)
    {
        BOOST_CHECK_EQUAL_COLLECTIONS(
            written.begin(), written.end(), expected.begin(), expected.end());
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(lines_of_the_log, fixture)

BOOST_AUTO_TEST_CASE(what_comes_within_a_second_is_said_together)
{
    BOOST_CHECK(lines.is_due(now));
    lines.add("a", now);
    check({ "a" });
    BOOST_CHECK(!lines.is_due(now));
    BOOST_CHECK(lines.due() == now + 1s);
    BOOST_CHECK(lines.empty());
    lines.add("b", now);
    now += 999ms;
    lines.add("c", now);
    lines.add("b", now); // nothing new
    check({ "a" });
    BOOST_CHECK(!lines.empty());
    now += 1ms;
    lines.flush(now);
    check({ "a", "b; c" });
    BOOST_CHECK(lines.empty());
    now += 999ms;
    lines.flush(now); // nothing to say
    check({ "a", "b; c" });
}

BOOST_AUTO_TEST_CASE(the_last_time_waits_for_nothing)
{
    lines.add("a", now);
    lines.add("b", now);
    lines.flush(now, true);
    check({ "a", "b" });
}

BOOST_AUTO_TEST_CASE(inputs_with_the_same_news_are_named_together)
{
    lines.add_of_input(2, "a", now);
    for (const std::size_t input : { 3, 1, 0, 1 })
        lines.add_of_input(input, "a", now);
    lines.add_of_input(1, "b", now);
    lines.add("c", now);
    lines.flush(now, true);
    check({ "input 2: a", "inputs 0, 1, 3: a; input 1: b; c" });
}

BOOST_AUTO_TEST_CASE(a_line_has_an_end)
{
    lines.add("0", now);
    for (int i = 1; i <= 9; ++i)
        lines.add(std::to_string(i), now);
    lines.add_of_input(1, "10", now);
    lines.add_of_input(1, "5", now);
    now += 1s;
    lines.flush(now);
    check({ "0", "1; 2; 3; 4; input 1: 5; 5 more" });
    now += 1s;
    lines.add("again", now);
    check({ "0", "1; 2; 3; 4; input 1: 5; 5 more", "again" });
}

BOOST_AUTO_TEST_CASE(what_is_said_at_once_is_not_counted)
{
    lines.say("a");
    lines.add("b", now);
    lines.say("c");
    check({ "a", "b", "c" });
}

BOOST_AUTO_TEST_SUITE_END()
