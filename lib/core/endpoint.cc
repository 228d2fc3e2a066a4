/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "endpoint.h"
#include "parameter_error.h"

#include <algorithm>
#include <cctype>

namespace gr {
namespace spead {

namespace {

std::string trimmed(const std::string& text)
{
    const auto begin = text.find_first_not_of(" \t");
    const auto end = text.find_last_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

bool is_number(const std::string& text)
{
    return !text.empty() && text.size() <= 5 &&
           std::all_of(
               text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

} // namespace

endpoint parse_endpoint(const std::string& written)
{
    const auto refuse = [&] {
        throw parameter_error(
            "destinations",
            "\"" + written + "\"",
            "one \"host:port\" or \"[IPv6 address]:port\", port 1 to 65535");
    };
    const std::string text = trimmed(written);
    const auto colon = text.rfind(':');
    if (colon == std::string::npos)
        refuse();
    std::string host = text.substr(0, colon);
    const std::string port = text.substr(colon + 1);
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (bracketed)
        host = host.substr(1, host.size() - 2);
    // an IPv6 address without brackets would lose its last group to the port
    const bool has_colon = host.find(':') != std::string::npos;
    if (host.empty() || has_colon != bracketed ||
        host.find_first_of(" \t,[]") != std::string::npos || !is_number(port))
        refuse();
    const unsigned long number = std::stoul(port);
    if (number < 1 || number > 65535)
        refuse();
    return { host, static_cast<std::uint16_t>(number) };
}

} // namespace spead
} // namespace gr
