/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "trouble_log.h"

#include <cstring>

namespace gr {
namespace spead {

namespace {
// a cause that comes back sooner is not news
constexpr std::chrono::seconds forget_after{ 10 };
} // namespace

void trouble_log::failed(int error, std::uint64_t lost, time_point now)
{
    const auto [seen, is_new] = d_seen.try_emplace(error, now);
    if (is_new || now - seen->second > forget_after)
        d_lines.add(std::string("sending failed: ") + std::strerror(error), now);
    seen->second = now;
    d_lost += lost;
    d_outage = d_outage || lost > 0;
    flush(now);
}

void trouble_log::succeeded(time_point now)
{
    // an outage that comes and goes is one outage until there is a line to say so
    if (d_outage && d_lines.is_due(now)) {
        d_lines.add("sending again, " + std::to_string(d_lost) + " packets were lost",
                    now);
        d_outage = false;
        d_lost = 0;
    }
    flush(now);
}

void trouble_log::warn(const std::string& text, time_point now)
{
    d_lines.add(text, now);
}

void trouble_log::end(time_point now)
{
    if (d_outage)
        d_lines.add(std::to_string(d_lost) + " packets were lost", now);
    d_outage = false;
    d_lost = 0;
    flush(now);
}

void trouble_log::flush(time_point now, bool last) { d_lines.flush(now, last); }

} // namespace spead
} // namespace gr
