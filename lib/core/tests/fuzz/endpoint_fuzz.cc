/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Lists of endpoints: correct ones, and such with mistakes.

#include "fuzz_input.h"
#include "network/endpoint.h"
#include "support/parameter_error.h"

#include <optional>
#include <string>
#include <vector>

using namespace gr::spead;

namespace {

using endpoints = std::vector<endpoint>;

std::optional<endpoints> parse(const std::string& list, std::uint16_t first_port)
{
    try {
        return parse_endpoints("destinations", list, first_port);
    } catch (const parameter_error& refused) {
        check(std::string(refused.what()).find("destinations") != std::string::npos,
              "an error names the parameter");
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

std::string dotted(std::uint32_t address)
{
    return std::to_string(address >> 24) + "." + std::to_string(address >> 16 & 255) +
           "." + std::to_string(address >> 8 & 255) + "." + std::to_string(address & 255);
}

std::string spaces(fuzz_input& input)
{
    return input.one_of<std::string>({ "", " ", "\t", " \t " });
}

void add_entry(fuzz_input& input, std::string& text)
{
    const auto port = input.one_of<std::uint64_t>(
        { input.upto(0xffff), input.upto(0xffff), 0, 1, 65535, 65536, 100000 });
    std::string host;
    if (input.once_in(3)) {
        const auto first =
            input.one_of({ static_cast<std::uint32_t>(input.number(4)),
                           0xefffffffu - static_cast<std::uint32_t>(input.upto(9)),
                           0xdfffffffu,
                           ~0u - static_cast<std::uint32_t>(input.upto(9)) });
        const auto further =
            input.one_of<std::uint64_t>({ input.upto(9), 4095, 4096, input.number(5) });
        host = dotted(first) + "+" + std::to_string(further);
    } else if (input.once_in(3)) {
        host = input.one_of({ "[::1]", "[fe80::1%eth0]", "[ff02::2]" });
    } else {
        host = input.one_of<std::string>({ "receiver.example", "a", "10.0.0.1" });
    }
    text += spaces(input) + host + ":" + std::to_string(port);
    text += spaces(input);
}

// A mistake may make another correct list.
void make_mistake(fuzz_input& input, std::string& text)
{
    const auto at = input.upto(text.size());
    if (input.once_in(3))
        text.resize(at);
    else if (input.once_in(2) && at < text.size())
        text.erase(at, 1);
    else
        text.insert(at, 1, input.one_of({ ':', ',', '[', ']', '+', ' ', '0', '.', '-' }));
}

void check_any(const std::string& text, std::uint16_t first_port)
{
    const auto read = parse(text, first_port);
    if (!read)
        return;
    check(!read->empty() && read->size() <= max_endpoints, "there are some endpoints");
    for (const auto& each : *read) {
        check(each.port >= first_port, "the port is possible");
        check(!each.host.empty(), "there is a host");
        check(each.host.find_first_of(" \t,[]+") == std::string::npos,
              "a host is no list, and has no brackets");
    }
    const auto again = parse(to_text(*read), first_port);
    check(again && are_equal(*again, *read), "endpoints that are written are read again");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    const std::uint16_t first_port = input.upto(1);
    if (input.once_in(4)) {
        std::string text;
        while (!input.empty())
            text += static_cast<char>(input.byte());
        check_any(text, first_port);
        return 0;
    }
    std::string list;
    add_entry(input, list);
    while (list.size() < 1000 && input.once_in(2)) {
        list += ",";
        add_entry(input, list);
    }
    check_any(list, first_port);
    while (!input.empty())
        make_mistake(input, list);
    check_any(list, first_port);
    return 0;
}
