/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVE_SOCKET_H
#define INCLUDED_SPEAD_CORE_RECEIVE_SOCKET_H

#include "endpoint.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gr::spead {

//! Datagrams received by one system call, back to back.
struct received_datagrams {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;    //!< total; 0: none received
    std::size_t datagram = 0; //!< bytes of each, but the last may be shorter
    std::uint64_t sender = 0; //!< identifies the source address and port; not 0
    boost::asio::ip::udp::endpoint from = {}; //!< the same
    int error = 0;                            //!< errno; 0 if there is none
};

/*!
 * \brief A UDP socket that receives at one endpoint: an address of this host or a
 * multicast group.
 */
class receive_socket
{
public:
    //! Resolves the host, opens the socket and joins the group. Throws parameter_error,
    //! or std::runtime_error if the system refuses.
    receive_socket(boost::asio::io_context& io,
                   const endpoint& at,
                   const std::string& interface);

    //! The size of the buffer for receive().
    static constexpr std::size_t batch_buffer_bytes = 65536;
    //! Reads waiting datagrams into \p buffer; never waits.
    received_datagrams receive(std::byte* buffer) noexcept;

    int native_handle() const { return d_socket.native_handle(); }

    //! Number of datagrams that the kernel has dropped so far. Any thread.
    std::uint64_t dropped() const noexcept;
    //! Bytes of the receive buffer: granted by the kernel, and requested.
    std::size_t kernel_buffer_bytes() const { return d_kernel_buffer; }
    static constexpr std::size_t wanted_kernel_buffer_bytes = 16 << 20;
    bool gro() const { return d_gro; }
    std::uint16_t port() const { return d_port; }

private:
    using udp = boost::asio::ip::udp;

    mutable udp::socket d_socket; // has no const native_handle()
    std::uint16_t d_port = 0;
    std::size_t d_kernel_buffer = 0;
    bool d_gro = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVE_SOCKET_H */
