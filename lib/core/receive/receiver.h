/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVER_H
#define INCLUDED_SPEAD_CORE_RECEIVER_H

#include "network/receive_socket.h"
#include "output_window.h"
#include "reassembler.h"
#include "support/rate_limited_log.h"

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Reads the sockets, and decides when to wait for packets and when a run ends.
 *
 * While packets come fast, it is cheaper to sleep for a short time than to be woken for
 * each of them.
 */
class receiver
{
public:
    using clock = std::chrono::steady_clock;

    struct config {
        clock::duration max_delay{};
        bool end_on_stop = true;
        clock::duration timeout{}; //!< 0: none
    };

    receiver(const config& how,
             reassembler& to,
             output_window& window,
             rate_limited_log& log);

    //! The sockets stay valid while receive() is called.
    void start(const std::vector<std::unique_ptr<receive_socket>>& sockets);

    //! Waits for packets, 10 ms at most, and takes what is in the sockets.
    void receive();

    //! The time without the periods between calls of receive(), in which packets wait in
    //! the sockets.
    clock::time_point now() const { return clock::now() - d_halted; }
    //! Whether packets wait for room in the window.
    bool is_blocked() const { return d_is_blocked; }
    //! Whether the run has ended: nothing will come behind what is in the window.
    bool has_ended() const { return d_has_ended; }

private:
    void read_all();
    bool deliver(clock::time_point now);

    const config d_config;
    reassembler& d_to;
    output_window& d_window;
    rate_limited_log& d_log;

    const std::vector<std::unique_ptr<receive_socket>>* d_sockets = nullptr;
    std::vector<pollfd> d_polled;
    std::size_t d_kernel_buffer = 0; // bytes, of each socket
    std::size_t d_socket = 0;        // that was read last
    std::vector<std::byte> d_buffer;
    received_datagrams d_pending; // in the buffer, and not taken
    bool d_is_blocked = false;
    bool d_has_ended = false;
    clock::time_point d_returned{}; // from receive()
    clock::duration d_halted{};     // the time in which it was not called
    clock::time_point d_last_read{};
    clock::duration d_nap{};           // before the next read; 0: until packets come
    clock::time_point d_last_packet{}; // that came, or waited for room
    std::optional<clock::time_point> d_stop_seen;
    std::size_t d_read_since_stop = 0; // bytes
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVER_H */
