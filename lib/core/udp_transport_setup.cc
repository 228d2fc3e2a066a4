/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// How the socket comes to be: addresses, options, and what the route allows.

#include "parameter_error.h"
#include "udp_transport.h"
#include "wire.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/multicast.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace gr {
namespace spead {

namespace {

// Room for the messages of one send(), with what the kernel adds to each.
constexpr int default_send_buffer = 2 << 20;

std::string to_text(const endpoint& to)
{
    const bool v6 = to.host.find(':') != std::string::npos;
    return "\"" + (v6 ? "[" + to.host + "]" : to.host) + ":" + std::to_string(to.port) +
           "\"";
}

boost::asio::ip::udp::endpoint resolve(boost::asio::io_context& io, const endpoint& to)
{
    boost::system::error_code error;
    boost::asio::ip::udp::resolver resolver(io);
    const auto found = resolver.resolve(to.host, std::to_string(to.port), error);
    if (error || found.empty())
        throw parameter_error("destinations",
                              to_text(to),
                              "a host that can be looked up (" + error.message() + ")");
    // a datagram cannot try one address after the other, and receivers are on IPv4
    const auto v4 = std::find_if(found.begin(), found.end(), [](const auto& entry) {
        return entry.endpoint().protocol() == boost::asio::ip::udp::v4();
    });
    return v4 != found.end() ? v4->endpoint() : found.begin()->endpoint();
}

// The name of the interface that has this address, "" if none has.
std::string interface_with(const boost::asio::ip::address& address)
{
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0)
        return "";
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, freeifaddrs);
    const auto matches = [&](const sockaddr* found) {
        if (address.is_v4() && found->sa_family == AF_INET) {
            const auto bytes = address.to_v4().to_bytes();
            sockaddr_in ip;
            std::memcpy(&ip, found, sizeof ip);
            return std::memcmp(&ip.sin_addr, bytes.data(), bytes.size()) == 0;
        }
        if (address.is_v6() && found->sa_family == AF_INET6) {
            const auto bytes = address.to_v6().to_bytes();
            sockaddr_in6 ip;
            std::memcpy(&ip, found, sizeof ip);
            return std::memcmp(&ip.sin6_addr, bytes.data(), bytes.size()) == 0;
        }
        return false;
    };
    for (const auto* one = all; one; one = one->ifa_next)
        if (one->ifa_addr && matches(one->ifa_addr))
            return one->ifa_name;
    return "";
}

} // namespace

udp_transport::udp_transport(boost::asio::io_context& io,
                             const endpoint& to,
                             const socket_options& options)
    : d_wait_memory(std::make_shared<handler_memory>()),
      d_socket(io),
      d_remote(resolve(io, to))
{
    boost::system::error_code error;
    d_socket.open(d_remote.protocol(), error);
    if (error)
        throw std::runtime_error("spead.sink: destinations = " + to_text(to) +
                                 ": no socket: " + error.message());
    configure(options);
    d_socket.connect(d_remote, error);
    if (error)
        throw std::runtime_error("spead.sink: destinations = " + to_text(to) +
                                 ": no way there: " + error.message());
    d_socket.non_blocking(true);
}

void udp_transport::configure(const socket_options& options)
{
    if (!options.interface.empty())
        choose_interface(options.interface);
    const bool multicast = d_remote.address().is_multicast();
    if (ipv6()) {
        set_option(IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO, "path MTU");
        set_option(IPPROTO_IPV6, IPV6_RECVERR, 1, "error reports");
        if (options.dscp)
            set_option(IPPROTO_IPV6, IPV6_TCLASS, options.dscp << 2, "dscp");
    } else {
        set_option(IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, "path MTU");
        // without it, packets that this host drops count as sent
        set_option(IPPROTO_IP, IP_RECVERR, 1, "error reports");
        if (options.dscp)
            set_option(IPPROTO_IP, IP_TOS, options.dscp << 2, "dscp");
    }
    if (multicast) {
        d_socket.set_option(boost::asio::ip::multicast::hops(options.ttl));
        d_socket.set_option(
            boost::asio::ip::multicast::enable_loopback(options.loopback));
    }
    set_send_buffer(options.send_buffer);
    const int on = 1;
    d_zero_copy.enable(
        options.zero_copy &&
        setsockopt(d_socket.native_handle(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) ==
            0);
}

// Packets leave by the interface, whether it was given by its name or by an address,
// which is then that of the sender as well.
void udp_transport::choose_interface(const std::string& interface)
{
    const auto refuse = [&](const std::string& why) {
        throw parameter_error("interface",
                              "\"" + interface + "\"",
                              "the name or an address of an interface of this host (" +
                                  why + ")");
    };
    std::string name = interface;
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(interface, error);
    if (!error) {
        if (address.is_v6() != ipv6())
            refuse("not of the same IP version as the destination");
        name = interface_with(address);
        d_socket.bind(udp::endpoint(address, 0), error);
        if (name.empty() || error)
            refuse(error ? error.message() : "no interface has this address");
    }
    const unsigned index = if_nametoindex(name.c_str());
    if (!index)
        refuse(std::strerror(errno));

    if (d_remote.address().is_multicast() && ipv6()) {
        d_socket.set_option(boost::asio::ip::multicast::outbound_interface(index));
        return;
    }
    const int fd = d_socket.native_handle();
    const auto length = static_cast<socklen_t>(name.size());
    ip_mreqn by_index{};
    by_index.imr_ifindex = static_cast<int>(index);
    const int failed =
        d_remote.address().is_multicast()
            ? setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by_index, sizeof by_index)
            : setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name.c_str(), length);
    if (failed)
        refuse(std::strerror(errno));
}

void udp_transport::set_send_buffer(int bytes)
{
    const int wanted = bytes ? bytes : default_send_buffer;
    const int fd = d_socket.native_handle();
    const auto set = [&](int name) {
        return setsockopt(fd, SOL_SOCKET, name, &wanted, sizeof wanted) == 0;
    };
    const auto granted = [&] {
        int value = 0;
        socklen_t size = sizeof value;
        getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &value, &size);
        return value / 2; // the kernel doubles it, for its own use
    };
    set(SO_SNDBUF);
    if (granted() < wanted)
        set(SO_SNDBUFFORCE); // with CAP_NET_ADMIN beyond the limit
    if (bytes && granted() < wanted)
        d_warnings.push_back(
            "socket_buffer = " + std::to_string(bytes) + " became " +
            std::to_string(granted()) +
            "; to allow it: sysctl -w net.core.wmem_max=" + std::to_string(bytes));
}

void udp_transport::set_option(int level, int name, int value, const std::string& what)
{
    if (setsockopt(d_socket.native_handle(), level, name, &value, sizeof value) != 0)
        d_warnings.push_back(what + " could not be set: " + std::strerror(errno));
}

std::size_t udp_transport::max_packet_bytes() const
{
    constexpr int udp_header = 8;
    constexpr int ipv4_header = 20;
    constexpr int ipv6_header = 40;
    const int headers = udp_header + (ipv6() ? ipv6_header : ipv4_header);
    auto& socket = const_cast<udp::socket&>(d_socket); // native_handle() is not const
    int mtu = 0;
    socklen_t size = sizeof mtu;
    const int failed =
        ipv6() ? getsockopt(socket.native_handle(), IPPROTO_IPV6, IPV6_MTU, &mtu, &size)
               : getsockopt(socket.native_handle(), IPPROTO_IP, IP_MTU, &mtu, &size);
    if (failed || mtu <= headers)
        return wire::max_datagram_bytes;
    return std::min(static_cast<std::size_t>(mtu - headers), wire::max_datagram_bytes);
}

} // namespace spead
} // namespace gr
