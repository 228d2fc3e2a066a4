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
#include <utility>

// Linux 5.0; older C libraries do not name it
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace gr::spead {

namespace {

// Room for what a fast stream sends while the receiving thread is not scheduled.
constexpr int default_kernel_buffer = 16 << 20;
// Of the default, what most systems grant is worth a warning.
constexpr int small_kernel_buffer = 1 << 20;

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
                               const options& how,
                               std::vector<std::string>& warnings)
    : d_wait_memory(std::make_shared<handler_memory>()), d_socket(io)
{
    const auto local = resolve(io, at, "endpoints");
    boost::system::error_code error;
    d_socket.open(local.protocol(), error);
    if (error)
        throw std::runtime_error("endpoints: no socket: " + error.message());
    const bool is_group = local.address().is_multicast();
    const auto name = how.interface.empty() ? "" : interface_name(how.interface);
    // several receivers of a group on one host each get its packets
    if (is_group)
        d_socket.set_option(udp::socket::reuse_address(true), error);
    // before it is bound: nothing may be lost to a small buffer
    set_buffer(how.buffer_bytes, warnings);
    const int fd = d_socket.native_handle();
    const int on = 1;
    d_gro = setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on) == 0;
    if (!name.empty() && !is_group &&
        setsockopt(fd,
                   SOL_SOCKET,
                   SO_BINDTODEVICE,
                   name.c_str(),
                   static_cast<socklen_t>(name.size())) != 0)
        refuse_interface(how.interface, std::strerror(errno));
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

void receive_socket::set_buffer(int bytes, std::vector<std::string>& warnings)
{
    const int wanted = bytes ? bytes : default_kernel_buffer;
    const int granted =
        set_socket_buffer(d_socket.native_handle(), SO_RCVBUF, SO_RCVBUFFORCE, wanted);
    d_kernel_buffer = static_cast<std::size_t>(granted);
    if (granted >= (bytes ? wanted : small_kernel_buffer))
        return;
    const auto text = "socket_buffer: the kernel granted " + std::to_string(granted) +
                      " bytes of " + std::to_string(wanted) +
                      ", so that packets may be lost; to allow more: sysctl -w "
                      "net.core.rmem_max=" +
                      std::to_string(wanted);
    if (warnings.empty() || warnings.back() != text)
        warnings.push_back(text);
}

received_datagrams receive_socket::receive(std::byte* buffer) noexcept
{
    iovec piece{ buffer, buffer_bytes };
    alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(int))> control;
    msghdr header{};
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

void receive_socket::async_wait(std::function<void()> handler)
{
    auto ready = [handler = std::move(handler)](const auto& error) {
        if (!error)
            handler();
    };
    d_socket.async_wait(udp::socket::wait_read,
                        handler_in(d_wait_memory, std::move(ready)));
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
