/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H
#define INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H

#include <type_traits>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gr::spead {

/*!
 * \brief Collects messages from any thread, and joins them into lines.
 *
 * write() writes at most one line per second, flush() writes at once. write() and flush()
 * may block, for example on a stopped terminal. add() never does.
 */
class rate_limited_log
{
public:
    using clock = std::chrono::steady_clock;
    using output = std::function<void(const std::string&)>;

    explicit rate_limited_log(output write_line) : d_write_line(std::move(write_line)) {}

    //! Joins \p values, strings or integers, into one message. Any thread.
    template <typename... types>
    void add(const types&... values)
    {
        std::string message;
        (append(message, values), ...);
        const std::lock_guard<std::mutex> lock(d_mutex);
        if (std::find(d_messages.begin(), d_messages.end(), message) != d_messages.end())
            return;
        if (d_messages.size() < max_messages)
            d_messages.push_back(message);
        else
            ++d_suppressed;
    }

    //! Writes the messages, unless the last line is less than a second old.
    void write(clock::time_point now = clock::now())
    {
        if (now >= d_next_line)
            flush(now);
    }
    //! Writes the messages now.
    void flush(clock::time_point now = clock::now())
    {
        std::string line;
        {
            const std::lock_guard<std::mutex> lock(d_mutex);
            for (const auto& message : d_messages)
                line += (line.empty() ? "" : "; ") + message;
            if (d_suppressed)
                line += "; " + std::to_string(d_suppressed) + " more";
            d_messages.clear();
            d_suppressed = 0;
        }
        if (line.empty())
            return;
        d_next_line = now + std::chrono::seconds(1);
        d_write_line(line);
    }

private:
    static constexpr std::size_t max_messages = 5; // per line

    template <typename type>
    static void append(std::string& message, const type& value)
    {
        if constexpr (std::is_arithmetic_v<type>)
            message += std::to_string(value);
        else
            message += value;
    }

    const output d_write_line;
    clock::time_point d_next_line{}; // earliest time
    std::mutex d_mutex;              // guards the members below
    std::vector<std::string> d_messages;
    std::size_t d_suppressed = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RATE_LIMITED_LOG_H */
