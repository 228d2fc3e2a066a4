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
constexpr std::chrono::seconds min_repeat_interval{ 10 };
// A shorter time without losses does not end an outage: only one of several destinations
// may be unreachable.
constexpr std::chrono::seconds recovery_time{ 1 };
// A host without a receiver refuses packets sooner. It may limit itself to one ICMP error
// per second.
constexpr std::chrono::seconds acceptance_time{ 2 };
// A sink that is stopped after its receiver ends sooner.
constexpr std::chrono::seconds max_stop_delay{ 2 };

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
        d_has_outage = true;
        d_last_loss = now;
        d_lost += lost;
    }
    const auto [last, is_new] = d_last_occurrence.try_emplace(error, now);
    if (is_new || now - last->second > min_repeat_interval) {
        if (error == ECONNREFUSED && d_is_accepted)
            d_refused_since = d_last_success;
        else
            log(error);
    }
    last->second = now;
    log_refusal(now);
}

void outage_log::note_success(time_point now)
{
    if (!d_first_success)
        d_first_success = now;
    d_is_accepted |= now - *d_first_success >= acceptance_time;
    log_refusal(now);
    if (!d_has_outage || now - d_last_loss < recovery_time)
        return;
    d_lines.add("sending works again; ", d_lost, " packets were dropped");
    d_has_outage = false;
    d_lost = 0;
}

void outage_log::end(time_point now)
{
    log_refusal(now);
    if (d_has_outage)
        d_lines.add(d_lost, " packets were dropped");
    d_has_outage = false;
    d_lost = 0;
    d_last_occurrence.clear();
    d_first_success.reset();
    d_is_accepted = false;
    d_refused_since.reset();
}

void outage_log::log(int error)
{
    d_lines.add("sending failed: ", std::strerror(error), hint_for(error));
}

void outage_log::log_refusal(time_point now)
{
    if (!d_refused_since || now - *d_refused_since < max_stop_delay)
        return;
    log(ECONNREFUSED);
    d_refused_since.reset();
}

} // namespace gr::spead
