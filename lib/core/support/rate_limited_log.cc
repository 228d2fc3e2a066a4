/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "rate_limited_log.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace gr::spead {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds line_interval{ 1 };
constexpr std::size_t most_in_a_line = 5;
// At the end, for a terminal that has no room for the last line.
constexpr milliseconds last_wait_for_terminal{ 100 };
// At the end, for all of it.
constexpr std::chrono::seconds last_wait{ 1 };

// GNU Radio's log goes to one of the two, unless it goes to a file. A line that there is
// no room for would hold up whatever else is logged, and the end of the process.
bool terminal_has_room(milliseconds patience)
{
    const auto has_room = [&](int fd) {
        pollfd one{ fd, POLLOUT, 0 };
        return poll(&one, 1, static_cast<int>(patience.count())) > 0;
    };
    return has_room(STDOUT_FILENO) && has_room(STDERR_FILENO);
}

} // namespace

struct rate_limited_log::state {
    struct entry {
        std::string news;
        std::set<std::size_t> inputs; // none: not of inputs
    };

    explicit state(output o) : out(std::move(o)) {}

    entry* waiting(const std::string& news);
    std::string take();
    void write_line(milliseconds patience) noexcept;
    void write();

    const output out;
    std::mutex mutex;
    std::condition_variable changed;
    // under the mutex
    std::vector<entry> entries;
    std::size_t more = 0;    // that there was no room for
    clock::time_point due{}; // of the next line
    bool closing = false;
    bool ended = false; // the thread will not touch anything any more
};

rate_limited_log::rate_limited_log(output out)
    : d_state(std::make_shared<state>(std::move(out)))
{
}

rate_limited_log::~rate_limited_log()
{
    std::unique_lock<std::mutex> lock(d_state->mutex);
    if (!d_writer.joinable()) {
        lock.unlock();
        if (!d_state->entries.empty())
            d_state->write_line(last_wait_for_terminal);
        return;
    }
    d_state->closing = true;
    d_state->changed.notify_all();
    const bool ended =
        d_state->changed.wait_for(lock, last_wait, [this] { return d_state->ended; });
    lock.unlock();
    if (ended)
        d_writer.join();
    else
        d_writer.detach();
}

void rate_limited_log::add_text(const std::string& news)
{
    std::unique_lock<std::mutex> lock(d_state->mutex);
    d_state->waiting(news);
    wake_writer(std::move(lock));
}

void rate_limited_log::add_of_input(std::size_t input, const std::string& news)
{
    std::unique_lock<std::mutex> lock(d_state->mutex);
    if (auto* const same = d_state->waiting(news))
        same->inputs.insert(input);
    wake_writer(std::move(lock));
}

void rate_limited_log::wake_writer(std::unique_lock<std::mutex> lock)
{
    if (d_writer.joinable()) {
        d_state->changed.notify_all();
        return;
    }
    try {
        d_writer = std::thread([shared = d_state] { shared->write(); });
    } catch (const std::exception&) {
        // No thread: better here than not at all. The next text tries again.
        const auto now = clock::now();
        if (now < d_state->due)
            return;
        d_state->due = now + line_interval;
        lock.unlock();
        d_state->write_line(milliseconds(0));
    }
}

// None if there is no room.
rate_limited_log::state::entry* rate_limited_log::state::waiting(const std::string& news)
{
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const entry& one) {
        return one.news == news;
    });
    if (same != entries.end())
        return &*same;
    if (entries.size() < most_in_a_line)
        return &entries.emplace_back(entry{ news, {} });
    ++more;
    return nullptr;
}

std::string rate_limited_log::state::take()
{
    const std::lock_guard<std::mutex> lock(mutex);
    std::string line;
    for (const auto& [news, inputs] : entries) {
        line += line.empty() ? "" : "; ";
        std::string separator = inputs.size() > 1 ? "inputs " : "input ";
        for (const auto input : inputs)
            line += std::exchange(separator, ", ") + std::to_string(input);
        line += (inputs.empty() ? "" : ": ") + news;
    }
    if (more)
        line += "; " + std::to_string(more) + " more";
    more = 0;
    entries.clear();
    return line;
}

void rate_limited_log::state::write_line(milliseconds patience) noexcept
{
    try {
        if (terminal_has_room(patience))
            out(take());
    } catch (...) {
        // no memory for a line
    }
}

// On the thread, until the end.
void rate_limited_log::state::write()
{
    pthread_setname_np(pthread_self(), "spead-log");
    std::unique_lock<std::mutex> lock(mutex);
    for (bool is_last = false; !is_last;) {
        changed.wait(lock, [this] { return closing || !entries.empty(); });
        changed.wait_until(lock, due, [this] { return closing; });
        is_last = closing;
        if (entries.empty())
            continue;
        lock.unlock();
        write_line(is_last ? last_wait_for_terminal : milliseconds(0));
        lock.lock();
        due = clock::now() + line_interval;
    }
    ended = true;
    changed.notify_all();
}

} // namespace gr::spead
