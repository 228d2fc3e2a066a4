/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/transport.h"
#include "pacer.h"

#include <algorithm>
#include <cmath>

namespace gr::spead {

pacer::pacer(std::size_t burst_bytes, std::size_t packet_bytes)
    : d_burst_bytes(static_cast<double>(burst_bytes)),
      d_packet_bytes(static_cast<double>(packet_bytes)),
      d_burst(burst_size(d_burst_bytes, d_packet_bytes, 0)),
      d_tokens(d_burst)
{
}

double pacer::burst_size(double burst_bytes, double packet_bytes, double rate)
{
    constexpr double min_duration = 300e-6; // seconds; a thread wakes up in 20 to 50 us
    constexpr double max_burst = 1 << 30;   // bytes, at any rate
    const double bytes = std::max(burst_bytes, std::min(min_duration * rate, max_burst));
    // a partial message costs almost as much as a full one
    const double message_bytes = static_cast<double>(transport::packets_in_message(
                                     static_cast<std::size_t>(packet_bytes))) *
                                 packet_bytes;
    const double unit_bytes = bytes < message_bytes ? packet_bytes : message_bytes;
    return std::max(std::floor(bytes / unit_bytes), 1.0) * unit_bytes;
}

void pacer::set_rate(double bytes_per_second, time_point now)
{
    if (d_last_refill)
        refill(now);
    d_rate = bytes_per_second;
    d_burst = burst_size(d_burst_bytes, d_packet_bytes, d_rate);
    d_tokens = std::min(d_tokens, d_burst);
    d_granted_bytes = d_backlog = 0;
}

double pacer::wanted_bytes(std::size_t waiting) const
{
    return std::min(static_cast<double>(waiting), d_burst);
}

std::size_t pacer::allowance(std::size_t waiting, time_point now)
{
    if (unlimited())
        return static_cast<std::size_t>(-1);
    refill(now);
    // a granted burst may take several sends
    if (d_granted_bytes < std::min(wanted_bytes(waiting), d_packet_bytes)) {
        const double tokens = d_tokens + 1; // tolerates rounding to nanoseconds
        d_granted_bytes = tokens >= 2 * d_burst             ? 2 * d_burst
                          : tokens >= wanted_bytes(waiting) ? wanted_bytes(waiting)
                                                            : 0;
    }
    return static_cast<std::size_t>(d_granted_bytes);
}

pacer::time_point pacer::next_send_time(std::size_t waiting, time_point now) const
{
    constexpr double max_wait = 3600; // seconds, at any rate
    const double missing_tokens = wanted_bytes(waiting) - d_tokens;
    const double seconds =
        std::max(missing_tokens / (1 + catch_up), missing_tokens - d_backlog) / d_rate;
    return now + std::chrono::ceil<std::chrono::nanoseconds>(
                     std::chrono::duration<double>(std::min(seconds, max_wait)));
}

void pacer::sent(std::size_t bytes, time_point now)
{
    refill(now);
    d_tokens -= static_cast<double>(bytes);
    d_granted_bytes -= static_cast<double>(bytes);
}

void pacer::refill(time_point now)
{
    const double seconds =
        std::chrono::duration<double>(now - d_last_refill.value_or(now)).count();
    d_last_refill = now;
    const double repaid = std::min(d_backlog, catch_up * d_rate * seconds);
    const double tokens = d_tokens + d_rate * seconds + repaid;
    d_tokens = std::min(tokens, 2 * d_burst);
    d_backlog =
        std::min(d_backlog - repaid + tokens - d_tokens, max_backlog_seconds * d_rate);
}

} // namespace gr::spead
