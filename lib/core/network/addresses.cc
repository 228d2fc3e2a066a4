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

std::string to_text(const endpoint& to)
{
    const bool v6 = to.host.find(':') != std::string::npos;
    return "\"" + (v6 ? "[" + to.host + "]" : to.host) + ":" + std::to_string(to.port) +
           "\"";
}

boost::asio::ip::udp::endpoint
resolve(boost::asio::io_context& io, const endpoint& to, const std::string& parameter)
{
    boost::system::error_code error;
    boost::asio::ip::udp::resolver resolver(io);
    const auto found = resolver.resolve(to.host, std::to_string(to.port), error);
    if (error || found.empty())
        throw parameter_error(parameter,
                              to_text(to),
                              "a host that can be looked up (" + error.message() + ")");
    // UDP cannot try one address after another, and receivers use IPv4
    const auto v4 = std::find_if(found.begin(), found.end(), [](const auto& entry) {
        return entry.endpoint().protocol() == boost::asio::ip::udp::v4();
    });
    return v4 != found.end() ? v4->endpoint() : found.begin()->endpoint();
}

std::string interface_with(const boost::asio::ip::address& address)
{
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0)
        throw std::runtime_error("interface: cannot list the interfaces of this host (" +
                                 std::string(std::strerror(errno)) + ")");
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

} // namespace gr::spead
