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

#include <string_view>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <stdexcept>

namespace gr::spead {

namespace {

[[noreturn]] void refuse_interface(const std::string& interface, const std::string& why)
{
    throw parameter_error("interface",
                          "\"" + interface + "\"",
                          "the name or an address of an interface of this host (" + why +
                              ")");
}

// The index of an interface, given by its name or one of its addresses.
unsigned interface_index(const std::string& interface)
{
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(interface, error);
    const auto name = error ? interface : interface_with(address);
    const auto index = if_nametoindex(name.c_str());
    if (!index)
        refuse_interface(interface,
                         name.empty() ? "no interface has this address"
                                      : std::strerror(errno));
    return index;
}

// Linux binds to link-local addresses and groups of an interface only.
boost::asio::ip::udp::endpoint with_scope(boost::asio::ip::udp::endpoint local,
                                          unsigned interface)
{
    if (!local.address().is_v6())
        return local;
    auto address = local.address().to_v6();
    const bool is_link_scoped =
        address.is_link_local() || address.is_multicast_link_local();
    if (interface && is_link_scoped && !address.scope_id()) {
        address.scope_id(interface);
        local.address(address);
    }
    return local;
}

} // namespace

receive_socket::receive_socket(boost::asio::io_context& io,
                               const endpoint& endpoint,
                               const std::string& interface)
    : d_socket(io)
{
    const auto index = interface.empty() ? 0 : interface_index(interface);
    const auto local = with_scope(resolve(io, endpoint, "endpoints"), index);
    boost::system::error_code error;
    d_socket.open(local.protocol(), error);
    if (error)
        throw std::runtime_error("endpoints: cannot open a socket: " + error.message());
    const auto set_option =
        [fd = d_socket.native_handle()](int level, int option, const auto& value) {
            return setsockopt(fd, level, option, &value, sizeof value) == 0;
        };
    // before bind(), so that a small buffer loses no datagrams
    d_kernel_buffer = static_cast<std::size_t>(
        set_socket_buffer(d_socket.native_handle(),
                          SO_RCVBUF,
                          SO_RCVBUFFORCE,
                          static_cast<int>(wanted_kernel_buffer_bytes)));
    d_gro = set_option(IPPROTO_UDP, UDP_GRO, 1);
    const bool is_group = local.address().is_multicast();
    const bool is_v6 = local.protocol() == udp::v6();
    const int ip = is_v6 ? IPPROTO_IPV6 : IPPROTO_IP;
    if (is_group) {
        // several receivers on one host may join the same group, and each gets packets
        // only of the groups that it has joined itself
        set_option(SOL_SOCKET, SO_REUSEADDR, 1);
        set_option(ip, is_v6 ? IPV6_MULTICAST_ALL : IP_MULTICAST_ALL, 0);
    } else if (index && !set_option(SOL_SOCKET, SO_BINDTOIFINDEX, index))
        refuse_interface(interface, std::strerror(errno));
    d_socket.bind(local, error);
    if (error)
        throw parameter_error("endpoints",
                              to_text(endpoint),
                              "an address of this host and a free port, or a multicast "
                              "group (" +
                                  error.message() + ")");
    if (is_group) {
        group_req group{ index, {} };
        if (is_v6 && !index)
            group.gr_interface =
                static_cast<unsigned>(local.address().to_v6().scope_id());
        std::memcpy(&group.gr_group, local.data(), local.size());
        if (!set_option(ip, MCAST_JOIN_GROUP, group))
            throw std::runtime_error(
                "endpoints = " + to_text(endpoint) +
                ": cannot join the multicast group: " + std::strerror(errno) +
                (interface.empty() ? "; set interface" : ""));
    }
    d_socket.non_blocking(true);
    d_port = d_socket.local_endpoint().port();
}

received_datagrams receive_socket::receive(std::byte* buffer) noexcept
{
    iovec piece{ buffer, batch_buffer_bytes };
    alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(int))> control;
    msghdr header{};
    received_datagrams result;
    header.msg_name = result.sender_address.data();
    header.msg_namelen = static_cast<socklen_t>(result.sender_address.capacity());
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const auto n_received = recvmsg(d_socket.native_handle(), &header, MSG_DONTWAIT);
    if (n_received < 0) {
        result.error = errno;
        return result;
    }
    const std::string_view sender(
        reinterpret_cast<const char*>(result.sender_address.data()), header.msg_namelen);
    result.sender = std::hash<std::string_view>()(sender) | 1;
    result.data = buffer;
    result.bytes = result.datagram_bytes = static_cast<std::size_t>(n_received);
    // the only control message is the datagram size, if there are several datagrams
    if (const auto* gro = CMSG_FIRSTHDR(&header)) {
        int size = 0;
        std::memcpy(&size, CMSG_DATA(gro), sizeof size);
        result.datagram_bytes = static_cast<std::size_t>(size);
    }
    return result;
}

std::uint64_t receive_socket::dropped_by_kernel() const noexcept
{
    std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
    socklen_t size = sizeof info;
    getsockopt(native_handle(), SOL_SOCKET, SO_MEMINFO, info.data(), &size);
    return info[SK_MEMINFO_DROPS];
}

} // namespace gr::spead
