/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_LOG_LINES_H
#define INCLUDED_SPEAD_CORE_LOG_LINES_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace gr {
namespace spead {

/*!
 * \brief Makes at most one line a second of all there is to say.
 *
 * What comes sooner waits, and is said together. Any thread.
 */
class log_lines
{
public:
    using time_point = std::chrono::steady_clock::time_point;
    using output = std::function<void(const std::string&)>;

    explicit log_lines(output out) : d_out(std::move(out)) {}

    //! A line of its own, at once, which is not counted.
    void say(const std::string& line) const { d_out(line); }
    void add(const std::string& news, time_point now);
    //! Of one of several inputs. Those that wait with the same news are named together.
    void add_of_input(std::size_t input, const std::string& news, time_point now);

    //! Whether nothing waits; to be tested cheaply.
    bool empty() const { return !d_waiting.load(std::memory_order_relaxed); }
    //! Whether a line may be written, and from when on.
    bool is_due(time_point now) const { return now >= due(); }
    time_point due() const;
    //! Writes what waits, if a line may be written or if it is the \p last time.
    void flush(time_point now, bool last = false);

private:
    struct entry {
        std::string news;
        std::set<std::size_t> inputs; // none: not of inputs
    };

    entry* waiting(const std::string& news);
    std::string take();

    const output d_out;
    mutable std::mutex d_mutex;
    std::vector<entry> d_entries;
    std::size_t d_more = 0; // that there was no room for
    time_point d_last_line{};
    std::atomic<bool> d_waiting{ false };
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_LOG_LINES_H */
