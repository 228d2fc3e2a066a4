/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SENDER_H
#define INCLUDED_SPEAD_CORE_SENDER_H

#include "send_loop.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gr::spead {

/*!
 * \brief The thread that sends: runs a send_loop from the start of a stream to its end.
 */
class sender
{
public:
    using clock = send_loop::clock;

    //! \p space is called, on the sender's thread, when a packer waits and there is
    //! room again in its ring.
    sender(boost::asio::io_context& io,
           const std::vector<packet_ring*>& rings,
           transport& out,
           sender_counters& counters,
           const sink_options& options,
           std::function<void()> space,
           rate_limited_log& log);
    ~sender();

    void start(); //!< throws std::runtime_error if there can be no thread

    //! Sends what is left until \p deadline; what is left then is dropped and counted.
    void finish(clock::time_point deadline);

    //! \name As those of send_loop; any thread
    //! \{
    void wake() { d_loop.wake(); }
    void expect_refusal() { d_loop.expect_refusal(); }
    void set_rate(double bytes_per_second) { d_loop.set_rate(bytes_per_second); }
    double rate() const { return d_loop.rate(); }
    bool gso() const { return d_loop.gso(); }
    //! \}

private:
    void run();

    boost::asio::io_context& d_io;
    const int d_cpu; // the thread is pinned to it, -1 = not pinned
    rate_limited_log& d_log;
    send_loop d_loop;
    std::thread d_thread;
    std::mutex d_mutex;
    std::condition_variable d_ended;
    bool d_running = false; // under the mutex
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SENDER_H */
