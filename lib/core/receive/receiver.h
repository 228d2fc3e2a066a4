/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVER_H
#define INCLUDED_SPEAD_CORE_RECEIVER_H

#include "network/datagram_source.h"
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
 * \brief Reads the sockets, waits for packets and detects the end of a run.
 *
 * At high packet rates it sleeps for a short time, which is cheaper than a wake-up per
 * packet.
 */
class receiver
{
public:
    using clock = std::chrono::steady_clock;

    struct config {
        clock::duration max_delay{};
        bool end_on_stop = true;
        clock::duration timeout{}; //!< 0: none
        bool realtime = false;     //!< replays captures at the speed of their recording
    };

    receiver(const config& how,
             reassembler& to,
             output_window& window,
             rate_limited_log& log);

    //! Starts a run. The sockets must remain valid until the last call of receive().
    //! All or none of them are captures.
    void start(const std::vector<std::unique_ptr<datagram_source>>& sockets);

    //! Waits for packets, for 10 ms at most, then reads the sockets.
    void receive();

    //! The time, excluding the periods between calls of receive(): packets wait in the
    //! sockets meanwhile. For captures, the time of the latest packet.
    clock::time_point now() const
    {
        return d_reads_captures ? d_capture_time : clock::now() - d_paused_time;
    }
    //! Whether packets wait for room in the window.
    bool is_blocked() const { return d_is_blocked; }
    //! Whether the run has ended: nothing follows the samples in the window.
    bool has_ended() const { return d_has_ended; }

private:
    void read_captures();
    void end_captures();
    bool is_early(std::chrono::nanoseconds time);
    void read_all();
    bool deliver(clock::time_point now);

    const config d_config;
    reassembler& d_reassembler;
    output_window& d_window;
    rate_limited_log& d_log;

    const std::vector<std::unique_ptr<datagram_source>>* d_sockets = nullptr;
    std::vector<pollfd> d_polled;
    std::size_t d_kernel_buffer = 0; // bytes per socket
    std::size_t d_socket = 0;        // index of the one read last
    std::vector<std::byte> d_buffer;
    received_datagrams d_pending; // in d_buffer, not delivered yet
    bool d_reads_captures = false;
    clock::time_point d_capture_time{};
    std::optional<clock::time_point> d_replay_begin; // when packets of time 0 were due
    bool d_is_blocked = false;
    bool d_has_ended = false;
    clock::time_point d_returned{};  // when receive() returned last
    clock::duration d_paused_time{}; // total time between calls of receive()
    clock::time_point d_last_read{};
    clock::duration d_nap{};           // sleep from the last read on; 0: poll() instead
    clock::time_point d_last_packet{}; // last time one arrived or waited for room
    std::optional<clock::time_point> d_stop_seen;
    std::size_t d_read_since_stop = 0; // bytes
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVER_H */
