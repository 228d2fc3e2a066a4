/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/written_log.h"
#include "receive/loss_log.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

struct fixture : written_log {
    loss_log losses{ lines };
    source_stats stats;
    std::uint64_t second_output = 0; // samples

    fixture() { losses.start({ stats, { 0, 0 } }, now); }

    // A second of the stream, of which some samples are missing.
    void run(std::uint64_t missing = 0, bool has_second_output = true)
    {
        second_output += has_second_output;
        stats.samples_received += 1000 - missing;
        stats.samples_missing += missing;
        stats.samples_out += 1000;
        now += 1s;
        if (losses.is_due(now))
            losses.check({ stats, { stats.samples_received, second_output } }, now);
        lines.write(now);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(loss_log_lines, fixture)

BOOST_AUTO_TEST_CASE(loss_is_logged_within_a_second_then_every_ten)
{
    run();
    check({});
    for (int second = 0; second < 21; ++second)
        run(10);
    check({ "10 of 2000 samples are missing: their packets have not arrived, or were "
            "dropped or ignored",
            "100 of 10000 samples are missing: their packets have not arrived, or were "
            "dropped or ignored",
            "100 of 10000 samples are missing: their packets have not arrived, or were "
            "dropped or ignored" });
    for (int second = 0; second < 100; ++second)
        run();
    BOOST_TEST(written.size() == 3u);
    run(5);
    BOOST_TEST(written.back() == "5 of 2000 samples are missing: their packets have not "
                                 "arrived, or were dropped or ignored");
}

BOOST_AUTO_TEST_CASE(line_names_what_was_counted_since_before_the_loss)
{
    for (int second = 0; second < 10; ++second) {
        stats.samples_late += 1;
        run();
    }
    stats.samples_late += 20;
    stats.packets_rejected["other"] += 3;
    run();
    run(30);
    check({ "30 of 2000 samples are missing: 20 samples later than max_delay or "
            "buffer_size allow, or with wrong "
            "timestamps, 3 packets rejected" });
}

BOOST_AUTO_TEST_CASE(dropped_datagrams_are_logged_before_their_samples_are_missing)
{
    run();
    stats.datagrams_dropped_by_socket += 7;
    run();
    check(
        { "7 datagrams dropped because the socket buffer was full (lower the rate of the "
          "sender or, if it only sends in bursts, raise net.core.rmem_max)" });
}

BOOST_AUTO_TEST_CASE(line_names_an_output_that_receives_nothing)
{
    run(0, false);
    run(500, false);
    check({ "500 of 2000 samples are missing: no samples for output 1" });
}

BOOST_AUTO_TEST_CASE(repeated_samples_are_logged)
{
    run();
    stats.samples_duplicate += 4000;
    run();
    check(
        { "most samples that arrive have been received before, or come after max_delay: "
          "check the timestamps of the sender" });
}

BOOST_AUTO_TEST_SUITE_END()
