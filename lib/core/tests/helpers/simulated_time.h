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
 * \brief A clock that only the program itself advances.
 *
 * std::chrono::steady_clock::now() returns this time. A sleep advances it and returns at
 * once. Timers of Boost.Asio expire in the poll() after the time was advanced. Link the
 * program with simulated_time.cc and the --wrap options in fuzz/CMakeLists.txt.
 */
struct simulated_time {
    static void advance(std::chrono::nanoseconds time);
};

#endif /* INCLUDED_SPEAD_CORE_TESTS_SIMULATED_TIME_H */
