/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "endpoint.h"
#include "support/parameter_error.h"

#include <arpa/inet.h>
#include <boost/algorithm/string/predicate.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace gr::spead {

namespace {

constexpr auto default_capture_destination = "127.0.0.1:7148";

std::string trimmed(const std::string& text)
{
    const auto begin = text.find_first_not_of(" \t");
    const auto end = text.find_last_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Parses a number from 0 to \p most, with at most as many digits as \p most.
std::optional<unsigned long> number(const std::string& text, unsigned long most)
{
    const bool digits = std::all_of(
        text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    if (text.empty() || text.size() > std::to_string(most).size() || !digits ||
        std::stoul(text) > most)
        return std::nullopt;
    return std::stoul(text);
}

std::optional<endpoint> read(const std::string& text, unsigned long first_port)
{
    const auto colon = text.rfind(':');
    if (colon == std::string::npos)
        return std::nullopt;
    std::string host = text.substr(0, colon);
    const auto port = number(text.substr(colon + 1), 65535);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed)
        host = host.substr(1, host.size() - 2);
    // an IPv6 address without brackets would lose its last group to the port
    const bool has_colon = host.find(':') != std::string::npos;
    if (host.empty() || has_colon != bracketed ||
        host.find_first_of(" \t,[]") != std::string::npos || !port || *port < first_port)
        return std::nullopt;
    return endpoint{ host, static_cast<std::uint16_t>(*port) };
}

// Parses an address, which may stand for several endpoints. \p shown: the entry as errors
// show it.
std::vector<endpoint> parse_addresses(const std::string& parameter,
                                      const std::string& text,
                                      const std::string& shown,
                                      endpoint_use use)
{
    const auto first_port = use == endpoint_use::send ? 1 : 0;
    const auto found = read(text, first_port);
    if (!found)
        throw parameter_error(parameter,
                              shown,
                              "\"host:port\", \"[IPv6 address]:port\" or "
                              "\"A.B.C.D+N:port\", separated by commas, port " +
                                  std::to_string(first_port) + " to 65535");
    const auto plus = found->host.find('+');
    if (plus == std::string::npos)
        return { *found };

    in_addr address;
    const auto further = number(found->host.substr(plus + 1), max_endpoints - 1);
    if (!further ||
        inet_pton(AF_INET, found->host.substr(0, plus).c_str(), &address) != 1 ||
        *further > INADDR_NONE - ntohl(address.s_addr) ||
        IN_MULTICAST(ntohl(address.s_addr)) !=
            IN_MULTICAST(ntohl(address.s_addr) + *further))
        throw parameter_error(parameter,
                              shown,
                              "\"A.B.C.D+N:port\" for N+1 IPv4 addresses up to "
                              "255.255.255.255, all of them multicast groups "
                              "(224.0.0.0 to 239.255.255.255) or none, N from 0 to " +
                                  std::to_string(max_endpoints - 1));
    const std::uint32_t first = ntohl(address.s_addr);
    std::vector<endpoint> all;
    for (std::uint32_t i = 0; i <= *further; ++i) {
        address.s_addr = htonl(first + i);
        std::array<char, INET_ADDRSTRLEN> host;
        inet_ntop(AF_INET, &address, host.data(), host.size());
        all.push_back({ host.data(), found->port });
    }
    return all;
}

std::vector<endpoint> parse_entry(const std::string& parameter,
                                  const std::string& text,
                                  const std::string& shown,
                                  endpoint_use use)
{
    const auto file = text.substr(0, text.find('?'));
    const bool is_pcapng = boost::iends_with(file, ".pcapng");
    if (!is_pcapng && !boost::iends_with(file, ".pcap"))
        return parse_addresses(parameter, text, shown, use);
    if (use == endpoint_use::receive)
        return { { "", 0, text } };
    if (is_pcapng)
        throw parameter_error(parameter, shown, "a capture to write: \"FILE.pcap\"");
    const bool has_address = file.size() < text.size();
    auto all = parse_addresses(parameter,
                               has_address ? text.substr(file.size() + 1)
                                           : default_capture_destination,
                               shown,
                               use);
    for (auto& each : all)
        each.capture = file;
    return all;
}

std::vector<std::string> split(const std::string& list)
{
    std::vector<std::string> entries;
    std::size_t begin = 0;
    for (std::size_t comma; (comma = list.find(',', begin)) != std::string::npos;
         begin = comma + 1)
        entries.push_back(trimmed(list.substr(begin, comma - begin)));
    entries.push_back(trimmed(list.substr(begin)));
    return entries;
}

} // namespace

std::vector<endpoint>
parse_endpoints(const std::string& parameter, const std::string& list, endpoint_use use)
{
    const auto entries = split(list);
    const auto shown = [&](std::size_t i) {
        const auto place =
            " (" + std::to_string(i + 1) + " of " + std::to_string(entries.size()) + ")";
        return "\"" + entries[i] + "\"" + (entries.size() > 1 ? place : "");
    };
    std::vector<endpoint> all;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto some = parse_entry(parameter, entries[i], shown(i), use);
        if (some.size() > max_endpoints - all.size())
            throw parameter_error(parameter,
                                  shown(i),
                                  "at most " + std::to_string(max_endpoints) +
                                      " endpoints in all");
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

} // namespace gr::spead
