/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "endpoint.h"
#include "support/parameter_error.h"

#include <arpa/inet.h>
#include <sys/stat.h>
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

// Parses a number from 0 to \p max_value, with at most as many digits as \p max_value.
std::optional<unsigned long> number(const std::string& text, unsigned long max_value)
{
    const bool has_only_digits = std::all_of(
        text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    if (text.empty() || text.size() > std::to_string(max_value).size() ||
        !has_only_digits || std::stoul(text) > max_value)
        return std::nullopt;
    return std::stoul(text);
}

std::optional<endpoint> parse_endpoint(const std::string& text, unsigned long first_port)
{
    const auto colon = text.rfind(':');
    if (colon == std::string::npos)
        return std::nullopt;
    std::string host = text.substr(0, colon);
    const auto port = number(text.substr(colon + 1), 65535);
    const bool is_bracketed =
        host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (is_bracketed)
        host = host.substr(1, host.size() - 2);
    // an IPv6 address without brackets would lose its last group to the port
    const bool has_colon = host.find(':') != std::string::npos;
    if (host.empty() || has_colon != is_bracketed ||
        host.find_first_of(" \t,[]/?") != std::string::npos || !port ||
        *port < first_port)
        return std::nullopt;
    return endpoint{ host, static_cast<std::uint16_t>(*port) };
}

struct capture_name {
    std::string path;
    std::optional<std::string> suffix; // after "?"
};

bool is_file(const std::string& path)
{
    struct stat status {
    };
    return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

// Splits "FILE?suffix". The file's name may contain "?", the suffix does not.
capture_name split_capture(const std::string& text)
{
    const auto question_mark = text.rfind('?');
    if (question_mark == std::string::npos || boost::iends_with(text, ".pcap") ||
        is_file(text))
        return { text, std::nullopt };
    return { text.substr(0, question_mark), text.substr(question_mark + 1) };
}

bool is_existing_capture(const std::string& text)
{
    const auto capture = split_capture(text);
    return is_file(capture.path) &&
           (!capture.suffix || capture.suffix->find(',') == std::string::npos);
}

// Whether a file that does not exist was meant, rather than an address.
bool resembles_file(const std::string& path)
{
    const bool has_port = number(path.substr(path.rfind(':') + 1), 65535).has_value();
    return !has_port &&
           (path.find('/') != std::string::npos || boost::icontains(path, ".pcap") ||
            boost::iends_with(path, ".cap"));
}

std::string allowed_endpoints(endpoint_use use)
{
    const auto text = [](const char* first_port, const std::string& capture) {
        return std::string("\"host:port\", \"[IPv6 address]:port\" or "
                           "\"A.B.C.D+N:port\", separated by commas, port ") +
               first_port + " to 65535, or a capture to " + capture;
    };
    if (use == endpoint_use::send)
        return text("1", "write: \"FILE.pcap\" or \"FILE.pcap?host:port\"");
    return text("0", "replay: \"FILE\" or \"FILE?FILTER\", where FILE exists");
}

// Parses an address, which may stand for several endpoints. \p displayed: the entry as
// errors show it.
std::vector<endpoint> parse_addresses(const std::string& parameter,
                                      const std::string& text,
                                      const std::string& displayed,
                                      endpoint_use use)
{
    const auto first_port = use == endpoint_use::send ? 1u : 0u;
    const auto parsed = parse_endpoint(text, first_port);
    if (!parsed)
        throw parameter_error(parameter, displayed, allowed_endpoints(use));
    const auto plus = parsed->host.find('+');
    if (plus == std::string::npos)
        return { *parsed };

    in_addr address;
    const auto last_offset = number(parsed->host.substr(plus + 1), max_endpoints - 1);
    if (!last_offset ||
        inet_pton(AF_INET, parsed->host.substr(0, plus).c_str(), &address) != 1 ||
        *last_offset > INADDR_NONE - ntohl(address.s_addr) ||
        IN_MULTICAST(ntohl(address.s_addr)) !=
            IN_MULTICAST(ntohl(address.s_addr) + *last_offset))
        throw parameter_error(parameter,
                              displayed,
                              "\"A.B.C.D+N:port\" for N+1 IPv4 addresses up to "
                              "255.255.255.255, all of them multicast groups "
                              "(224.0.0.0 to 239.255.255.255) or none, N from 0 to " +
                                  std::to_string(max_endpoints - 1));
    const std::uint32_t first_address = ntohl(address.s_addr);
    std::vector<endpoint> endpoints;
    for (std::uint32_t i = 0; i <= *last_offset; ++i) {
        address.s_addr = htonl(first_address + i);
        std::array<char, INET_ADDRSTRLEN> host;
        inet_ntop(AF_INET, &address, host.data(), host.size());
        endpoints.push_back({ host.data(), parsed->port });
    }
    return endpoints;
}

std::vector<endpoint> parse_entry(const std::string& parameter,
                                  const std::string& text,
                                  const std::string& displayed,
                                  endpoint_use use)
{
    const auto capture = split_capture(text);
    const bool is_address = parse_endpoint(text, 0).has_value();
    if (use == endpoint_use::receive) {
        if (!is_address && (is_file(capture.path) || resembles_file(capture.path)))
            return { { "", 0, capture.path, capture.suffix.value_or("") } };
        return parse_addresses(parameter, text, displayed, use);
    }
    if (is_address || !boost::iends_with(capture.path, ".pcap"))
        return parse_addresses(parameter, text, displayed, use);
    auto endpoints = parse_addresses(
        parameter, capture.suffix.value_or(default_capture_destination), displayed, use);
    for (auto& destination : endpoints)
        destination.capture = capture.path;
    return endpoints;
}

// Splits at commas, but not in the names of existing captures.
std::vector<std::string> split(const std::string& list, endpoint_use use)
{
    bool reads_captures = use == endpoint_use::receive;
    if (reads_captures && is_existing_capture(trimmed(list)))
        return { trimmed(list) };
    const auto find_comma = [&](std::size_t begin) {
        return std::min(list.find(',', begin), list.size());
    };
    std::vector<std::string> entries;
    for (std::size_t begin = 0; begin <= list.size();) {
        auto end = find_comma(begin);
        auto entry = trimmed(list.substr(begin, end - begin));
        bool is_known =
            !reads_captures || parse_endpoint(entry, 0) || is_existing_capture(entry);
        for (auto longer_end = end; !is_known && longer_end < list.size();) {
            longer_end = find_comma(longer_end + 1);
            const auto name = trimmed(list.substr(begin, longer_end - begin));
            is_known = is_existing_capture(name);
            if (is_known) {
                entry = name;
                end = longer_end;
            }
        }
        entries.push_back(entry);
        reads_captures = reads_captures && is_known; // else the list is invalid
        begin = end + 1;
    }
    return entries;
}

} // namespace

std::vector<endpoint>
parse_endpoints(const std::string& parameter, const std::string& list, endpoint_use use)
{
    const auto entries = split(list, use);
    const auto displayed = [&](std::size_t i) {
        const auto position =
            " (" + std::to_string(i + 1) + " of " + std::to_string(entries.size()) + ")";
        return "\"" + entries[i] + "\"" + (entries.size() > 1 ? position : "");
    };
    std::vector<endpoint> endpoints;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto parsed = parse_entry(parameter, entries[i], displayed(i), use);
        if (parsed.size() > max_endpoints - endpoints.size())
            throw parameter_error(parameter,
                                  displayed(i),
                                  "at most " + std::to_string(max_endpoints) +
                                      " endpoints in all");
        endpoints.insert(endpoints.end(), parsed.begin(), parsed.end());
    }
    return endpoints;
}

} // namespace gr::spead
