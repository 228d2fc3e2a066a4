/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Parses valid lists of endpoints, and lists with errors.

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
    for (const auto& each : all) {
        const bool is_ipv6 = each.host.find(':') != std::string::npos;
        text += text.empty() ? "" : ",";
        text += is_ipv6 ? "[" + each.host + "]" : each.host;
        text += ":" + std::to_string(each.port);
    }
    return text;
}

std::string dotted_quad(std::uint32_t address)
{
    return std::to_string(address >> 24) + "." + std::to_string(address >> 16 & 255) +
           "." + std::to_string(address >> 8 & 255) + "." + std::to_string(address & 255);
}

std::string blanks(fuzz_input& input)
{
    return input.one_of<std::string>({ "", " ", "\t", " \t " });
}

void append_entry(fuzz_input& input, std::string& text)
{
    const auto port = input.one_of<std::uint64_t>(
        { input.up_to(0xffff), input.up_to(0xffff), 0, 1, 65535, 65536, 100000 });
    std::string host;
    if (input.once_in(3)) {
        const auto first =
            input.one_of({ static_cast<std::uint32_t>(input.number(4)),
                           0xefffffffu - static_cast<std::uint32_t>(input.up_to(9)),
                           0xdfffffffu,
                           ~0u - static_cast<std::uint32_t>(input.up_to(9)) });
        const auto further =
            input.one_of<std::uint64_t>({ input.up_to(9), 4095, 4096, input.number(5) });
        host = dotted_quad(first) + "+" + std::to_string(further);
    } else if (input.once_in(3)) {
        host = input.one_of({ "[::1]", "[fe80::1%eth0]", "[ff02::2]" });
    } else {
        host = input.one_of<std::string>({ "receiver.example", "a", "10.0.0.1" });
    }
    text += blanks(input) + host + ":" + std::to_string(port);
    text += blanks(input);
}

// The changed list may still be valid.
void corrupt(fuzz_input& input, std::string& text)
{
    const auto at = input.up_to(text.size());
    if (input.once_in(3))
        text.resize(at);
    else if (input.once_in(2) && at < text.size())
        text.erase(at, 1);
    else
        text.insert(at, 1, input.one_of({ ':', ',', '[', ']', '+', ' ', '0', '.', '-' }));
}

void check_list(const std::string& text, endpoint_use use)
{
    const auto parsed = parse(text, use);
    if (!parsed)
        return;
    check(!parsed->empty() && parsed->size() <= max_endpoints,
          "the number of endpoints is within its limits");
    for (const auto& each : *parsed) {
        if (!each.capture.empty())
            return;
        check(use == endpoint_use::receive || each.port > 0, "the port is in range");
        check(!each.host.empty(), "the host is not empty");
        check(each.host.find_first_of(" \t,[]+") == std::string::npos,
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
    if (input.once_in(4)) {
        std::string text;
        while (!input.empty())
            text += static_cast<char>(input.byte());
        check_list(text, use);
        return 0;
    }
    std::string list;
    append_entry(input, list);
    while (list.size() < 1000 && input.once_in(2)) {
        list += ",";
        append_entry(input, list);
    }
    check_list(list, use);
    while (!input.empty())
        corrupt(input, list);
    check_list(list, use);
    return 0;
}
