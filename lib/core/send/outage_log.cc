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
// A host without a receiver refuses packets sooner. It may limit itself to one ICMP error
// per second.
constexpr std::chrono::seconds accepted_after{ 2 };
// A sink that is stopped after its receiver ends sooner.
constexpr std::chrono::seconds max_stop{ 2 };

const char* hint_for(int error)
{
    switch (error) {
    case EADDRNOTAVAIL:
        return " (the interface has no address)";
    case ECONNREFUSED:
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
    if (is_new || now - seen->second > quiet_for) {
        if (error == ECONNREFUSED && d_is_accepted)
            d_refused = d_last_success;
        else
            log(error);
    }
    seen->second = now;
    log_refusal(now);
}

void outage_log::note_success(time_point now)
{
    if (!d_first_success)
        d_first_success = now;
    d_is_accepted |= now - *d_first_success >= accepted_after;
    log_refusal(now);
    if (!d_outage || now - d_last_loss < max_pause)
        return;
    d_lines.add("sending works again; ", d_lost, " packets were dropped");
    d_outage = false;
    d_lost = 0;
}

void outage_log::end(time_point now)
{
    log_refusal(now);
    if (d_outage)
        d_lines.add(d_lost, " packets were dropped");
    d_outage = false;
    d_lost = 0;
    d_seen.clear();
    d_first_success.reset();
    d_is_accepted = false;
    d_refused.reset();
}

void outage_log::log(int error)
{
    d_lines.add("sending failed: ", std::strerror(error), hint_for(error));
}

void outage_log::log_refusal(time_point now)
{
    if (!d_refused || now - *d_refused < max_stop)
        return;
    log(ECONNREFUSED);
    d_refused.reset();
}

} // namespace gr::spead
