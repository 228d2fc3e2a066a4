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

constexpr std::chrono::seconds between_checks{ 1 };
constexpr std::chrono::seconds between_lines{ 10 };

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

std::string causes(const loss_log::counts& begin, const loss_log::counts& current)
{
    const auto& before = begin.stats;
    const auto& after = current.stats;
    std::string text;
    const auto append = [&](std::uint64_t n, const std::string& event) {
        if (n)
            text += (text.empty() ? "" : ", ") + std::to_string(n) + event;
    };
    append(after.datagrams_dropped_by_socket - before.datagrams_dropped_by_socket,
           " datagrams dropped because the socket buffer was full (lower the rate of the "
           "sender or, if it only sends in bursts, raise net.core.rmem_max)");
    append(
        after.samples_late - before.samples_late,
        " samples later than max_delay or buffer_size allow, or with wrong timestamps");
    append(rejected(after) - rejected(before), " packets rejected");
    for (std::size_t i = 0; i < current.received.size(); ++i)
        if (current.received[i] == begin.received[i])
            text += (text.empty() ? "" : ", ") +
                    ("no samples for output " + std::to_string(i));
    return text.empty() ? "their packets have not arrived, or were dropped or ignored"
                        : text;
}

} // namespace

void loss_log::start(const counts& begin, time_point now)
{
    d_begin = d_last_check = begin;
    d_next_check = now + between_checks;
}

void loss_log::check(const counts& current, time_point now)
{
    d_next_check = now + between_checks;
    const auto& before = d_begin.stats;
    const auto& stats = current.stats;
    const auto missing = stats.samples_missing - before.samples_missing;
    const auto unused = stats.samples_late - before.samples_late +
                        stats.samples_duplicate - before.samples_duplicate;
    if (missing)
        d_lines.add(missing,
                    " of ",
                    total(stats) - total(before),
                    " samples are missing: ",
                    causes(d_begin, current));
    else if (stats.datagrams_dropped_by_socket > before.datagrams_dropped_by_socket)
        // with a large buffer, their samples count as missing much later
        d_lines.add(causes(d_begin, current));
    else if (unused > stats.samples_received - before.samples_received)
        d_lines.add("most samples that arrive have been received before, or come after "
                    "max_delay: check the timestamps of the sender");
    else {
        d_begin = std::exchange(d_last_check, current);
        return;
    }
    d_next_check = now + between_lines;
    d_begin = d_last_check = current;
}

} // namespace gr::spead
