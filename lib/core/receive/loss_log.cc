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

std::string causes(const source_stats& before, const source_stats& after)
{
    std::string text;
    const auto append = [&](std::uint64_t n, const std::string& event) {
        if (n)
            text += (text.empty() ? "" : ", ") + std::to_string(n) + event;
    };
    append(after.datagrams_dropped_by_socket - before.datagrams_dropped_by_socket,
           " datagrams dropped because the socket buffer was full (lower the rate of the "
           "sender or, if it only sends in bursts, raise net.core.rmem_max)");
    append(after.samples_late - before.samples_late,
           " samples later than max_delay or with wrong timestamps");
    append(rejected(after) - rejected(before), " packets rejected");
    return text.empty() ? "their packets have not arrived, or were dropped or ignored"
                        : text;
}

} // namespace

void loss_log::start(const source_stats& stats, output_samples received, time_point now)
{
    d_begin = d_last_check = stats;
    d_received = std::move(received);
    d_next_check = now + between_checks;
}

void loss_log::check(const source_stats& stats, output_samples received, time_point now)
{
    std::string silent;
    for (std::size_t i = 0; i < received.size(); ++i)
        if (received[i] == d_received[i])
            silent += (silent.empty() ? "" : ", ") + std::to_string(i);
    d_next_check = now + between_checks;
    const auto missing = stats.samples_missing - d_begin.samples_missing;
    const auto unused = stats.samples_late - d_begin.samples_late +
                        stats.samples_duplicate - d_begin.samples_duplicate;
    if (missing)
        d_lines.add(missing,
                    " of ",
                    total(stats) - total(d_begin),
                    " samples are missing: ",
                    silent.empty() || received.size() == 1
                        ? causes(d_begin, stats)
                        : "nothing has arrived for output " + silent);
    else if (stats.datagrams_dropped_by_socket > d_begin.datagrams_dropped_by_socket)
        // with a large buffer, their samples count as missing much later
        d_lines.add(causes(d_begin, stats));
    else if (unused > stats.samples_received - d_begin.samples_received)
        d_lines.add("most samples that arrive have been received before, or come after "
                    "max_delay: check the timestamps of the sender");
    else {
        d_begin = std::exchange(d_last_check, stats);
        return;
    }
    d_next_check = now + between_lines;
    d_begin = d_last_check = stats;
    d_received = std::move(received);
}

} // namespace gr::spead
