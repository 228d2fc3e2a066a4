/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_WAKEUP_H
#define INCLUDED_SPEAD_CORE_WAKEUP_H

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <functional>

namespace gr::spead {

//! Wakes a thread that runs an io_context, or waits here. Any thread may call notify().
class wakeup
{
public:
    explicit wakeup(boost::asio::io_context& io); //!< throws std::system_error

    void notify();
    //! Waits for notify() or the timeout.
    void wait(std::chrono::microseconds timeout);
    //! Calls \p handler after each notify(), as long as the io_context runs. The wait
    //! stays pending when it is stopped and restarted.
    void watch(std::function<void()> handler);

private:
    void drain();
    void async_wait();

    boost::asio::posix::stream_descriptor d_event; // an eventfd
    std::function<void()> d_handler;
    bool d_is_pending = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_WAKEUP_H */
