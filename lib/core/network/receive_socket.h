/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVE_SOCKET_H
#define INCLUDED_SPEAD_CORE_RECEIVE_SOCKET_H

#include "datagram_source.h"
#include "endpoint.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gr::spead {

/*!
 * \brief A UDP socket that receives at one endpoint: an address of this host or a
 * multicast group.
 */
class receive_socket : public datagram_source
{
public:
    //! Resolves the host, opens the socket and joins the group. Throws parameter_error,
    //! or std::runtime_error if a system call fails.
    receive_socket(boost::asio::io_context& io,
                   const endpoint& endpoint,
                   const std::string& interface);

    received_datagrams receive(std::byte* buffer) noexcept override;
    std::string name() const override { return "port " + std::to_string(d_port); }
    int native_handle() const override { return d_socket.native_handle(); }
    std::uint64_t dropped_by_kernel() const noexcept override;
    std::size_t kernel_buffer_bytes() const override { return d_kernel_buffer; }
    static constexpr std::size_t wanted_kernel_buffer_bytes = 16 << 20;
    bool gro() const override { return d_gro; }
    std::uint16_t port() const override { return d_port; }

private:
    using udp = boost::asio::ip::udp;

    mutable udp::socket d_socket; // has no const native_handle()
    std::uint16_t d_port = 0;
    std::size_t d_kernel_buffer = 0;
    bool d_gro = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVE_SOCKET_H */
