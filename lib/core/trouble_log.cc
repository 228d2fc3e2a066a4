/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "trouble_log.h"

#include <cstring>
#include <utility>

namespace gr {
namespace spead {

namespace {
constexpr std::chrono::seconds line_interval{ 1 };
// a cause that comes back sooner is not news
constexpr std::chrono::seconds forget_after{ 10 };
} // namespace

trouble_log::trouble_log(output out) : d_out(std::move(out)) {}

void trouble_log::add(const std::string& news)
{
    d_news += (d_news.empty() ? "" : "; ") + news;
}

void trouble_log::failed(int error, std::uint64_t lost, time_point now)
{
    const auto [seen, is_new] = d_seen.try_emplace(error, now);
    if (is_new || now - seen->second > forget_after)
        add(std::string("sending failed: ") + std::strerror(error));
    seen->second = now;
    d_lost += lost;
    d_outage = d_outage || lost > 0;
    flush(now);
}

void trouble_log::succeeded(time_point now)
{
    // an outage that comes and goes is one outage until there is a line to say so
    if (d_outage && now - d_last_line >= line_interval) {
        add("sending again, " + std::to_string(d_lost) + " packets were lost");
        d_outage = false;
        d_lost = 0;
    }
    flush(now);
}

void trouble_log::warn(const std::string& text, time_point now)
{
    add(text);
    flush(now);
}

void trouble_log::end(time_point now)
{
    if (d_outage)
        add(std::to_string(d_lost) + " packets were lost");
    d_outage = false;
    d_lost = 0;
    flush(now);
}

void trouble_log::flush(time_point now, bool last)
{
    if (d_news.empty() || (!last && now - d_last_line < line_interval))
        return;
    d_out(d_news);
    d_news.clear();
    d_last_line = now;
}

} // namespace spead
} // namespace gr
