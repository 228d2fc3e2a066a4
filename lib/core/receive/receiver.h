/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVER_H
#define INCLUDED_SPEAD_CORE_RECEIVER_H

#include "network/receive_socket.h"
#include "reassembler.h"
#include "sample_window.h"
#include "support/rate_limited_log.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <condition_variable>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace gr::spead {

/*!
 * \brief The receiving thread: packets from sockets to the window.
 *
 * While packets come fast, it is cheaper to look at the sockets now and then than to be
 * woken by them, and to wake the reader of the window. Then the reader itself takes them
 * out of the sockets, unless the thread is to run on a CPU of its own: no thread is
 * woken, and the samples stay in the caches of one CPU. The thread takes over when the
 * reader is late.
 */
class receiver
{
public:
    using clock = sample_window::clock;

    //! A socket, and the group of outputs that its packets are for.
    struct input {
        std::unique_ptr<receive_socket> socket;
        std::size_t group;
    };
    struct plan {
        int cpu = -1; //!< -1: any
        clock::duration max_delay{};
        bool end_on_stop = true;
        clock::duration timeout{}; //!< 0: none
    };

    //! \p wake wakes the reader of the window.
    receiver(const plan& how,
             boost::asio::io_context& io,
             std::vector<input>& inputs,
             reassembler& to,
             sample_window& window,
             std::function<void()> wake,
             rate_limited_log& log);
    ~receiver() { stop(); }

    //! Throws std::runtime_error if there can be no thread.
    void start();
    void stop() noexcept;

    //! When a reader that has nothing to read is to call poll(). None: it waits until it
    //! is woken.
    std::optional<clock::time_point> next_poll() const;
    //! Takes what is in the sockets.
    void poll();

    //! Whether the stream has ended: nothing will come behind what is in the window.
    bool has_ended() const { return d_has_ended.load(std::memory_order_acquire); }

private:
    void run();
    bool take_turn();
    void poll_sockets();
    std::pair<std::size_t, bool> read_all();
    void note_error(const receive_socket& socket);
    bool deliver(clock::time_point now);
    void publish(clock::time_point now);
    void wait_for_packets();
    bool end_is_due(clock::time_point now);
    bool has_read_rest() const;
    void end();
    void wake_reader(clock::time_point now);

    static constexpr auto never = clock::time_point::max();

    const plan d_plan;
    boost::asio::io_context& d_io;
    // without it, an io_context that has nothing to wait for any more ends
    const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> d_work;
    std::vector<input>& d_inputs;
    reassembler& d_to;
    sample_window& d_window;
    const std::function<void()> d_wake;
    rate_limited_log& d_log;

    std::vector<std::byte> d_buffer;
    received_datagrams d_pending; // in the buffer, and not taken
    std::size_t d_pending_group = 0;
    bool d_is_blocked = false;    // the window is full
    bool d_has_failed = false;    // a socket
    std::vector<char> d_waits;    // sockets that are waited for
    std::int64_t d_woken_for = 0; // position up to which the reader was woken
    clock::time_point d_woken_at{};
    clock::time_point d_last_packet{};
    std::optional<clock::time_point> d_stop_seen;
    std::size_t d_read_since_stop = 0; // bytes

    // Held by the thread that polls: for the members above, the reassembler and the
    // writing side of the window. In wait_for_packets() and end() the reader does not
    // poll.
    std::mutex d_mutex;
    std::condition_variable d_poll_is_earlier;
    clock::time_point d_last_poll{};
    std::optional<clock::time_point>
        d_next_poll; // of the thread; none: when packets come
    std::atomic<clock::time_point> d_next_poll_by_reader{ never };

    std::atomic<bool> d_stopping{ false };
    std::atomic<bool> d_has_ended{ false };
    std::thread d_thread;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVER_H */
