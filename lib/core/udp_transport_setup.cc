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
#include <linux/filter.h>
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

std::vector<boost::asio::ip::udp::endpoint> resolve(boost::asio::io_context& io,
                                                    const std::vector<endpoint>& to)
{
    std::vector<boost::asio::ip::udp::endpoint> all;
    for (const auto& one : to) {
        all.push_back(resolve(io, one));
        if (all.back().protocol() != all.front().protocol())
            throw parameter_error("destinations",
                                  to_text(to.front()) + " and " + to_text(one),
                                  "destinations of one IP version");
    }
    return all;
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
                             const std::vector<endpoint>& to,
                             const socket_options& options)
    : d_wait_memory(std::make_shared<handler_memory>()),
      d_socket(io),
      d_remotes(resolve(io, to)),
      d_max_packet_bytes(wire::max_datagram_bytes)
{
    configure(d_socket, options);
    if (connected()) {
        connect(d_socket, 0, to.front());
    } else {
        for (std::size_t i = 0; i < to.size(); ++i) {
            udp::socket scout(io); // asks for the way, and sends nothing
            configure(scout, options);
            connect(scout, i, to[i]);
        }
        refuse_datagrams();
    }
    set_send_buffer(options.send_buffer);
    const int on = 1;
    d_zero_copy.enable(
        options.zero_copy &&
        setsockopt(d_socket.native_handle(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) ==
            0);
    d_socket.non_blocking(true);
}

// What decides by which way packets leave, and how.
void udp_transport::configure(udp::socket& socket, const socket_options& options)
{
    boost::system::error_code error;
    socket.open(d_remotes.front().protocol(), error);
    if (error)
        throw std::runtime_error("spead.sink: destinations: no socket: " +
                                 error.message());
    if (!options.interface.empty())
        choose_interface(socket, options.interface);
    if (ipv6()) {
        set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO, "path MTU");
        set_option(socket, IPPROTO_IPV6, IPV6_RECVERR, 1, "error reports");
        if (options.dscp)
            set_option(socket, IPPROTO_IPV6, IPV6_TCLASS, options.dscp << 2, "dscp");
    } else {
        set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, "path MTU");
        // without it, packets that this host drops count as sent
        set_option(socket, IPPROTO_IP, IP_RECVERR, 1, "error reports");
        if (options.dscp)
            set_option(socket, IPPROTO_IP, IP_TOS, options.dscp << 2, "dscp");
    }
    if (any_multicast()) {
        socket.set_option(boost::asio::ip::multicast::hops(options.ttl));
        socket.set_option(boost::asio::ip::multicast::enable_loopback(options.loopback));
    }
}

// Also finds out whether there is a way, and how large packets may be on it.
void udp_transport::connect(udp::socket& socket,
                            std::size_t destination,
                            const endpoint& written)
{
    boost::system::error_code error;
    socket.connect(d_remotes[destination], error);
    if (error)
        throw std::runtime_error("spead.sink: destinations = " + to_text(written) +
                                 ": no way there: " + error.message());
    constexpr int udp_header = 8;
    constexpr int ipv4_header = 20;
    constexpr int ipv6_header = 40;
    const int headers = udp_header + (ipv6() ? ipv6_header : ipv4_header);
    int mtu = 0;
    socklen_t size = sizeof mtu;
    const int failed =
        ipv6() ? getsockopt(socket.native_handle(), IPPROTO_IPV6, IPV6_MTU, &mtu, &size)
               : getsockopt(socket.native_handle(), IPPROTO_IP, IP_MTU, &mtu, &size);
    if (!failed && mtu > headers)
        d_max_packet_bytes =
            std::min(d_max_packet_bytes, static_cast<std::size_t>(mtu - headers));
}

// Packets leave by the interface, whether it was given by its name or by an address,
// which is then that of the sender as well.
void udp_transport::choose_interface(udp::socket& socket,
                                     const std::string& interface) const
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
            refuse("not of the same IP version as the destinations");
        name = interface_with(address);
        socket.bind(udp::endpoint(address, 0), error);
        if (name.empty() || error)
            refuse(error ? error.message() : "no interface has this address");
    }
    const unsigned index = if_nametoindex(name.c_str());
    if (!index)
        refuse(std::strerror(errno));

    const auto set = [&](int level, int option, const void* value, std::size_t bytes) {
        if (setsockopt(socket.native_handle(),
                       level,
                       option,
                       value,
                       static_cast<socklen_t>(bytes)) != 0)
            refuse(std::strerror(errno));
    };
    ip_mreqn by_index{};
    by_index.imr_ifindex = static_cast<int>(index);
    if (any_multicast() && ipv6())
        set(IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index);
    else if (any_multicast())
        set(IPPROTO_IP, IP_MULTICAST_IF, &by_index, sizeof by_index);
    if (any_unicast())
        set(SOL_SOCKET, SO_BINDTODEVICE, name.c_str(), name.size());
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
        warn("socket_buffer = " + std::to_string(bytes) + " became " +
             std::to_string(granted()) +
             "; to allow it: sysctl -w net.core.wmem_max=" + std::to_string(bytes));
}

// Without being connected it would take what anybody sends to its port, until there is no
// room for reports. Those do not pass this filter.
void udp_transport::refuse_datagrams()
{
    sock_filter take_nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog program{ 1, &take_nothing };
    if (setsockopt(d_socket.native_handle(),
                   SOL_SOCKET,
                   SO_ATTACH_FILTER,
                   &program,
                   sizeof program) != 0)
        warn(std::string("a filter for what is sent to us could not be set: ") +
             std::strerror(errno));
}

void udp_transport::set_option(
    udp::socket& socket, int level, int name, int value, const std::string& what)
{
    if (setsockopt(socket.native_handle(), level, name, &value, sizeof value) != 0)
        warn(what + " could not be set: " + std::strerror(errno));
}

// Once is enough, though the sockets that ask for the way would say it again.
void udp_transport::warn(const std::string& warning)
{
    if (std::find(d_warnings.begin(), d_warnings.end(), warning) == d_warnings.end())
        d_warnings.push_back(warning);
}

bool udp_transport::any_multicast() const
{
    return std::any_of(d_remotes.begin(), d_remotes.end(), [](const auto& to) {
        return to.address().is_multicast();
    });
}

bool udp_transport::any_unicast() const
{
    return !std::all_of(d_remotes.begin(), d_remotes.end(), [](const auto& to) {
        return to.address().is_multicast();
    });
}

} // namespace spead
} // namespace gr
