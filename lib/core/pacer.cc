/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "pacer.h"

#include <algorithm>
#include <cmath>

namespace gr {
namespace spead {

namespace {

// Seconds between the moment to send and the time when that is done, on a busy machine.
constexpr double usually_late = 50e-6;
// Seconds; a thread that is later than that was interrupted, and that is no habit.
constexpr double longest_lateness = 200e-6;
// Seconds of the rate; more than an interruption costs as a rule.
constexpr double tolerable_debt = 5e-3;
// Parts of the bucket: for a thread that is less late than expected it is better to send
// a little less than to wait once more; and one send may not take all of a burst.
constexpr double worth_sending = 0.5;
constexpr double worth_going_on = 0.25;
// Bytes; a rate of nearly everything must not overflow.
constexpr double longest_burst = 1 << 30;

} // namespace

pacer::pacer(std::size_t burst_bytes, std::size_t packet_bytes)
    : d_wanted_burst(static_cast<double>(std::max(burst_bytes, packet_bytes))),
      d_packet(static_cast<double>(packet_bytes)),
      d_burst(d_wanted_burst),
      d_tokens(d_burst),
      d_enough(d_packet)
{
}

// A thread that is late must find in the bucket what has come in meanwhile.
double pacer::bucket(double burst_bytes, double packet_bytes, double rate)
{
    return std::max(burst_bytes,
                    packet_bytes + std::min(usually_late * rate, longest_burst));
}

void pacer::set_rate(double bytes_per_second, time_point now)
{
    refill(now, true);
    d_rate = bytes_per_second;
    d_burst = bucket(d_wanted_burst, d_packet, d_rate);
    d_tokens = std::min(d_tokens, d_burst);
    d_enough = d_packet;
    d_due.reset();
    d_begun = false;
    d_lateness = 0;
    d_debt = 0;
}

void pacer::resume(time_point now)
{
    refill(now, false);
    d_due.reset();
    d_begun = false;
}

double pacer::wanted(std::size_t waiting) const
{
    return std::min(d_enough, std::max(static_cast<double>(waiting), 1.0));
}

// The same, or a part of the bucket, if that is less.
double pacer::wanted_or(double part, std::size_t waiting) const
{
    return std::min(wanted(waiting), std::max(part * d_burst, d_packet));
}

std::size_t pacer::allowance(std::size_t waiting, time_point now)
{
    if (unlimited())
        return static_cast<std::size_t>(-1);
    refill(now, true);
    const bool due = d_due && now >= *d_due;
    const double least = d_begun ? wanted_or(worth_going_on, waiting)
                         : due   ? wanted_or(worth_sending, waiting)
                                 : wanted(waiting);
    return d_tokens >= least ? static_cast<std::size_t>(d_tokens) : 0;
}

// Seconds, at the faster rate as long as something is owed.
double pacer::time_until(double tokens) const
{
    const double missing = std::max(tokens - d_tokens, 0.0);
    return std::max(missing / (1 + catch_up), missing - d_debt) / d_rate;
}

pacer::time_point pacer::next(std::size_t waiting, time_point now)
{
    constexpr double longest =
        3600; // seconds; a rate of nearly nothing must not overflow
    const double seconds = std::max(time_until(wanted(waiting)) - d_lateness,
                                    time_until(wanted_or(worth_sending, waiting)));
    const std::chrono::duration<double> wait(std::min(seconds, longest));
    d_due = now + std::chrono::ceil<std::chrono::nanoseconds>(wait);
    d_begun = false;
    return *d_due;
}

// The bucket fills until they have left: what leaves later than it might have must not
// have the next burst at its heels. Where the bucket is larger than a burst was to be,
// only the rate can be kept.
void pacer::sent(std::size_t bytes, time_point now)
{
    if (unlimited())
        return;
    if (d_due)
        learn_lateness(now - *d_due);
    d_due.reset();
    d_begun = true;
    const bool strict = d_burst == d_wanted_burst;
    if (strict)
        refill(now, true);
    d_tokens -= static_cast<double>(bytes);
    // The more leaves at a time, the fewer wake-ups it costs. But one that is too slow
    // for that lets the bucket overflow each time: when much is owed some is left free,
    // so that it settles where it falls behind no further.
    const double most = strict ? d_burst : d_burst / 2;
    const double least = d_burst / 2 - (strict ? usually_late * d_rate : 0);
    const double much = std::max(d_debt - tolerable_debt * d_rate, 0.0);
    d_enough = std::max({ most - much, least, d_packet });
}

// From the time when the thread was to wake up to the end of the send.
void pacer::learn_lateness(std::chrono::duration<double> late)
{
    if (late.count() > longest_lateness)
        return;
    const double most = d_burst / 2 / d_rate; // or it would send less and less
    d_lateness += (std::clamp(late.count(), 0.0, most) - d_lateness) / 8;
}

void pacer::refill(time_point now, bool owe)
{
    const double seconds = std::chrono::duration<double>(now - d_last).count();
    d_last = now;
    const double repaid = std::min(d_debt, catch_up * d_rate * seconds);
    d_debt -= repaid;
    d_tokens += d_rate * seconds + repaid;
    if (d_tokens > d_burst) {
        const double most = (owe ? max_debt_seconds : max_idle_debt_seconds) * d_rate;
        d_debt = std::max(d_debt, std::min(d_debt + d_tokens - d_burst, most));
        d_tokens = d_burst;
    }
}

} // namespace spead
} // namespace gr
