/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "core/parameter_error.h"
#include "core/thread_setup.h"
#include "sink_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

namespace gr {
namespace spead {

namespace {

constexpr int one_gib = 1 << 30;

template <typename number>
std::string to_text(number value)
{
    std::ostringstream text;
    text.precision(15);
    text << value;
    return text.str();
}

template <typename number>
number in_range(const std::string& parameter, number value, number from, number to)
{
    // written so that not-a-number is refused too
    if (!(value >= from && value <= to))
        throw parameter_error(
            parameter, to_text(value), to_text(from) + " to " + to_text(to));
    return value;
}

int small(const std::string& parameter, std::int64_t value, int from, int to)
{
    return static_cast<int>(
        in_range(parameter, value, std::int64_t{ from }, std::int64_t{ to }));
}

std::uint64_t counted(const std::string& parameter,
                      std::int64_t value,
                      std::int64_t from,
                      std::int64_t to)
{
    return static_cast<std::uint64_t>(in_range(parameter, value, from, to));
}

template <typename choice>
choice one_of(const std::string& parameter,
              const std::string& value,
              std::initializer_list<std::pair<const char*, choice>> choices)
{
    std::string allowed;
    for (const auto& [name, meaning] : choices) {
        if (value == name)
            return meaning;
        allowed += (allowed.empty() ? "\"" : ", \"") + std::string(name) + "\"";
    }
    throw parameter_error(parameter, "\"" + value + "\"", allowed);
}

std::string to_text(const std::vector<item>& items)
{
    std::ostringstream text;
    text << "[";
    for (const auto& held : items)
        text << (&held == &items.front() ? "" : ", ")
             << (held.holds == item::content::samples ? "samples" : "timestamp")
             << "(id=0x" << std::hex << held.id << std::dec << ", name=\"" << held.name
             << "\")";
    text << "]";
    return text.str();
}

const std::vector<item>& checked_items(const std::vector<item>& items,
                                       wire::flavour flavour)
{
    const auto refuse = [&](const std::string& allowed) {
        throw parameter_error("items", to_text(items), allowed);
    };
    const auto count = [&](item::content what) {
        return std::count_if(
            items.begin(), items.end(), [&](const item& i) { return i.holds == what; });
    };
    if (count(item::content::samples) != 1 || count(item::content::timestamp) > 1)
        refuse("one samples() and at most one timestamp()");

    constexpr auto first = static_cast<std::int64_t>(wire::first_free);
    const auto last = static_cast<std::int64_t>(flavour.max_id());
    std::set<std::int64_t> ids;
    std::set<std::string> names;
    for (const auto& held : items) {
        if (held.id < first || held.id > last)
            refuse("IDs of " + to_text(first) + " to " + to_text(last) + " with " +
                   to_text(flavour.heap_address_bits) + " heap address bits");
        if (held.name.empty())
            refuse("names that are not empty");
        if (!ids.insert(held.id).second || !names.insert(held.name).second)
            refuse("items of different IDs and names");
    }
    return items;
}

} // namespace

double checked_rate(double rate)
{
    return in_range("rate", rate, 0.0, std::numeric_limits<double>::max());
}

engine_options checked(const std::string& destinations, const sink_options& options)
{
    engine_options checked;
    checked.destinations = { { parse_endpoint(destinations) } };
    checked.heap_samples =
        counted("heap_samples", options.heap_samples, 1, std::int64_t{ 1 } << 32);
    checked.max_packet_bytes =
        counted("max_packet_size",
                options.max_packet_size,
                0,
                static_cast<std::int64_t>(wire::max_datagram_bytes));
    if (options.heap_address_bits != 40 && options.heap_address_bits != 48)
        throw parameter_error(
            "heap_address_bits", to_text(options.heap_address_bits), "40 or 48");
    checked.flavour = { static_cast<unsigned>(options.heap_address_bits) };
    const auto largest = static_cast<std::int64_t>(checked.flavour.address_mask());
    checked.heap_id_start = counted("heap_id_start", options.heap_id_start, 0, largest);
    checked.heap_id_step = counted("heap_id_step", options.heap_id_step, 1, largest);
    checked.items = checked_items(options.items, checked.flavour);
    checked.descriptors =
        one_of<descriptor_policy>("descriptors",
                                  options.descriptors,
                                  { { "first_heap", descriptor_policy::first_heap },
                                    { "none", descriptor_policy::none } });
    checked.pad_packets = options.pad_packets;
    checked.timestamp_start =
        counted("timestamp_start", options.timestamp_start, 0, largest);
    checked.timestamp_step =
        counted("timestamp_step",
                options.timestamp_step.value_or(options.heap_samples),
                0,
                largest);
    checked.sending.rate = checked_rate(options.rate);
    checked.sending.burst_bytes = counted("burst_size", options.burst_size, 1, one_gib);
    checked.when_full = one_of<full_policy>(
        "when_full",
        options.when_full,
        { { "block", full_policy::block }, { "drop", full_policy::drop } });
    checked.buffer_bytes = counted(
        "buffer_size", options.buffer_size, 0, std::numeric_limits<std::int64_t>::max());
    checked.tail = one_of<tail_policy>("tail",
                                       options.tail,
                                       { { "short", tail_policy::shorten },
                                         { "pad", tail_policy::pad },
                                         { "drop", tail_policy::drop } });
    checked.send_stop = options.send_stop;
    checked.stop_timeout = in_range("stop_timeout", options.stop_timeout, 0.0, 3600.0);
    checked.socket.interface = options.interface;
    checked.socket.ttl = small("ttl", options.ttl, 0, 255);
    checked.socket.loopback = options.loopback;
    checked.socket.send_buffer =
        small("socket_buffer", options.socket_buffer, 0, one_gib);
    checked.socket.dscp = small("dscp", options.dscp, 0, 63);
    checked.sending.gso = options.gso;
    checked.socket.zero_copy = options.zero_copy;
    checked.sending.cpu = small("affinity", options.affinity, -1, configured_cpus() - 1);
    return checked;
}

} // namespace spead
} // namespace gr
