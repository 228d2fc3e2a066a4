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
    const auto mark = text.rfind('?');
    if (mark == std::string::npos || boost::iends_with(text, ".pcap") || is_file(text))
        return { text, std::nullopt };
    return { text.substr(0, mark), text.substr(mark + 1) };
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
        throw parameter_error(parameter, shown, allowed_endpoints(use));
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
    const auto capture = split_capture(text);
    const bool is_address = read(text, 0).has_value();
    if (use == endpoint_use::receive) {
        if (!is_address && (is_file(capture.path) || resembles_file(capture.path)))
            return { { "", 0, capture.path, capture.suffix.value_or("") } };
        return parse_addresses(parameter, text, shown, use);
    }
    if (is_address || !boost::iends_with(capture.path, ".pcap"))
        return parse_addresses(parameter, text, shown, use);
    auto all = parse_addresses(
        parameter, capture.suffix.value_or(default_capture_destination), shown, use);
    for (auto& destination : all)
        destination.capture = capture.path;
    return all;
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
        bool is_known = !reads_captures || read(entry, 0) || is_existing_capture(entry);
        for (auto longer = end; !is_known && longer < list.size();) {
            longer = find_comma(longer + 1);
            const auto name = trimmed(list.substr(begin, longer - begin));
            is_known = is_existing_capture(name);
            if (is_known) {
                entry = name;
                end = longer;
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
