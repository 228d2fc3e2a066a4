/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Parses lists of endpoints, and lists with errors.

#include "fuzz_input.h"
#include "network/endpoint.h"
#include "support/parameter_error.h"

#include <optional>
#include <string>
#include <vector>

using namespace gr::spead;

namespace {

using endpoints = std::vector<endpoint>;

std::optional<endpoints> parse(const std::string& list, endpoint_use use)
{
    try {
        return parse_endpoints("destinations", list, use);
    } catch (const parameter_error& error) {
        check(std::string(error.what()).find("destinations") != std::string::npos,
              "the error names the parameter");
        return std::nullopt;
    }
}

bool are_equal(const endpoints& a, const endpoints& b)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i].host != b[i].host || a[i].port != b[i].port)
            return false;
    return true;
}

std::string to_text(const endpoints& all)
{
    std::string text;
    for (const auto& endpoint : all) {
        const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
        text += text.empty() ? "" : ",";
        text += is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
        text += ":" + std::to_string(endpoint.port);
    }
    return text;
}

// An entry of a list, usually a valid one.
std::string entry(fuzz_input& input)
{
    const auto port = std::to_string(input.edge_value());
    const auto further =
        input.one_of<std::uint64_t>({ input.up_to(9), input.up_to(5000) });
    const auto host =
        input.one_of<std::string>({ "receiver.example",
                                    "10.0.0.1",
                                    "223.255.255.250+" + std::to_string(further),
                                    "239.0.0.1+" + std::to_string(further),
                                    "255.255.255.250+" + std::to_string(further),
                                    "[::1]",
                                    "[fe80::1%eth0]" });
    return input.one_of<std::string>({ "", "", " ", "\t" }) + host + ":" +
           input.one_of<std::string>({ "7148", "0", "65535", port }) +
           input.one_of<std::string>({ "", "", " ", " \t " });
}

void check_list(const std::string& text, endpoint_use use)
{
    const auto parsed = parse(text, use);
    if (!parsed)
        return;
    check(!parsed->empty() && parsed->size() <= max_endpoints,
          "the number of endpoints is within its limits");
    for (const auto& endpoint : *parsed) {
        if (!endpoint.capture.empty())
            return;
        check(use == endpoint_use::receive || endpoint.port > 0, "the port is in range");
        check(!endpoint.host.empty(), "the host is not empty");
        check(endpoint.host.find_first_of(" \t,[]+") == std::string::npos,
              "a host has no separators or brackets");
    }
    const auto again = parse(to_text(*parsed), use);
    check(again && are_equal(*again, *parsed),
          "formatted endpoints parse to the same list");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    const auto use = input.one_of({ endpoint_use::receive, endpoint_use::send });
    while (!input.empty()) {
        std::string list = entry(input);
        while (input.once_in(2) && list.size() < 1000)
            list += "," + entry(input);
        // some characters more, or less
        while (input.once_in(3))
            list.insert(input.up_to(list.size()), 1, static_cast<char>(input.byte()));
        if (input.once_in(3))
            list.erase(input.up_to(list.size()), input.up_to(3));
        check_list(list, use);
    }
    return 0;
}
