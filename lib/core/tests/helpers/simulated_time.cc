/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "simulated_time.h"

#include <poll.h>
#include <csignal>

#include <atomic>
#include <cerrno>

namespace {

using clock_type = std::chrono::steady_clock;

// atomic: the log thread reads it
std::atomic<clock_type::rep> now{
    std::chrono::nanoseconds(std::chrono::hours(1)).count()
};

std::chrono::nanoseconds duration_of(const timespec& time)
{
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

} // namespace

void simulated_time::advance(std::chrono::nanoseconds time) { now += time.count(); }

// The linker option --wrap requires these names. The first one is the mangled name of
// std::chrono::steady_clock::now().
clock_type::time_point wrapped_now() noexcept
    asm("__wrap__ZNSt6chrono3_V212steady_clock3nowEv");
clock_type::time_point wrapped_now() noexcept
{
    return clock_type::time_point(clock_type::duration(now));
}

extern "C" {

int __wrap_nanosleep(const timespec* time, timespec*);
int __wrap_nanosleep(const timespec* time, timespec*)
{
    simulated_time::advance(duration_of(*time));
    return 0;
}

int __wrap_ppoll(pollfd*, nfds_t, const timespec* time, const sigset_t*);
int __wrap_ppoll(pollfd*, nfds_t, const timespec* time, const sigset_t*)
{
    simulated_time::advance(duration_of(*time));
    return 0;
}

// Without timerfd, Boost.Asio reads the clock.
int __wrap_timerfd_create(int, int);
int __wrap_timerfd_create(int, int)
{
    errno = ENOSYS;
    return -1;
}
}
