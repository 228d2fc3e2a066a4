/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Memory that runs out: operator new of this process throws std::bad_alloc when told to.

#ifndef INCLUDED_SPEAD_CORE_TESTS_FAILING_MEMORY_H
#define INCLUDED_SPEAD_CORE_TESTS_FAILING_MEMORY_H

#include <cstdint>

/*!
 * \brief While it lives, allocations fail: on the thread that made it, or on all others.
 *
 * One at a time.
 */
class memory_shortage
{
public:
    enum class where { here, elsewhere };
    struct plan {
        where on;
        std::uint64_t first; //!< number of the first allocation that fails, from 0
        std::uint64_t failures;
    };
    explicit memory_shortage(const plan& which);
    ~memory_shortage();
    memory_shortage(const memory_shortage&) = delete;
    memory_shortage& operator=(const memory_shortage&) = delete;

    //! Whether an allocation has failed.
    bool has_struck() const;
};

//! How many objects of operator new exist.
std::int64_t objects_in_memory();

#endif /* INCLUDED_SPEAD_CORE_TESTS_FAILING_MEMORY_H */
