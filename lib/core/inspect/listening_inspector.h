/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_LISTENING_INSPECTOR_H
#define INCLUDED_SPEAD_CORE_LISTENING_INSPECTOR_H

#include "network/endpoint_reader.h"
#include "packet_kinds.h"
#include "packet_store.h"
#include "stream_inspector.h"

#include <boost/asio/ip/udp.hpp>

#include <unordered_map>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief A stream_inspector with the sockets or the captures that it reads, and with the
 * packets for trials.
 *
 * Not thread-safe.
 */
class listening_inspector
{
public:
    //! Throws parameter_error, or std::runtime_error if a system call fails.
    listening_inspector(const std::string& endpoints, const std::string& interface);

    //! Reads for this many seconds, or to the end of captures.
    void receive(double seconds);
    //! Adds a datagram, as if it had been received at the endpoint with this index.
    void add(const std::byte* datagram,
             std::size_t bytes,
             const std::string& sender,
             std::size_t endpoint);

    const stream_inspector& inspector() const { return d_inspector; }
    const packet_store& stored_packets() const { return d_stored_packets; }
    const packet_kinds& kinds() const { return d_kinds; }
    bool is_capture() const { return d_reader.is_capture(); }
    //! Whether the captures have been read to their end.
    bool has_ended() const { return d_reader.has_ended(); }
    //! What of the captures cannot be read.
    const std::vector<std::string>& failures() const { return d_failures; }
    //! The addresses that it listens to, or the files.
    const std::vector<std::string>& endpoints() const { return d_reader.endpoints(); }
    //! The destinations of the packets in captures.
    std::vector<std::string> destinations() const;
    //! Number of datagrams that the kernel has dropped at the sockets.
    std::uint64_t dropped() const { return d_reader.dropped(); }
    //! The time between the first and the last packet.
    double seconds() const;

private:
    using clock = stream_inspector::time_point::clock;

    void add(const endpoint_reader::datagram& datagram);
    void add(const std::byte* datagram,
             std::size_t bytes,
             const std::string& sender,
             std::uint64_t sender_number,
             std::size_t endpoint,
             std::chrono::nanoseconds time);

    endpoint_reader d_reader;
    std::set<boost::asio::ip::udp::endpoint> d_destinations; // of a capture
    std::optional<std::chrono::nanoseconds> d_first, d_last; // time of a packet
    std::vector<std::string> d_failures;
    std::unordered_map<std::uint64_t, std::string> d_senders;
    stream_inspector d_inspector;
    packet_store d_stored_packets;
    packet_kinds d_kinds;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_LISTENING_INSPECTOR_H */
