/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_RECEIVER_H
#define INCLUDED_SPEAD_CORE_HEAP_RECEIVER_H

#include "heap_collector.h"
#include "network/endpoint_reader.h"
#include "support/rate_limited_log.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Receives whole heaps at several endpoints, and logs what is lost.
 *
 * Any thread may read the counters. Call the other members from one thread at a time.
 */
class heap_receiver
{
public:
    //! Opens the sockets or the captures. Throws parameter_error, or std::runtime_error
    //! if a system call fails.
    heap_receiver(const std::string& endpoints,
                  const std::string& interface,
                  rate_limited_log::output log);

    //! Waits for packets, for \p timeout at most. Returns the heaps that they complete.
    std::vector<received_heap> receive(std::chrono::milliseconds timeout);
    //! Whether the captures have been read to their end.
    bool has_ended() const { return d_reader.has_ended(); }
    //! Gives up the incomplete heaps, and writes the log.
    void end_run();

    const endpoint_reader& reader() const { return d_reader; }
    const heap_collector& collector() const { return d_collector; }
    rate_limited_log& log() { return d_log; }

private:
    using clock = endpoint_reader::clock;

    void log_rejection(packet_error error, const endpoint_reader::datagram& datagram);
    void log_losses(clock::time_point now);

    endpoint_reader d_reader;
    heap_collector d_collector;
    rate_limited_log d_log;
    std::chrono::nanoseconds d_next_check{}; // of open heaps
    clock::time_point d_next_loss_line{};    // earliest time
    std::uint64_t d_logged_incomplete = 0, d_logged_dropped = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_RECEIVER_H */
