/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_BENCHMARK_PROGRESS_H
#define INCLUDED_SPEAD_BENCHMARK_PROGRESS_H

#include <condition_variable>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>

using steady = std::chrono::steady_clock;

inline double seconds_since(steady::time_point start)
{
    return std::chrono::duration<double>(steady::now() - start).count();
}

//! Says every half second how far it is, while it lives.
class progress
{
public:
    progress(std::function<std::uint64_t()> samples_sent, std::uint64_t samples)
        : d_samples_sent(std::move(samples_sent)),
          d_samples(samples),
          d_thread(&progress::run, this)
    {
    }
    ~progress()
    {
        {
            const std::lock_guard<std::mutex> lock(d_mutex);
            d_done = true;
        }
        d_changed.notify_all();
        d_thread.join();
    }

private:
    void run()
    {
        std::unique_lock<std::mutex> lock(d_mutex);
        while (!d_changed.wait_for(
            lock, std::chrono::milliseconds(500), [this] { return d_done; })) {
            const auto sent = static_cast<double>(d_samples_sent());
            std::printf("%5.1f %%  %.0f MB\n",
                        100 * sent / static_cast<double>(d_samples),
                        sent / 1e6);
            std::fflush(stdout);
        }
    }

    const std::function<std::uint64_t()> d_samples_sent;
    const std::uint64_t d_samples;
    std::mutex d_mutex;
    std::condition_variable d_changed;
    bool d_done = false;
    std::thread d_thread;
};

#endif /* INCLUDED_SPEAD_BENCHMARK_PROGRESS_H */
