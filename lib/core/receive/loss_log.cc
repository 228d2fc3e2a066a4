/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "loss_log.h"

#include <cstdint>
#include <string>
#include <utility>

namespace gr::spead {

namespace {

constexpr std::chrono::seconds check_interval{ 1 };
constexpr std::chrono::seconds log_interval{ 10 };

std::uint64_t rejected(const source_stats& stats)
{
    std::uint64_t sum = 0;
    for (const auto& [reason, packets] : stats.packets_rejected)
        sum += packets;
    return sum;
}

std::uint64_t total(const source_stats& stats)
{
    return stats.samples_out + stats.samples_skipped;
}

std::string causes(const loss_log::counts& start, const loss_log::counts& end)
{
    const auto& start_stats = start.stats;
    const auto& end_stats = end.stats;
    std::string text;
    const auto append = [&](std::uint64_t n, const std::string& event) {
        if (n)
            text += (text.empty() ? "" : ", ") + std::to_string(n) + event;
    };
    append(end_stats.datagrams_dropped_by_socket -
               start_stats.datagrams_dropped_by_socket,
           " datagrams dropped because the socket buffer was full (lower the rate of the "
           "sender or, if it only sends in bursts, raise net.core.rmem_max)");
    append(
        end_stats.samples_late - start_stats.samples_late,
        " samples later than max_delay or buffer_size allow, or with wrong timestamps");
    append(rejected(end_stats) - rejected(start_stats), " packets rejected");
    for (std::size_t i = 0; i < end.received.size(); ++i)
        if (end.received[i] == start.received[i])
            text += (text.empty() ? "" : ", ") +
                    ("no samples for output " + std::to_string(i));
    return text.empty() ? "their packets have not arrived, or were dropped or ignored"
                        : text;
}

} // namespace

void loss_log::start(const counts& begin, time_point now)
{
    d_begin = d_last_check = begin;
    d_next_check = now + check_interval;
}

void loss_log::check(const counts& current, time_point now)
{
    d_next_check = now + check_interval;
    const auto& start_stats = d_begin.stats;
    const auto& stats = current.stats;
    const auto missing = stats.samples_missing - start_stats.samples_missing;
    const auto unused = stats.samples_late - start_stats.samples_late +
                        stats.samples_duplicate - start_stats.samples_duplicate;
    if (missing)
        d_lines.add(missing,
                    " of ",
                    total(stats) - total(start_stats),
                    " samples are missing: ",
                    causes(d_begin, current));
    else if (stats.datagrams_dropped_by_socket > start_stats.datagrams_dropped_by_socket)
        // with a large buffer, their samples count as missing much later
        d_lines.add(causes(d_begin, current));
    else if (unused > stats.samples_received - start_stats.samples_received)
        d_lines.add("most samples that arrive have been received before, or come after "
                    "max_delay: check the timestamps of the sender");
    else {
        d_begin = std::exchange(d_last_check, current);
        return;
    }
    d_next_check = now + log_interval;
    d_begin = d_last_check = current;
}

} // namespace gr::spead
