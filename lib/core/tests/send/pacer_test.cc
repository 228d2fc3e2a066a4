/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "send/pacer.h"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <random>

using namespace gr::spead;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using duration = pacer::time_point::duration;

namespace {

constexpr std::size_t burst_size = 65536;
constexpr std::size_t packet = 1472;
constexpr std::size_t plenty = std::size_t{ 1 } << 50;

// A sender whose thread wakes up late, against a clock that only this test moves.
struct simulation {
    pacer::time_point now{ seconds(1000) };
    double rate;
    pacer p;
    double sent = 0;
    std::size_t longest = 0; // bytes that were allowed at a time
    std::size_t waits = 0;
    duration time_to_send{ 0 };
    std::size_t most = plenty; // that leaves in a send
    // bytes that a receiver has to buffer which reads at 1.05 of the rate
    double backlog = 0;
    double worst = 0;
    pacer::time_point last_arrival = now;

    explicit simulation(double bytes_per_second, std::size_t burst_bytes = burst_size)
        : rate(bytes_per_second), p(burst_bytes, packet)
    {
        p.set_rate(rate, now);
    }

    double burst() const { return pacer::burst(burst_size, packet, rate); }

    void arrive(std::size_t bytes)
    {
        const std::chrono::duration<double> since = now - last_arrival;
        last_arrival = now;
        backlog = std::max(backlog - 1.05 * rate * since.count(), 0.0) +
                  static_cast<double>(bytes);
        worst = std::max(worst, backlog);
    }

    // Whole packets, as long as some may leave.
    void run(duration time, const std::function<duration()>& late)
    {
        const auto end = now + time;
        while (now < end) {
            const auto allowed = p.allowance(plenty, now);
            const auto n = std::min(allowed, most) / packet * packet;
            longest = std::max(longest, allowed);
            if (n) {
                now += time_to_send;
                p.sent(n, now);
                sent += static_cast<double>(n);
                arrive(n);
            } else {
                now = p.next(plenty, now) + late();
                ++waits;
            }
        }
    }

    // Of the rate for so long, within what leaves at a time.
    void check_sent(duration time) const
    {
        const double expected = rate * std::chrono::duration<double>(time).count();
        BOOST_CHECK_SMALL(sent - expected, 2 * burst() + 1e-6 * expected);
    }
};

std::function<duration()> always(duration late)
{
    return [late] { return late; };
}

} // namespace

BOOST_AUTO_TEST_SUITE(pacing)

BOOST_AUTO_TEST_CASE(no_rate_is_no_limit)
{
    pacer p(burst_size, packet);
    p.set_rate(0, pacer::time_point{ seconds(1) });
    p.sent(1 << 30, pacer::time_point{ seconds(1) });
    BOOST_CHECK_EQUAL(p.allowance(1 << 30, pacer::time_point{ seconds(1) }),
                      static_cast<std::size_t>(-1));
}

BOOST_AUTO_TEST_CASE(a_burst_is_what_the_rate_makes_in_300_us_if_that_is_more)
{
    BOOST_CHECK_EQUAL(pacer::burst(65536, 1472, 1e8), 44 * 1472); // a full message
    BOOST_CHECK_EQUAL(pacer::burst(65536, 1472, 1e9), 4 * 44 * 1472);
    BOOST_CHECK_EQUAL(pacer::burst(10000, 1472, 1e6), 6 * 1472);
    BOOST_CHECK_EQUAL(pacer::burst(1, 9000, 1e6), 9000);
}

BOOST_AUTO_TEST_CASE(the_rate_is_exact_in_whole_bursts_though_the_thread_is_always_late)
{
    for (const auto late : { microseconds(0), microseconds(100) })
        for (const double rate : { 1e6, 1e7, 1e8, 1e9, 1e10, 1e11 }) {
            simulation s(rate);
            s.run(seconds(2), always(late));
            s.check_sent(seconds(2));
            BOOST_CHECK_GE(s.sent / static_cast<double>(s.waits), 0.99 * s.burst());
            BOOST_CHECK_LE(s.worst, (late.count() ? 2 : 1) * s.burst() + 1);
        }
}

BOOST_AUTO_TEST_CASE(no_more_than_two_bursts_arrive_at_once_however_long_sends_take)
{
    for (const double rate : { 1e6, 1e8, 1e9 }) {
        std::mt19937 random(5);
        std::uniform_int_distribution<int> late(0, 100);
        simulation s(rate);
        s.run(seconds(2), [&] {
            s.time_to_send = microseconds(late(random));
            return microseconds(4 * late(random));
        });
        BOOST_CHECK_LE(s.worst, 2 * s.burst() + 1);
    }
}

BOOST_AUTO_TEST_CASE(a_thread_that_is_late_now_and_then_catches_up)
{
    for (const double rate : { 1e6, 1e8, 1e9, 1e10 }) {
        std::mt19937 random(3);
        std::uniform_real_distribution<double> uniform;
        simulation s(rate);
        // each 100 ms, of which 5 % are more than the 3 ms that are to be repaid
        auto next_time = s.now;
        s.run(seconds(10), [&]() -> duration {
            if (s.now < next_time)
                return microseconds(static_cast<int>(50 * uniform(random)));
            next_time = s.now + milliseconds(100);
            return milliseconds(3);
        });
        BOOST_CHECK_SMALL(s.sent - 10 * rate, 2 * s.burst() + 3e-3 * rate);
        BOOST_CHECK_LE(s.worst, 2 * s.burst() + 1);
    }
}

BOOST_AUTO_TEST_CASE(short_sends_go_on_until_the_burst_has_left)
{
    simulation s(1e8);
    s.most = 8 * packet;
    s.run(seconds(1), always(microseconds(20)));
    s.check_sent(seconds(1));
    BOOST_CHECK_GE(s.sent / static_cast<double>(s.waits), burst_size - 2 * packet);
}

BOOST_AUTO_TEST_CASE(what_is_queued_leaves_though_it_is_no_burst)
{
    pacer p(burst_size, packet);
    const pacer::time_point start{ seconds(1) };
    p.set_rate(1e6, start);
    BOOST_CHECK_EQUAL(p.allowance(3 * packet, start), 3 * packet);
}

BOOST_AUTO_TEST_CASE(a_stall_is_repaid_at_a_twentieth_of_the_rate)
{
    const double rate = 1e8;
    simulation s(rate);
    s.run(seconds(1), always(microseconds(0)));
    s.now += milliseconds(100); // the network took nothing for so long
    const double before = s.sent;
    s.run(seconds(1), always(microseconds(0)));
    BOOST_CHECK_LE(s.sent - before, 1.05 * rate + 2 * burst_size);
    BOOST_CHECK_GE(s.sent - before, 1.05 * rate - 2 * burst_size);
    s.run(seconds(4), always(microseconds(0))); // 0.1 s at 5 % take 2 s
    BOOST_CHECK_SMALL(s.sent - 6.1 * rate, 2.0 * burst_size);
    BOOST_CHECK_LE(s.worst, 2 * burst_size + 1);
}

BOOST_AUTO_TEST_CASE(no_more_than_a_second_is_repaid)
{
    const double rate = 1e8;
    simulation s(rate);
    s.run(seconds(1), always(microseconds(0)));
    s.now += seconds(3);
    s.run(seconds(26), always(microseconds(0))); // 1 s at 5 % takes 20 s
    BOOST_CHECK_SMALL(s.sent - 28 * rate, 4.0 * burst_size);
    BOOST_CHECK_LE(s.worst, 2 * burst_size + 1);
}

// Before the first packets there is nothing to repay.
BOOST_AUTO_TEST_CASE(the_rate_begins_with_the_first_packets)
{
    const double rate = 1e8;
    simulation s(rate);
    s.now += seconds(5);
    s.run(seconds(1), always(microseconds(0)));
    s.check_sent(seconds(1));
}

BOOST_AUTO_TEST_CASE(a_packet_larger_than_the_burst_still_goes)
{
    pacer p(1, 9000);
    const pacer::time_point start{ seconds(1) };
    p.set_rate(9000, start);
    BOOST_CHECK_EQUAL(p.allowance(9000, start), 9000u);
    p.sent(9000, start);
    BOOST_CHECK_EQUAL(p.allowance(9000, start), 0u);
    BOOST_CHECK(p.next(9000, start) == start + seconds(1));
    BOOST_CHECK_EQUAL(p.allowance(9000, start + seconds(1)), 9000u);
}

BOOST_AUTO_TEST_CASE(a_new_rate_counts_at_once)
{
    simulation s(1e10);
    for (const double rate : { 1e6, 1e9, 1e7 }) {
        s.run(milliseconds(1), always(microseconds(0)));
        s.p.set_rate(s.rate = rate, s.now);
        s.sent = s.backlog = s.worst = 0;
        s.run(seconds(10), always(microseconds(0)));
        s.check_sent(seconds(10));
        BOOST_CHECK_LE(s.worst, s.burst() + 1);
    }
}

BOOST_AUTO_TEST_CASE(a_rate_that_is_set_again_and_again_is_kept)
{
    pacer p(burst_size, packet);
    pacer::time_point now{ seconds(1) };
    double sent = 0;
    for (int i = 0; i < 100'000; ++i, now += microseconds(10)) {
        p.set_rate(1e8 + i, now);
        const auto n = p.allowance(plenty, now);
        p.sent(n, now);
        sent += static_cast<double>(n);
    }
    BOOST_CHECK_CLOSE(sent, 1e8, 1);
}

BOOST_AUTO_TEST_CASE(a_rate_of_nearly_nothing_does_not_overflow_the_clock)
{
    for (const double rate : { 1e-300, 1.0 }) {
        pacer p(burst_size, packet);
        const pacer::time_point start{ seconds(1) };
        p.set_rate(rate, start);
        p.sent(2 * burst_size, start);
        BOOST_CHECK(p.next(packet, start) == start + seconds(3600));
    }
    simulation s(1, packet);
    s.run(seconds(100'000), always(microseconds(100)));
    BOOST_CHECK_SMALL(s.sent - 1e5, 2.0 * packet);
}

BOOST_AUTO_TEST_SUITE_END()
