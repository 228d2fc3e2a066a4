/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// How often this process allocates memory and takes locks. To see who does: a debugger, a
// breakpoint at cost_watch_saw, and cost-tests --run_test=...

#ifndef INCLUDED_SPEAD_CORE_TESTS_COST_WATCH_H
#define INCLUDED_SPEAD_CORE_TESTS_COST_WATCH_H

#include <cstdint>

/*!
 * \brief Counts, while it lives, on the thread that made it and on all others together.
 *
 * One at a time. Allocations are seen wherever in the process they happen, libraries
 * included; locks (mutexes) where our own code and what it has inlined takes them.
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
    tally here() const;
    tally elsewhere() const;
};

#endif /* INCLUDED_SPEAD_CORE_TESTS_COST_WATCH_H */
