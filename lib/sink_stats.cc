/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sink_stats.h"

#include <cstring>

namespace gr::spead {

namespace {

std::map<std::string, std::uint64_t> by_name(const error_counters& errors)
{
    std::map<std::string, std::uint64_t> named;
    for (std::size_t i = 0; i < error_counters::causes.size(); ++i) {
        const int error = error_counters::causes[i];
        if (const auto count = errors.get(i))
            named[error ? strerrorname_np(error) : "other"] = count;
    }
    return named;
}

} // namespace

sink_stats read_stats(const engine& counts, std::uint64_t unsendable)
{
    const auto& sent = counts.sent();
    sink_stats now;
    // in this order: what is gone must never seem more than what came in
    now.samples_sent = sent.samples_sent.get();
    now.samples_dropped = sent.samples_dropped.get() +
                          counts.sum(&packer_counters::samples_dropped) + unsendable;
    now.samples_in = counts.sum(&packer_counters::samples_in) + unsendable;
    now.samples_pending = now.samples_in - now.samples_sent - now.samples_dropped;
    now.heaps_sent = sent.heaps_sent.get();
    now.heaps_dropped =
        sent.heaps_dropped.get() + counts.sum(&packer_counters::heaps_dropped);
    now.packets_sent = sent.packets_sent.get();
    now.packets_dropped = sent.packets_dropped.get();
    now.bytes_sent = sent.bytes_sent.get();
    now.icmp_errors = sent.icmp_errors.get();
    now.gso_refused = sent.gso_refused.get();
    now.samples_clipped = counts.sum(&packer_counters::samples_clipped);
    now.gaps = counts.sum(&timeline_counters::gaps);
    now.samples_missing = counts.sum(&timeline_counters::samples_missing);
    now.samples_zero_filled = counts.sum(&packer_counters::samples_zero_filled);
    now.steps_back = counts.sum(&timeline_counters::steps_back);
    now.gso = counts.gso();
    now.zero_copy = counts.zero_copy();
    now.send_errors = by_name(sent.errors);
    return now;
}

} // namespace gr::spead
