/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RING_WAIT_H
#define INCLUDED_SPEAD_CORE_RING_WAIT_H

#include "packet_ring.h"

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>

#include <chrono>

namespace gr::spead {

/*!
 * \brief Lets a packer wait until the sender releases slots of its rings.
 *
 * Uses a condition variable of Boost: GNU Radio stops a block's thread with a Boost
 * interruption.
 */
class ring_wait
{
public:
    using clock = std::chrono::steady_clock;

    //! Wakes the packer. Call this after each successful claim of a ring's packer_waits.
    void notify()
    {
        {
            const boost::lock_guard<boost::mutex> lock(d_mutex);
        }
        d_notified.notify_all();
    }

    //! Waits until \p is_ready() returns true; returns false at the deadline. Calls it
    //! again when one of \p rings (pointers) has more room. May throw
    //! boost::thread_interrupted.
    template <typename pointers, typename condition>
    bool wait(const pointers& rings, condition&& is_ready, clock::time_point deadline)
    {
        boost::unique_lock<boost::mutex> lock(d_mutex);
        for (;;) {
            if (is_ready())
                return true;
            for (packet_ring* ring : rings)
                ring->packer_waits.announce();
            if (is_ready())
                return true;
            const auto timeout = std::chrono::duration_cast<std::chrono::microseconds>(
                deadline - clock::now());
            if (timeout.count() <= 0)
                return false;
            d_notified.timed_wait(lock, boost::posix_time::microseconds(timeout.count()));
        }
    }

private:
    boost::mutex d_mutex;
    boost::condition_variable d_notified;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RING_WAIT_H */
