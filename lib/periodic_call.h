/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_PERIODIC_CALL_H
#define INCLUDED_SPEAD_PERIODIC_CALL_H

#include <condition_variable>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

namespace gr::spead {

/*!
 * \brief Calls a function at regular times, on a thread of its own, and a last time when
 * it is stopped.
 *
 * start() and stop() belong to one thread at a time.
 */
class periodic_call
{
public:
    //! With \p seconds 0 it never calls and has no thread.
    periodic_call(double seconds, std::function<void()> call);
    ~periodic_call() { stop(); }

    //! Throws std::runtime_error if there can be no thread.
    void start();
    void stop() noexcept;

private:
    using clock = std::chrono::steady_clock;

    void run();

    const clock::duration d_period;
    const std::function<void()> d_call; // may throw nothing
    std::mutex d_mutex;
    std::condition_variable d_stop;
    bool d_stopping = false;
    std::thread d_thread;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_PERIODIC_CALL_H */
