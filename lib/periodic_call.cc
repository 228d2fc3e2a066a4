/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "core/support/thread_setup.h"
#include "periodic_call.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

periodic_call::periodic_call(double seconds, std::function<void()> call)
    : d_period(std::chrono::duration_cast<clock::duration>(
          std::chrono::duration<double>(seconds))),
      d_call(std::move(call))
{
}

void periodic_call::start()
{
    stop(); // if it was not stopped
    if (d_period == clock::duration::zero())
        return;
    d_stopping = false;
    d_thread = start_thread([this] { run(); });
}

void periodic_call::stop() noexcept
{
    if (!d_thread.joinable())
        return;
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
        d_stopping = true;
    }
    d_stop.notify_all();
    d_thread.join();
    d_call();
}

void periodic_call::run()
{
    auto next = clock::now();
    std::unique_lock<std::mutex> lock(d_mutex);
    for (;;) {
        // one that comes late does not have others follow it closely
        next = std::max(next + d_period, clock::now());
        if (d_stop.wait_until(lock, next, [this] { return d_stopping; }))
            return;
        lock.unlock();
        d_call();
        lock.lock();
    }
}

} // namespace gr::spead
