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
 * \brief One thread says that it is going to sleep, another that it has news.
 *
 * announce() before the last look at the condition and claim() after the condition has
 * been changed: either the sleeper sees the change or the other side sees the sleeper.
 */
class sleep_flag
{
public:
    //! With \p until, the sleeper is woken when something that counts has reached it.
    void announce(std::uint64_t until = 0)
    {
        d_until.store(until, std::memory_order_relaxed);
        d_asleep.store(true, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    void withdraw() { d_asleep.store(false, std::memory_order_relaxed); }

    //! Whether a sleeper is to be woken now, by the caller.
    bool claim(std::uint64_t reached = 0)
    {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return d_asleep.load(std::memory_order_acquire) &&
               reached >= d_until.load(std::memory_order_relaxed) &&
               d_asleep.exchange(false, std::memory_order_acq_rel);
    }
    bool is_set() const { return d_asleep.load(std::memory_order_relaxed); }

private:
    std::atomic<bool> d_asleep{ false };
    std::atomic<std::uint64_t> d_until{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SLEEP_FLAG_H */
