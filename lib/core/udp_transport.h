/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_UDP_TRANSPORT_H
#define INCLUDED_SPEAD_CORE_UDP_TRANSPORT_H

#include "endpoint.h"
#include "handler_memory.h"
#include "transport.h"
#include "zero_copy.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace gr {
namespace spead {

struct socket_options {
    std::string interface; //!< name or address, "" = as routed
    int ttl = 1;           //!< multicast only
    bool loopback = true;  //!< multicast only
    int send_buffer = 0;   //!< bytes, 0 = our choice
    int dscp = 0;
    bool zero_copy = true; //!< where it works
};

/*!
 * \brief A connected UDP socket, the only place that makes system calls on it.
 *
 * Never fragments: a packet that is larger than the MTU fails with EMSGSIZE.
 */
class udp_transport : public transport
{
public:
    //! Looks up the host and opens the socket; throws parameter_error for an unknown host
    //! or interface, std::runtime_error where the system refuses.
    udp_transport(boost::asio::io_context& io,
                  const endpoint& to,
                  const socket_options& options);

    //! The largest packet that the route takes, in bytes of UDP payload.
    std::size_t max_packet_bytes() const;

    //! What was asked for but not granted, in words.
    const std::vector<std::string>& warnings() const { return d_warnings; }

    send_result send(const message* messages, std::size_t n) noexcept override;
    void async_wait_writable(std::function<void()> handler) override;
    std::size_t take_reports() noexcept override;
    std::uint64_t held_from() const noexcept override { return d_zero_copy.held_from(); }
    void async_wait_reports(std::function<void()> handler) override;

    //! Whether large messages leave without a copy; from any thread.
    bool zero_copy_active() const { return d_zero_copy.active(); }

private:
    using udp = boost::asio::ip::udp;

    void configure(const socket_options& options);
    void choose_interface(const std::string& interface);
    void set_send_buffer(int bytes);
    void set_option(int level, int name, int value, const std::string& what);
    void prepare(const message* messages, std::size_t n) noexcept;
    send_result send_prepared(std::size_t n, int flags) noexcept;
    bool read_report() noexcept;
    void async_wait(udp::socket::wait_type event, std::function<void()> handler);
    bool ipv6() const { return d_remote.protocol() == udp::v6(); }

    const std::shared_ptr<handler_memory> d_wait_memory;
    udp::socket d_socket;
    udp::endpoint d_remote;
    std::vector<std::string> d_warnings;

    // ancillary data of a message: the size of its segments
    struct alignas(cmsghdr) segment_size {
        std::array<unsigned char, CMSG_SPACE(sizeof(std::uint16_t))> bytes;
    };
    std::array<mmsghdr, max_messages> d_headers{};
    std::array<segment_size, max_messages> d_segment_sizes{};
    zero_copy d_zero_copy;
    std::size_t d_icmp_errors = 0; // not taken yet
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_UDP_TRANSPORT_H */
