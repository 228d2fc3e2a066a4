/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "addresses.h"
#include "support/parameter_error.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace gr::spead {

std::string to_text(const endpoint& endpoint)
{
    const bool v6 = endpoint.host.find(':') != std::string::npos;
    return "\"" + (v6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" +
           std::to_string(endpoint.port) + "\"";
}

boost::asio::ip::udp::endpoint resolve(boost::asio::io_context& io,
                                       const endpoint& endpoint,
                                       const std::string& parameter)
{
    boost::system::error_code error;
    boost::asio::ip::udp::resolver resolver(io);
    const auto entries =
        resolver.resolve(endpoint.host, std::to_string(endpoint.port), error);
    if (error || entries.empty())
        throw parameter_error(parameter,
                              to_text(endpoint),
                              "a host that can be looked up (" + error.message() + ")");
    // UDP cannot try one address after another, and receivers use IPv4
    const auto v4 = std::find_if(entries.begin(), entries.end(), [](const auto& entry) {
        return entry.endpoint().protocol() == boost::asio::ip::udp::v4();
    });
    return v4 != entries.end() ? v4->endpoint() : entries.begin()->endpoint();
}

std::string interface_with(const boost::asio::ip::address& address)
{
    ifaddrs* interfaces = nullptr;
    if (getifaddrs(&interfaces) != 0)
        throw std::runtime_error("interface: cannot list the interfaces of this host (" +
                                 std::string(std::strerror(errno)) + ")");
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(interfaces, freeifaddrs);
    const auto matches = [&](const sockaddr* candidate) {
        if (address.is_v4() && candidate->sa_family == AF_INET) {
            const auto bytes = address.to_v4().to_bytes();
            sockaddr_in ip;
            std::memcpy(&ip, candidate, sizeof ip);
            return std::memcmp(&ip.sin_addr, bytes.data(), bytes.size()) == 0;
        }
        if (address.is_v6() && candidate->sa_family == AF_INET6) {
            const auto bytes = address.to_v6().to_bytes();
            sockaddr_in6 ip;
            std::memcpy(&ip, candidate, sizeof ip);
            return std::memcmp(&ip.sin6_addr, bytes.data(), bytes.size()) == 0;
        }
        return false;
    };
    for (const auto* interface = interfaces; interface; interface = interface->ifa_next)
        if (interface->ifa_addr && matches(interface->ifa_addr))
            return interface->ifa_name;
    return "";
}

} // namespace gr::spead
