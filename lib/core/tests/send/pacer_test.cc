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
using namespace std::chrono_literals;
using duration = pacer::time_point::duration;

namespace {

constexpr std::size_t burst_size = 65536;
constexpr std::size_t packet = 1472;
constexpr std::size_t plenty = std::size_t{ 1 } << 50;
const pacer::time_point start{ 1000s };

// A sender whose thread may wake up late, on a simulated clock.
struct simulation {
    pacer::time_point now = start;
    double rate;
    pacer p;
    double sent = 0;
    std::size_t waits = 0;
    duration time_to_send{ 0 };
    // bytes buffered by a receiver that reads at 1.05 of the rate
    double backlog = 0;
    double max_backlog = 0;
    pacer::time_point last_arrival = now;

    explicit simulation(double bytes_per_second, std::size_t burst_bytes = burst_size)
        : rate(bytes_per_second), p(burst_bytes, packet)
    {
        p.set_rate(rate, now);
    }

    double burst() const { return pacer::burst_size(burst_size, packet, rate); }

    void arrive(double bytes)
    {
        const std::chrono::duration<double> since = now - last_arrival;
        last_arrival = now;
        backlog = std::max(backlog - 1.05 * rate * since.count(), 0.0) + bytes;
        max_backlog = std::max(max_backlog, backlog);
    }
    void run(
        duration time, const std::function<duration()>& late = [] { return 0ns; })
    {
        const auto end = now + time;
        while (now < end) {
            if (const auto n = p.allowance(plenty, now) / packet * packet) {
                now += time_to_send;
                p.sent(n, now);
                sent += static_cast<double>(n);
                arrive(static_cast<double>(n));
            } else {
                now = p.next_send_time(plenty, now) + late();
                ++waits;
            }
        }
    }
    // Checks that the bytes sent match the rate to within two bursts.
    void check_sent_in(duration time) const
    {
        const double expected = rate * std::chrono::duration<double>(time).count();
        BOOST_CHECK_SMALL(sent - expected, 2 * burst() + 1e-6 * expected);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(pacing)

BOOST_AUTO_TEST_CASE(rate_of_zero_is_unlimited)
{
    pacer p(burst_size, packet);
    p.set_rate(0, start);
    p.sent(1 << 30, start);
    BOOST_CHECK_EQUAL(p.allowance(1 << 30, start), static_cast<std::size_t>(-1));
}

BOOST_AUTO_TEST_CASE(burst_lasts_300_us_at_high_rates)
{
    BOOST_CHECK_EQUAL(pacer::burst_size(65536, 1472, 1e8), 44 * 1472); // a full message
    BOOST_CHECK_EQUAL(pacer::burst_size(65536, 1472, 1e9), 4 * 44 * 1472);
    BOOST_CHECK_EQUAL(pacer::burst_size(10000, 1472, 1e6), 6 * 1472);
    BOOST_CHECK_EQUAL(pacer::burst_size(1, 9000, 1e6), 9000);
}

BOOST_AUTO_TEST_CASE(rate_is_exact_even_if_the_thread_wakes_up_late)
{
    for (const auto late : { 0us, 100us })
        for (const double rate : { 1e6, 1e8, 1e9, 1e11 }) {
            simulation s(rate);
            s.now += 5s; // pacing begins with the first packets
            s.run(2s, [&] { return late; });
            s.check_sent_in(2s);
            BOOST_CHECK_GE(s.sent / static_cast<double>(s.waits), 0.99 * s.burst());
            BOOST_CHECK_LE(s.max_backlog, (late.count() ? 2 : 1) * s.burst() + 1);
        }
}

BOOST_AUTO_TEST_CASE(at_most_two_bursts_arrive_at_once_even_if_sends_are_slow)
{
    for (const double rate : { 1e6, 1e8, 1e9 }) {
        std::mt19937 random(5);
        simulation s(rate);
        s.run(2s, [&] {
            s.time_to_send = std::chrono::microseconds(random() % 100);
            return std::chrono::microseconds(random() % 400);
        });
        BOOST_CHECK_LE(s.max_backlog, 2 * s.burst() + 1);
    }
}

BOOST_AUTO_TEST_CASE(late_thread_catches_up)
{
    for (const double rate : { 1e6, 1e8, 1e10 }) {
        std::mt19937 random(3);
        simulation s(rate);
        // late by 3 ms every 100 ms, which is less than 5 %
        auto next_time = s.now;
        s.run(10s, [&]() -> duration {
            if (s.now < next_time)
                return std::chrono::microseconds(random() % 50);
            next_time = s.now + 100ms;
            return 3ms;
        });
        BOOST_CHECK_SMALL(s.sent - 10 * rate, 2 * s.burst() + 3e-3 * rate);
        BOOST_CHECK_LE(s.max_backlog, 2 * s.burst() + 1);
    }
}

BOOST_AUTO_TEST_CASE(up_to_a_second_of_a_stall_is_repaid_at_five_percent)
{
    const double rate = 1e8;
    const struct {
        duration stall;
        double repaid; // seconds
    } table[] = { { 100ms, 0.1 }, { 3s, 1 } };
    for (const auto& row : table) {
        simulation s(rate);
        s.run(1s);
        s.now += row.stall;
        const double before = s.sent;
        s.run(1s);
        BOOST_CHECK_SMALL(s.sent - before - 1.05 * rate, 2.0 * burst_size);
        s.run(25s);
        BOOST_CHECK_SMALL(s.sent - (27 + row.repaid) * rate, 4.0 * burst_size);
        BOOST_CHECK_LE(s.max_backlog, 2 * burst_size + 1);
    }
}

BOOST_AUTO_TEST_CASE(single_packets_are_sent_on_time)
{
    pacer p(1, 9000); // smaller than a packet
    p.set_rate(9000, start);
    BOOST_CHECK_EQUAL(p.allowance(9000, start), 9000u);
    p.sent(9000, start);
    BOOST_CHECK_EQUAL(p.allowance(9000, start), 0u);
    BOOST_CHECK(p.next_send_time(9000, start) == start + 1s);
    BOOST_CHECK_EQUAL(p.allowance(9000, start + 1s), 9000u);

    pacer large(burst_size, packet); // does not wait for a full burst
    large.set_rate(1e6, start);
    BOOST_CHECK_EQUAL(large.allowance(3 * packet, start), 3 * packet);
}

BOOST_AUTO_TEST_CASE(new_rate_applies_immediately)
{
    simulation s(1e10);
    for (const double rate : { 1e6, 1e9, 1e7 }) {
        s.run(1ms);
        s.p.set_rate(s.rate = rate, s.now);
        s.sent = s.backlog = s.max_backlog = 0;
        s.run(10s);
        s.check_sent_in(10s);
        BOOST_CHECK_LE(s.max_backlog, s.burst() + 1);
    }
}

BOOST_AUTO_TEST_CASE(rate_is_met_even_if_it_changes_continuously)
{
    pacer p(burst_size, packet);
    auto now = start;
    double sent = 0;
    for (int i = 0; i < 100'000; ++i, now += 10us) {
        p.set_rate(1e8 + i, now);
        const auto n = p.allowance(plenty, now);
        p.sent(n, now);
        sent += static_cast<double>(n);
    }
    BOOST_CHECK_CLOSE(sent, 1e8, 1);
}

BOOST_AUTO_TEST_CASE(tiny_rate_does_not_overflow_the_clock)
{
    for (const double rate : { 1e-300, 1.0 }) {
        pacer p(burst_size, packet);
        p.set_rate(rate, start);
        p.sent(2 * burst_size, start);
        BOOST_CHECK(p.next_send_time(packet, start) == start + 1h);
    }
    simulation s(1, packet);
    s.run(100'000s);
    BOOST_CHECK_SMALL(s.sent - 1e5, 2.0 * packet);
}

BOOST_AUTO_TEST_SUITE_END()
