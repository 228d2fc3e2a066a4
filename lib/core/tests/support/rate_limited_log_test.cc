/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/stress.h"
#include "support/rate_limited_log.h"

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <mutex>
#include <optional>

using namespace gr::spead;

namespace {

// A log that can be blocked, as by a terminal that is stopped.
class slow_log
{
public:
    void write(const std::string& line)
    {
        std::unique_lock<std::mutex> lock(d_mutex);
        ++d_offered;
        d_changed.notify_all();
        d_changed.wait(lock, [this] { return !d_blocked; });
        d_written.push_back(line);
        d_times.push_back(std::chrono::steady_clock::now());
        d_changed.notify_all();
    }
    void block(bool blocked)
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        d_blocked = blocked;
        d_changed.notify_all();
    }
    void await_offered(unsigned lines)
    {
        std::unique_lock<std::mutex> lock(d_mutex);
        BOOST_REQUIRE(
            d_changed.wait_for(lock, bound, [&] { return d_offered == lines; }));
    }
    void await_written(std::size_t lines)
    {
        std::unique_lock<std::mutex> lock(d_mutex);
        BOOST_REQUIRE(
            d_changed.wait_for(lock, bound, [&] { return d_written.size() == lines; }));
    }
    std::vector<std::string> written()
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        return d_written;
    }
    auto time_of(std::size_t line)
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        return d_times.at(line);
    }

private:
    std::mutex d_mutex;
    std::condition_variable d_changed;
    bool d_blocked = false;
    unsigned d_offered = 0;
    std::vector<std::string> d_written;
    std::vector<std::chrono::steady_clock::time_point> d_times;
};

struct fixture {
    const std::shared_ptr<slow_log> log = std::make_shared<slow_log>();
    std::optional<rate_limited_log> lines;

    fixture()
    {
        lines.emplace([to = log](const std::string& line) { to->write(line); });
    }

    // What is added from now on waits.
    void begin_to_write(const std::function<void()>& add)
    {
        log->block(true);
        add();
        log->await_offered(1);
    }
    void check(const std::vector<std::string>& expected)
    {
        log->block(false);
        lines.reset();
        log->await_written(expected.size());
        const auto written = log->written();
        BOOST_CHECK_EQUAL_COLLECTIONS(
            written.begin(), written.end(), expected.begin(), expected.end());
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(lines_of_the_log, fixture)

BOOST_AUTO_TEST_CASE(what_waits_is_said_together)
{
    begin_to_write([&] { lines->add("a"); });
    lines->add("b");
    lines->add("c");
    lines->add("b"); // nothing new
    check({ "a", "b; c" });
}

BOOST_AUTO_TEST_CASE(there_is_a_second_between_lines)
{
    lines->add("a");
    log->await_written(1);
    lines->add("b");
    log->await_written(2);
    BOOST_CHECK(log->time_of(1) - log->time_of(0) >= 1s);
}

BOOST_AUTO_TEST_CASE(the_end_writes_what_waits)
{
    lines->add("a");
    log->await_written(1);
    lines->add("b");
    check({ "a", "b" });
}

BOOST_AUTO_TEST_CASE(nothing_to_say_is_no_line) { check({}); }

BOOST_AUTO_TEST_CASE(inputs_with_the_same_news_are_named_together)
{
    begin_to_write([&] { lines->add_of_input(2, "a"); });
    for (const std::size_t input : { 3, 1, 0, 1 })
        lines->add_of_input(input, "a");
    lines->add_of_input(1, "b");
    lines->add("c");
    check({ "input 2: a", "inputs 0, 1, 3: a; input 1: b; c" });
}

BOOST_AUTO_TEST_CASE(a_line_has_an_end)
{
    begin_to_write([&] { lines->add("0"); });
    for (int i = 1; i <= 9; ++i)
        lines->add(std::to_string(i));
    lines->add_of_input(1, "10");
    lines->add_of_input(1, "5");
    log->block(false);
    log->await_written(2);
    lines->add("again");
    check({ "0", "1; 2; 3; 4; input 1: 5; 5 more", "again" });
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_log_that_takes_nothing)
{
    begin_to_write([&] { lines->add("a"); });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 1000; ++j)
                lines->add(std::to_string(j));
        });
    for (auto& one : threads)
        one.join();
    lines.reset();
    BOOST_CHECK(log->written().empty());
    // the log has what it needs for as long as it takes
    log->block(false);
    log->await_written(2);
    const auto end = std::chrono::steady_clock::now() + bound;
    while (log.use_count() > 1)
        BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
}

BOOST_AUTO_TEST_SUITE_END()
