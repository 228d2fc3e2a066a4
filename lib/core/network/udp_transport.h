/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_UDP_TRANSPORT_H
#define INCLUDED_SPEAD_CORE_UDP_TRANSPORT_H

#include "endpoint.h"
#include "link_monitor.h"
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

namespace gr::spead {

/*!
 * \brief Sends through a UDP socket. No other class sends or receives on it.
 *
 * The socket is connected if there is one destination, so that the kernel looks up the
 * route only once. Packets are never fragmented: one that exceeds the MTU fails with
 * EMSGSIZE.
 */
class udp_transport final : public transport, private socket_owner
{
public:
    //! Resolves the hosts and opens the socket. There must be at least one destination.
    //! Throws parameter_error for an unknown host or interface or for mixed IP versions,
    //! and std::runtime_error if there is no usable route or a system call fails.
    udp_transport(boost::asio::io_context& io,
                  const std::vector<endpoint>& destinations,
                  const std::string& interface = "", //!< name or address; "": any
                  int ttl = 1);                      //!< of multicast

    const std::vector<boost::asio::ip::udp::endpoint>& addresses() const override
    {
        return d_addresses;
    }
    std::size_t max_packet_bytes() const override { return d_max_packet_bytes; }
    std::vector<std::string> warnings() const override { return d_warnings; }

    send_result send(const message* messages, std::size_t n) noexcept override;
    void async_wait_writable(std::function<void()> handler) override;
    icmp_errors take_reports() noexcept override;
    std::uint64_t oldest_in_flight(std::size_t ring_index) const noexcept override
    {
        return d_zero_copy.oldest_in_flight(ring_index);
    }
    void async_wait_reports(std::function<void()> handler) override;

    bool zero_copy_active() const override { return d_zero_copy.active(); }

private:
    using udp = boost::asio::ip::udp;

    const bound_socket& current_socket() const override { return d_bound; }
    bound_socket open_socket() override;
    bool replace_socket(bound_socket replacement) override;
    void solicit(std::size_t destination, bool is_unanswered) override;

    unsigned configure(udp::socket& socket);
    void bind(udp::socket& socket, const boost::asio::ip::address& address) const;
    unsigned choose_interface(udp::socket& socket) const;
    void connect(udp::socket& socket, std::size_t destination) const;
    void limit_to_path_mtu(udp::socket& socket);
    void bind_and_refuse_datagrams(udp::socket& socket);
    void set_option(
        udp::socket& socket, int level, int name, int value, const std::string& purpose);
    void warn(const std::string& warning);
    void monitor_link();
    void prepare(const message* messages, std::size_t n) noexcept;
    send_result send_now(const message* messages, std::size_t n) noexcept;
    send_result send_prepared(std::size_t n, int flags) noexcept;
    std::size_t messages_with_room(std::size_t n) noexcept;
    bool read_report() noexcept;
    void async_wait(udp::socket::wait_type event, std::function<void()> handler);
    int native() { return d_bound.socket.native_handle(); }
    bool connected() const { return d_addresses.size() == 1; }
    bool ipv6() const { return d_addresses.front().protocol() == udp::v6(); }
    bool any_multicast() const;
    bool any_unicast() const;

    boost::asio::io_context& d_io;
    const std::string d_interface;
    const int d_ttl;
    const std::vector<endpoint> d_destinations; // as given by the user, at least one
    std::vector<udp::endpoint> d_addresses;     // of the destinations
    bound_socket d_bound;
    int d_send_buffer = 0; // bytes, from SO_SNDBUF
    std::unique_ptr<link_monitor> d_link;
    std::size_t d_max_packet_bytes;
    std::vector<std::string> d_warnings;

    // control message (UDP_SEGMENT): the size of the segments
    struct alignas(cmsghdr) segment_size {
        std::array<unsigned char, CMSG_SPACE(sizeof(std::uint16_t))> bytes;
    };
    std::array<mmsghdr, max_messages> d_headers{};
    std::array<segment_size, max_messages> d_segment_sizes{};
    zero_copy d_zero_copy;
    icmp_errors d_icmp_errors;       // since the last take_reports()
    bool d_error_suppressed = false; // send() reported its last error as 0
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_UDP_TRANSPORT_H */
