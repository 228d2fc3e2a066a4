/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ENDPOINT_READER_H
#define INCLUDED_SPEAD_CORE_ENDPOINT_READER_H

#include "datagram_source.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <poll.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Reads datagrams at several endpoints: sockets, or captures in the order of their
 * times.
 */
class endpoint_reader
{
public:
    //! A datagram, or the reason why one of a capture is unusable.
    struct datagram {
        const std::byte* data;
        std::size_t bytes;
        std::size_t endpoint; //!< index
        std::uint64_t sender; //!< not 0
        boost::asio::ip::udp::endpoint sender_address;
        boost::asio::ip::udp::endpoint destination; //!< captures only
        std::chrono::nanoseconds time;              //!< of arrival; captures: since 1970
        packet_error fault;                         //!< without data, unless none
    };
    using visitor = std::function<void(const datagram&)>;
    using clock = std::chrono::steady_clock;

    //! Throws parameter_error, or std::runtime_error if a system call fails.
    endpoint_reader(const std::string& endpoints, const std::string& interface);

    //! Waits for datagrams, for \p timeout at most, and passes some to \p visit: up to 4
    //! MiB of each endpoint.
    void read(std::chrono::milliseconds timeout, const visitor& visit);

    bool is_capture() const { return d_sources.front()->is_capture(); }
    //! Whether the captures have been read to their end.
    bool has_ended() const { return d_has_ended; }
    //! Removes and returns lines for the log: what of the captures cannot be read.
    std::vector<std::string> take_warnings();
    //! The addresses of the sockets, or the files.
    const std::vector<std::string>& endpoints() const { return d_endpoints; }
    //! The ports of the sockets.
    std::vector<int> ports() const;
    //! Number of datagrams that the kernel has dropped at the sockets. Any thread.
    std::uint64_t dropped() const;

private:
    void wait(std::chrono::milliseconds timeout);
    std::size_t earliest() const;
    bool read(std::size_t source, int packets, const visitor& visit);

    boost::asio::io_context d_io{ 1 };
    std::vector<std::unique_ptr<datagram_source>> d_sources; // at least one
    std::vector<std::string> d_endpoints;                    // of the sources
    std::vector<pollfd> d_polled;
    std::vector<std::byte> d_buffer;
    std::vector<std::string> d_warnings;
    bool d_has_read = false; // at the last read(), so that more may be there
    bool d_has_ended = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ENDPOINT_READER_H */
