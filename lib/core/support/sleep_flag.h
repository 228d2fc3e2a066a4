/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SLEEP_FLAG_H
#define INCLUDED_SPEAD_CORE_SLEEP_FLAG_H

#include <atomic>
#include <cstdint>

namespace gr::spead {

/*!
 * \brief Prevents lost wake-ups between a thread that goes to sleep and one that wakes
 * it.
 *
 * The sleeper calls announce() before it checks its condition for the last time. The
 * other thread calls claim() after it has changed the condition. Then either the sleeper
 * sees the change, or the other thread sees the sleeper.
 */
class sleep_flag
{
public:
    //! \p threshold: wake the sleeper only when a count has reached this value.
    void announce(std::uint64_t threshold = 0)
    {
        d_threshold.store(threshold, std::memory_order_relaxed);
        d_asleep.store(true, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    void withdraw() { d_asleep.store(false, std::memory_order_relaxed); }

    //! Returns whether the caller must wake the sleeper now. \p count: current count.
    bool claim(std::uint64_t count = 0)
    {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return d_asleep.load(std::memory_order_acquire) &&
               count >= d_threshold.load(std::memory_order_relaxed) &&
               d_asleep.exchange(false, std::memory_order_acq_rel);
    }
    bool is_set() const { return d_asleep.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> d_asleep{ false };
    std::atomic<std::uint64_t> d_threshold{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SLEEP_FLAG_H */
