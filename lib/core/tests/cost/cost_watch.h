/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Counts how often this process allocates memory and takes locks. To find the callers,
// run cost-tests --run_test=... in a debugger with a breakpoint at cost_watch_breakpoint.

#ifndef INCLUDED_SPEAD_CORE_TESTS_COST_WATCH_H
#define INCLUDED_SPEAD_CORE_TESTS_COST_WATCH_H

#include <cstdint>

/*!
 * \brief Counts while it exists: on the thread that created it, and on all other threads.
 *
 * Only one may exist at a time. It counts all allocations of the process, libraries
 * included, and the mutexes locked by code compiled into this program.
 */
class cost_watch
{
public:
    cost_watch();
    ~cost_watch();
    cost_watch(const cost_watch&) = delete;
    cost_watch& operator=(const cost_watch&) = delete;

    struct tally {
        std::uint64_t allocations;
        std::uint64_t locks;
    };
    tally here() const;      //!< on the thread that created it
    tally elsewhere() const; //!< on all other threads
};

#endif /* INCLUDED_SPEAD_CORE_TESTS_COST_WATCH_H */
