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
constexpr std::size_t most_in_a_line = 5;

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
        if (auto* const same = waiting(news))
            same->inputs.insert(input);
    }
    flush(now);
}

// None if there is no room.
log_lines::entry* log_lines::waiting(const std::string& news)
{
    d_waiting = true;
    const auto same = std::find_if(d_entries.begin(),
                                   d_entries.end(),
                                   [&](const entry& one) { return one.news == news; });
    if (same != d_entries.end())
        return &*same;
    if (d_entries.size() < most_in_a_line)
        return &d_entries.emplace_back(entry{ news, {} });
    ++d_more;
    return nullptr;
}

log_lines::time_point log_lines::due() const
{
    const std::lock_guard<std::mutex> lock(d_mutex);
    return d_last_line + line_interval;
}

void log_lines::flush(time_point now, bool last)
{
    std::string line;
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        if (d_entries.empty() || (!last && now < d_last_line + line_interval))
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
    if (d_more)
        line += "; " + std::to_string(d_more) + " more";
    d_more = 0;
    d_entries.clear();
    d_waiting = false;
    return line;
}

} // namespace spead
} // namespace gr
