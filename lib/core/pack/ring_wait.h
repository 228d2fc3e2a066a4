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
 * \brief Where a packer waits for the sender to give slots of its rings back.
 *
 * Boost's kind of waiting: GNU Radio interrupts the thread of a block by it when the flow
 * graph stops.
 */
class ring_wait
{
public:
    using clock = std::chrono::steady_clock;

    //! Wakes the packer. To be called for each packet_waits that is claimed.
    void notify()
    {
        {
            const boost::lock_guard<boost::mutex> lock(d_mutex);
        }
        d_notified.notify_all();
    }

    //! Waits until \p ready(), which is called again when one of \p rings, pointers to
    //! them, has more room. False if it is not ready at the deadline. May throw
    //! boost::thread_interrupted.
    template <typename pointers, typename condition>
    bool wait(const pointers& rings, condition&& ready, clock::time_point deadline)
    {
        boost::unique_lock<boost::mutex> lock(d_mutex);
        for (;;) {
            if (ready())
                return true;
            for (packet_ring* ring : rings)
                ring->packer_waits.announce();
            if (ready())
                return true;
            const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
                deadline - clock::now());
            if (left.count() <= 0)
                return false;
            d_notified.timed_wait(lock, boost::posix_time::microseconds(left.count()));
        }
    }

private:
    boost::mutex d_mutex;
    boost::condition_variable d_notified;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RING_WAIT_H */
