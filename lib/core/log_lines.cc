/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "log_lines.h"

#include <algorithm>
#include <utility>

namespace gr {
namespace spead {

namespace {

constexpr std::chrono::seconds line_interval{ 1 };

} // namespace

void log_lines::add(const std::string& news, time_point now)
{
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        waiting(news);
    }
    flush(now);
}

void log_lines::add_of_input(std::size_t input, const std::string& news, time_point now)
{
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        waiting(news).inputs.insert(input);
    }
    flush(now);
}

log_lines::entry& log_lines::waiting(const std::string& news)
{
    d_waiting = true;
    const auto same = std::find_if(d_entries.begin(),
                                   d_entries.end(),
                                   [&](const entry& one) { return one.news == news; });
    return same == d_entries.end() ? d_entries.emplace_back(entry{ news, {} }) : *same;
}

bool log_lines::is_due(time_point now) const
{
    const std::lock_guard<std::mutex> lock(d_mutex);
    return now - d_last_line >= line_interval;
}

void log_lines::flush(time_point now, bool last)
{
    std::string line;
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        if (d_entries.empty() || (!last && now - d_last_line < line_interval))
            return;
        line = take();
        d_last_line = now;
    }
    d_out(line);
}

std::string log_lines::take()
{
    std::string line;
    for (const auto& [news, inputs] : d_entries) {
        line += line.empty() ? "" : "; ";
        std::string separator = inputs.size() > 1 ? "inputs " : "input ";
        for (const auto input : inputs)
            line += std::exchange(separator, ", ") + std::to_string(input);
        line += (inputs.empty() ? "" : ": ") + news;
    }
    d_entries.clear();
    d_waiting = false;
    return line;
}

} // namespace spead
} // namespace gr
