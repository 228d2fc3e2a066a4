/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What tests of two threads need: waiting with a limit, and somebody who looks on.

#ifndef INCLUDED_SPEAD_CORE_TESTS_STRESS_H
#define INCLUDED_SPEAD_CORE_TESTS_STRESS_H

#include "pack/ring_wait.h"
#include "sink_counters.h"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <iterator>
#include <random>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

constexpr auto bound = 10s; // far beyond what any step takes: a hang, not a slow machine

inline auto in_time() { return std::chrono::steady_clock::now() + bound; }

// Until there is more room than at the mark; false is a lost wake-up.
inline bool wait_for_space(gr::spead::ring_wait& space,
                           gr::spead::packet_ring& ring,
                           std::uint64_t mark)
{
    return space.wait(
        std::array{ &ring }, [&] { return ring.has_space_since(mark); }, in_time());
}

// Does something again and again, on a thread of its own; false means that it went wrong.
class bystander
{
public:
    explicit bystander(std::function<bool()> once)
        : d_thread([this, once = std::move(once)] {
              while (!d_done)
                  if (!once())
                      d_wrong = true;
          })
    {
    }
    ~bystander()
    {
        if (d_thread.joinable())
            finish();
    }
    bool finish()
    {
        d_done = true;
        d_thread.join();
        return !d_wrong;
    }

private:
    std::atomic<bool> d_done{ false };
    std::atomic<bool> d_wrong{ false };
    std::thread d_thread;
};

template <typename list>
auto pick(std::mt19937& random, const list& from)
{
    return from[random() % std::size(from)];
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_STRESS_H */
