/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "pacer.h"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <random>

using namespace gr::spead;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::size_t burst = 65536;
constexpr std::size_t packet = 1472;
constexpr std::size_t plenty = 1 << 20;

// A sender whose thread wakes up late, against a clock that only this test moves.
struct simulation {
    pacer::time_point now{ seconds(1000) };
    pacer p;
    double sent = 0;
    std::size_t longest = 0;
    std::size_t waits = 0;
    pacer::time_point::duration time_to_send{ 0 };
    double time_of_a_byte = 0;                       // seconds, on top of that
    std::size_t most = static_cast<std::size_t>(-1); // in a send
    // bytes beyond 1.05 x rate x time, as a receiver would see them
    double backlog = 0;
    double worst = 0;
    pacer::time_point last_arrival = now;

    const double rate;

    explicit simulation(double bytes_per_second, std::size_t burst_bytes = burst)
        : p(burst_bytes, packet), rate(bytes_per_second)
    {
        p.set_rate(rate, now);
    }

    void arrive(std::size_t bytes)
    {
        const std::chrono::duration<double> since = now - last_arrival;
        last_arrival = now;
        backlog = std::max(backlog - 1.05 * rate * since.count(), 0.0) +
                  static_cast<double>(bytes);
        worst = std::max(worst, backlog);
    }

    template <typename lateness>
    void run(pacer::time_point::duration time, lateness&& late)
    {
        const auto end = now + time;
        while (now < end) {
            const auto n = std::min(p.allowance(plenty, now), most) / packet * packet;
            if (n) {
                now += time_to_send + std::chrono::nanoseconds(std::llround(
                                          1e9 * time_of_a_byte * static_cast<double>(n)));
                p.sent(n, now);
                sent += static_cast<double>(n);
                arrive(n);
                longest = std::max(longest, n);
            } else {
                now = p.next(plenty, now) + late();
                ++waits;
            }
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(pacing)

BOOST_AUTO_TEST_CASE(no_rate_is_no_limit)
{
    pacer p(burst, packet);
    p.set_rate(0, pacer::time_point{ seconds(1) });
    p.sent(1 << 30, pacer::time_point{ seconds(1) });
    BOOST_CHECK_EQUAL(p.allowance(1 << 30, pacer::time_point{ seconds(1) }),
                      static_cast<std::size_t>(-1));
}

BOOST_AUTO_TEST_CASE(long_run_rate_is_exact_though_the_thread_is_late)
{
    std::mt19937 random(3);
    std::uniform_int_distribution<int> late(0, 20);
    for (const double rate : { 1e6, 1e7, 1e8, 1e9 }) {
        simulation s(rate);
        s.run(seconds(10), [&] { return microseconds(late(random)); });
        BOOST_CHECK_CLOSE(s.sent, 10 * rate, 0.1 + 100 * burst / (10 * rate));
        BOOST_CHECK_LE(s.longest, burst);
    }
}

// as over a veth pair, where the receiver's work is part of the send
BOOST_AUTO_TEST_CASE(long_run_rate_is_exact_though_sends_take_their_time)
{
    std::mt19937 random(8);
    std::uniform_int_distribution<int> late(20, 50);
    for (const double rate : { 1e8, 4e8, 1e9 })
        for (const std::size_t bytes : { burst, 4 * burst })
            for (const double speed : { 2.0, 5.0 }) { // of the path, in rates
                simulation s(rate, bytes);
                s.time_of_a_byte = 1 / (speed * rate);
                s.run(seconds(10), [&] { return microseconds(late(random)); });
                BOOST_CHECK_CLOSE(s.sent, 10 * rate, 0.1);
                BOOST_CHECK_LE(s.worst, bytes + 1);
            }
}

// without segmentation, a call takes eight packets
BOOST_AUTO_TEST_CASE(a_burst_goes_on_though_one_send_does_not_take_it)
{
    std::mt19937 random(10);
    std::uniform_int_distribution<int> late(0, 20);
    simulation s(1e8);
    s.most = 8 * packet;
    s.run(seconds(1), [&] { return microseconds(late(random)); });
    BOOST_CHECK_GE(s.sent / static_cast<double>(s.waits), 0.7 * burst);
    BOOST_CHECK_LE(s.worst, burst + 1);
}

// a wake-up costs more than what is sent between two of them
BOOST_AUTO_TEST_CASE(nearly_a_whole_burst_leaves_between_two_waits)
{
    std::mt19937 random(4);
    std::uniform_int_distribution<int> late(0, 20); // of the 655 us that a burst takes
    simulation s(1e8);
    s.run(seconds(10), [&] { return microseconds(late(random)); });
    BOOST_CHECK_GE(s.sent / static_cast<double>(s.waits), 0.9 * burst);
    BOOST_CHECK_LE(s.longest, burst);
}

// it takes less time than a thread is late, or holds no second packet
BOOST_AUTO_TEST_CASE(the_rate_is_kept_with_a_burst_that_is_too_short_for_it)
{
    std::mt19937 random(6);
    std::uniform_int_distribution<int> late(0, 25);
    for (const double rate : { 1e7, 3e7, 1e8, 1e9, 1e10 })
        for (const std::size_t bytes : { packet, 2 * packet, std::size_t{ 20000 } }) {
            simulation s(rate, bytes);
            s.run(seconds(2), [&] { return microseconds(late(random)); });
            BOOST_CHECK_CLOSE(s.sent, 2 * rate, 0.1);
            const double bucket = packet + 50e-6 * rate;
            BOOST_CHECK_LE(s.worst, bucket > bytes ? 2 * bucket : bytes + 1);
        }
}

BOOST_AUTO_TEST_CASE(whole_bursts_leave_again_after_an_interruption)
{
    std::mt19937 random(9);
    std::uniform_int_distribution<int> late(0, 20);
    simulation s(2e8);
    const auto on_time = [&] { return microseconds(late(random)); };
    s.run(seconds(1), on_time);
    s.now += milliseconds(5);
    s.sent = 0;
    s.waits = 0;
    s.run(milliseconds(50), on_time);
    BOOST_CHECK_GE(s.sent / static_cast<double>(s.waits), 0.9 * burst);
}

// also when the thread is interrupted between the decision and the departure
BOOST_AUTO_TEST_CASE(no_burst_is_longer_than_asked_for_however_late_it_leaves)
{
    std::mt19937 random(5);
    std::uniform_int_distribution<int> late(0, 200);
    for (const double rate : { 1e6, 1e8, 1e9 }) {
        simulation s(rate);
        s.run(seconds(2), [&] {
            s.time_to_send = microseconds(late(random));
            return microseconds(late(random));
        });
        BOOST_CHECK_LE(s.worst, burst + 1);
    }
}

BOOST_AUTO_TEST_CASE(catching_up_after_a_stall_is_limited)
{
    const double rate = 1e8;
    simulation s(rate);
    const auto on_time = [] { return microseconds(0); };
    s.run(seconds(1), on_time);
    s.now += milliseconds(100); // the network took nothing for so long
    const double before = s.sent;
    s.run(seconds(1), on_time);
    BOOST_CHECK_LE(s.sent - before, 1.05 * rate + 2 * burst);
    BOOST_CHECK_GE(s.sent - before, 1.04 * rate);
    s.run(seconds(4), on_time); // 0.1 s at 5 % take 2 s
    BOOST_CHECK_CLOSE(s.sent, 6.1 * rate, 0.1);
}

BOOST_AUTO_TEST_CASE(an_idle_time_is_hardly_caught_up)
{
    const double rate = 1e8;
    simulation s(rate);
    s.now += seconds(5);
    s.p.resume(s.now);
    s.run(seconds(1), [] { return microseconds(0); });
    BOOST_CHECK_LE(s.sent, rate * (1 + pacer::max_idle_debt_seconds) + burst);
    BOOST_CHECK_GE(s.sent, rate - burst);
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

BOOST_AUTO_TEST_CASE(a_lower_rate_waits_for_no_more_than_its_burst)
{
    simulation s(1e10);
    s.run(milliseconds(1), [] { return microseconds(0); });
    s.p.set_rate(1e6, s.now);
    s.sent = 0;
    s.run(seconds(10), [] { return microseconds(0); });
    BOOST_CHECK_CLOSE(s.sent, 1e7, 1);
}

BOOST_AUTO_TEST_CASE(a_rate_of_nearly_nothing_does_not_overflow_the_clock)
{
    pacer p(burst, packet);
    const pacer::time_point start{ seconds(1) };
    p.set_rate(1e-300, start);
    p.sent(2 * burst, start);
    BOOST_CHECK(p.next(packet, start) == start + seconds(3600));
}

BOOST_AUTO_TEST_SUITE_END()
