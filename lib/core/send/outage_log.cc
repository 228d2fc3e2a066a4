/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "outage_log.h"

#include <cerrno>
#include <cstring>

namespace gr::spead {

namespace {
// An error that recurs sooner is not logged again.
constexpr std::chrono::seconds quiet_for{ 10 };
// A shorter time without losses does not end an outage: only one of several destinations
// may be unreachable.
constexpr std::chrono::seconds max_pause{ 1 };

const char* hint_for(int error)
{
    switch (error) {
    case EADDRNOTAVAIL:
        return " (the interface has no address)";
    case ECONNREFUSED: // also when a receiver stops before the sink does
        return " (no program listens there, or it has stopped)";
    default:
        return "";
    }
}
} // namespace

void outage_log::failed(int error, std::uint64_t lost, time_point now)
{
    if (lost) {
        d_outage = true;
        d_last_loss = now;
        d_lost += lost;
    }
    const auto [seen, is_new] = d_seen.try_emplace(error, now);
    if (is_new || now - seen->second > quiet_for)
        d_lines.add("sending failed: ", std::strerror(error), hint_for(error));
    seen->second = now;
}

void outage_log::succeeded(time_point now)
{
    if (!d_outage || now - d_last_loss < max_pause)
        return;
    d_lines.add("sending works again; ", d_lost, " packets were dropped");
    d_outage = false;
    d_lost = 0;
}

void outage_log::end()
{
    if (d_outage)
        d_lines.add(d_lost, " packets were dropped");
    d_outage = false;
    d_lost = 0;
    d_seen.clear();
}

} // namespace gr::spead
