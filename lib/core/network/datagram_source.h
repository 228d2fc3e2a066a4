/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DATAGRAM_SOURCE_H
#define INCLUDED_SPEAD_CORE_DATAGRAM_SOURCE_H

#include "protocol/packet_parser.h"

#include <boost/asio/ip/udp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gr::spead {

//! Datagrams received by one system call, back to back, or one captured datagram.
struct received_datagrams {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;          //!< total; 0: none received
    std::size_t datagram_bytes = 0; //!< size of each; the last may be shorter
    std::uint64_t sender = 0;       //!< identifies the sender; not 0
    boost::asio::ip::udp::endpoint sender_address = {}; //!< the sender's address
    int error = 0;                                      //!< errno; 0 if there is none
    // captures only
    boost::asio::ip::udp::endpoint destination = {}; //!< the datagram's destination
    //! Why the datagram is unusable; it has no data.
    packet_error fault = packet_error::none;
};

//! Where datagrams come from: a socket, or a capture (a file, a named pipe, or packets in
//! memory).
class datagram_source
{
public:
    virtual ~datagram_source() = default;

    //! The size of the buffer for receive().
    static constexpr std::size_t batch_buffer_bytes = 65536;
    //! Reads waiting datagrams into \p buffer; never waits.
    virtual received_datagrams receive(std::byte* buffer) noexcept = 0;
    //! For log messages, such as "port 7148".
    virtual std::string name() const = 0;
    virtual bool is_capture() const { return false; }
    //! The file descriptor of a socket or a named pipe, for poll(). -1: receive() is
    //! always ready.
    virtual int native_handle() const { return -1; }

    //! \name Sockets only: the defaults are those of captures
    //! \{
    //! Number of datagrams that the kernel has dropped so far. Any thread.
    virtual std::uint64_t dropped_by_kernel() const noexcept { return 0; }
    //! Bytes of the receive buffer that the kernel has granted.
    virtual std::size_t kernel_buffer_bytes() const { return 0; }
    virtual bool gro() const { return false; }
    virtual std::uint16_t port() const { return 0; }
    //! \}

    //! \name Captures only: the defaults are those of sockets
    //! \{
    //! When the next datagram was captured, since 1970. Never decreases. None at the end,
    //! or while awaits_pipe(). Must precede receive().
    virtual std::optional<std::chrono::nanoseconds> next_capture_time()
    {
        return std::nullopt;
    }
    //! Whether more may arrive in a named pipe, which is empty.
    virtual bool awaits_pipe() const { return false; }
    //! Removes and returns a line for the log: what of the capture cannot be read. Empty:
    //! nothing new.
    virtual std::string take_warning() { return {}; }
    //! \}
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DATAGRAM_SOURCE_H */
