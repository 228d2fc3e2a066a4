/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "addresses.h"
#include "receive_socket.h"
#include "socket_buffer.h"
#include "support/parameter_error.h"

#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <boost/asio/ip/multicast.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

// Linux 5.0; older C libraries do not name it
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace gr::spead {

namespace {

[[noreturn]] void refuse_interface(const std::string& interface, const std::string& why)
{
    throw parameter_error("interface",
                          "\"" + interface + "\"",
                          "the name or an address of an interface of this host (" + why +
                              ")");
}

// By its name or by one of its addresses.
std::string interface_name(const std::string& interface)
{
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(interface, error);
    const auto name = error ? interface : interface_with(address);
    if (name.empty())
        refuse_interface(interface, "no interface has this address");
    if (!if_nametoindex(name.c_str()))
        refuse_interface(interface, std::strerror(errno));
    return name;
}

} // namespace

receive_socket::receive_socket(boost::asio::io_context& io,
                               const endpoint& at,
                               const std::string& interface)
    : d_socket(io)
{
    const auto local = resolve(io, at, "endpoints");
    boost::system::error_code error;
    d_socket.open(local.protocol(), error);
    if (error)
        throw std::runtime_error("endpoints: no socket: " + error.message());
    const bool is_group = local.address().is_multicast();
    const auto name = interface.empty() ? "" : interface_name(interface);
    // several receivers of a group on one host each get its packets
    if (is_group)
        d_socket.set_option(udp::socket::reuse_address(true), error);
    // before it is bound: nothing may be lost to a small buffer
    const int fd = d_socket.native_handle();
    d_kernel_buffer = static_cast<std::size_t>(set_socket_buffer(
        fd, SO_RCVBUF, SO_RCVBUFFORCE, static_cast<int>(wanted_kernel_buffer_bytes)));
    const int on = 1;
    d_gro = setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on) == 0;
    if (!name.empty() && !is_group &&
        setsockopt(fd,
                   SOL_SOCKET,
                   SO_BINDTODEVICE,
                   name.c_str(),
                   static_cast<socklen_t>(name.size())) != 0)
        refuse_interface(interface, std::strerror(errno));
    if (is_group) {
        const int off = 0;
        const bool v6 = local.protocol() == udp::v6();
        // only what this socket has joined
        setsockopt(fd,
                   v6 ? IPPROTO_IPV6 : IPPROTO_IP,
                   v6 ? IPV6_MULTICAST_ALL : IP_MULTICAST_ALL,
                   &off,
                   sizeof off);
    }
    d_socket.bind(local, error);
    if (error)
        throw parameter_error("endpoints",
                              to_text(at),
                              "an address of this host and a free port, or a multicast "
                              "group (" +
                                  error.message() + ")");
    if (is_group)
        join(local.address(), name, at);
    d_socket.non_blocking(true);
    d_port = d_socket.local_endpoint().port();
}

void receive_socket::join(const boost::asio::ip::address& group,
                          const std::string& interface,
                          const endpoint& at)
{
    const auto index = interface.empty() ? 0 : if_nametoindex(interface.c_str());
    const int fd = d_socket.native_handle();
    int failed = 0;
    if (group.is_v6()) {
        ipv6_mreq request{};
        const auto bytes = group.to_v6().to_bytes();
        std::memcpy(&request.ipv6mr_multiaddr, bytes.data(), bytes.size());
        request.ipv6mr_interface =
            index ? index : static_cast<unsigned>(group.to_v6().scope_id());
        failed = setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request);
    } else {
        ip_mreqn request{};
        const auto bytes = group.to_v4().to_bytes();
        std::memcpy(&request.imr_multiaddr, bytes.data(), bytes.size());
        request.imr_ifindex = static_cast<int>(index);
        failed = setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
    }
    if (failed)
        throw std::runtime_error(
            "endpoints = " + to_text(at) + ": cannot join the multicast group: " +
            std::strerror(errno) + (interface.empty() ? "; give interface" : ""));
}

// FNV-1a.
static std::uint64_t hash_of(const void* data, std::size_t bytes)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i)
        hash = (hash ^ at[i]) * 0x100000001b3;
    return hash | 1;
}

received_datagrams receive_socket::receive(std::byte* buffer) noexcept
{
    iovec piece{ buffer, buffer_bytes };
    alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(int))> control;
    msghdr header{};
    sockaddr_storage from;
    header.msg_name = &from;
    header.msg_namelen = sizeof from;
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const auto got = recvmsg(d_socket.native_handle(), &header, MSG_DONTWAIT);
    received_datagrams result;
    if (got < 0) {
        result.error = errno;
        return result;
    }
    if (header.msg_namelen && std::memcmp(&from, &d_address, header.msg_namelen) != 0) {
        std::memcpy(&d_address, &from, header.msg_namelen);
        d_sender = hash_of(&from, header.msg_namelen);
    }
    result.sender = d_sender;
    result.data = buffer;
    result.bytes = result.datagram = static_cast<std::size_t>(got);
    for (auto* c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c))
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
            int size = 0;
            std::memcpy(&size, CMSG_DATA(c), sizeof size);
            if (size > 0)
                result.datagram = static_cast<std::size_t>(size);
        }
    return result;
}

std::uint64_t receive_socket::dropped() const noexcept
{
    std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
    socklen_t size = sizeof info;
    // asio's socket has no const handle
    auto& socket = const_cast<udp::socket&>(d_socket);
    if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_MEMINFO, info.data(), &size) !=
        0)
        return 0;
    return info[SK_MEMINFO_DROPS];
}

} // namespace gr::spead
