/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_SIMULATED_TIME_H
#define INCLUDED_SPEAD_CORE_TESTS_SIMULATED_TIME_H

#include <chrono>

/*!
 * \brief The time of a program that only the program itself moves.
 *
 * std::chrono::steady_clock::now() returns it, sleeps end at once and move it. For a
 * program that is linked with simulated_time.cc and the options that its CMakeLists.txt
 * gives it: timers of Boost.Asio then need a poll() after the time has moved.
 */
struct simulated_time {
    static void pass(std::chrono::nanoseconds time);
};

#endif /* INCLUDED_SPEAD_CORE_TESTS_SIMULATED_TIME_H */
