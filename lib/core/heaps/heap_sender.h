/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_SENDER_H
#define INCLUDED_SPEAD_CORE_HEAP_SENDER_H

#include "heap_packets.h"
#include "network/transport.h"
#include "pack/packet_ring.h"
#include "pack/ring_wait.h"
#include "pack/ring_writer.h"
#include "send/sender.h"
#include "sink_config.h"

#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Sends heaps of any items, with the packet ring and the sender of the sink.
 *
 * Of the configuration, it uses what concerns packets and the network. Any thread may
 * read the counters. Call the other members from one thread at a time.
 */
class heap_sender
{
public:
    //! Opens the socket or the capture. Throws parameter_error, or std::runtime_error if
    //! a system call fails.
    heap_sender(const sink_config& config, rate_limited_log::output log);
    ~heap_sender();

    void start();
    //! Puts the packets of a heap into the ring; waits while that is full. False, and
    //! the heap is dropped, if the thread is to end (boost::thread::interrupt(), or since
    //! expect_end()) and nothing can be sent for two seconds, or not all in four. \p
    //! is_counted: in heaps_sent and heaps_dropped.
    bool send(const std::vector<outgoing_item>& items, bool is_counted);
    //! The run will end soon.
    void expect_end() { d_expects_end = true; }
    //! Sends all queued packets and the end-of-stream heap. Drops the rest after the same
    //! times.
    void stop();

    wire::flavour flavour() const { return d_config.flavour; }
    sink_counters<std::uint64_t> counts() const;
    std::map<std::string, std::uint64_t> send_errors() const
    {
        return d_sender_counters.errors.by_name();
    }
    rate_limited_log& log() { return d_log; }

private:
    using clock = sender::clock;

    std::uint64_t next_counter();
    bool write(const std::vector<std::byte>& packet, std::uint16_t flags);
    template <typename condition>
    bool wait(condition is_met);
    bool send_end();

    const sink_config d_config;
    rate_limited_log d_log;
    boost::asio::io_context d_io{ 1 };
    std::unique_ptr<transport> d_transport;
    const std::size_t d_packet_bytes;
    sender_counters d_sender_counters;
    sink_counter_set d_counters;
    packet_ring d_ring;
    ring_wait d_ring_wait;
    std::unique_ptr<sender> d_sender;
    ring_writer d_writer;
    std::uint64_t d_counter;
    bool d_expects_end = false;
    std::optional<clock::time_point> d_end_deadline; // once the end is expected
    bool d_is_started = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_SENDER_H */
