/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// For tests with several threads: waits with a timeout, and checks in the background.

#ifndef INCLUDED_SPEAD_CORE_TESTS_STRESS_H
#define INCLUDED_SPEAD_CORE_TESTS_STRESS_H

#include "pack/ring_wait.h"
#include "support/sink_counters.h"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <random>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

constexpr auto test_timeout = 10s; // reached only by a hang, not on a slow machine

inline auto test_deadline() { return std::chrono::steady_clock::now() + test_timeout; }

// Waits for more room than when released() was \p mark. False if a wake-up was lost.
inline bool wait_for_space(gr::spead::ring_wait& space,
                           gr::spead::packet_ring& ring,
                           std::uint64_t mark)
{
    return space.wait(
        std::array{ &ring }, [&] { return ring.has_space_since(mark); }, test_deadline());
}

// Calls a function repeatedly on its own thread; the function returns false on failure.
class background_check
{
public:
    explicit background_check(std::function<bool()> function)
        : d_thread([this, function = std::move(function)] {
              while (!d_done)
                  if (!function())
                      d_has_failed = true;
          })
    {
    }
    ~background_check()
    {
        if (d_thread.joinable())
            finish();
    }
    // Stops the thread. Returns whether all calls succeeded.
    bool finish()
    {
        d_done = true;
        d_thread.join();
        return !d_has_failed;
    }

private:
    std::atomic<bool> d_done{ false };
    std::atomic<bool> d_has_failed{ false };
    std::thread d_thread;
};

template <typename list>
auto pick(std::mt19937& random, const list& from)
{
    return from[random() % std::size(from)];
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_STRESS_H */
