/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SOCKET_READER_H
#define INCLUDED_SPEAD_CORE_SOCKET_READER_H

#include "packet_reader.h"

#include <poll.h>
#include <optional>

namespace gr::spead {

/*!
 * \brief Reads the sockets, waits for packets and detects the end of a run.
 *
 * At high packet rates it sleeps for a short time, which is cheaper than a wake-up per
 * packet.
 */
class socket_reader : public packet_reader
{
public:
    struct config {
        clock::duration max_delay{};
        bool end_on_stop = true;
        clock::duration timeout{}; //!< 0: none
    };

    socket_reader(const config& settings,
                  heap_router& router,
                  output_window& window,
                  rate_limited_log& log);

    void start(const source_list& sockets, bool is_repeated) override;
    void poll() override;
    //! The time, excluding the periods between calls of poll(): packets wait in the
    //! sockets meanwhile.
    clock::time_point now() const override { return clock::now() - d_paused_time; }

private:
    void read_all();

    const config d_config;
    std::vector<pollfd> d_polled;
    std::size_t d_kernel_buffer = 0;   // bytes per socket
    std::size_t d_socket = 0;          // index of the one read last
    clock::time_point d_return_time{}; // when poll() returned last
    clock::duration d_paused_time{};   // total time between calls of poll()
    clock::time_point d_last_read{};
    clock::duration d_sleep_time{};    // sleep from the last read on; 0: poll() instead
    clock::time_point d_last_packet{}; // last time one arrived or waited for room
    std::optional<clock::time_point> d_stop_time;
    std::size_t d_read_since_stop = 0; // bytes
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOCKET_READER_H */
