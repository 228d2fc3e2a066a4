/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "items.h"
#include "protocol/heap_layout.h"
#include "sink_checks.h"
#include "support/checks.h"
#include "support/thread_setup.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gr::spead {

namespace {

constexpr std::int64_t one_gib = 1 << 30;
constexpr std::int64_t max_inputs = 64;

// Measured: a quarter of it costs a tenth of the speed, an eighth a third.
constexpr std::size_t default_ring_bytes = 8 << 20;
// Of each ring, where there are several.
constexpr std::size_t least_ring_bytes = 1 << 20;

void check_stream(const sink_options& options)
{
    check_range<std::int64_t>(
        "heap_samples", options.heap_samples, 1, std::int64_t{ 1 } << 32);
    const auto format = format_of(options);
    const auto tail = tail_of(options);
    if (format.order == byte_order::little && tail == tail_policy::shorten)
        throw parameter_error(
            "wire_type",
            quoted(options.wire_type),
            "\">i2\", or \"<i2\" with tail=\"pad\" or tail=\"drop\", since the numpy "
            "header of little-endian samples has a fixed shape");
    check_scale("input_type", options.input_type, options.scale);
}

void check_heaps(const sink_options& options)
{
    if (options.heap_address_bits != 40 && options.heap_address_bits != 48)
        throw parameter_error(
            "heap_address_bits", to_text(options.heap_address_bits), "40 or 48");
    const auto largest = largest_value(options);
    check_range<std::int64_t>("heap_id_start", options.heap_id_start, 0, largest);
    check_range<std::int64_t>(
        "heap_id_step", options.heap_id_step, 1, (largest >> 16) / options.num_inputs);
    const auto descriptors = descriptors_of(options);
    check_interval("descriptor_interval", options.descriptor_interval);
    if (options.descriptor_interval > 0 && descriptors == descriptor_policy::none)
        throw parameter_error("descriptor_interval",
                              to_text(options.descriptor_interval),
                              "0 with descriptors=\"none\"");
}

// Looks at the items: to be called after check_items().
void check_packets(const sink_options& options)
{
    const auto smallest = static_cast<std::int64_t>(smallest_packet_of(options));
    const auto largest = static_cast<std::int64_t>(wire::max_datagram_bytes);
    if (options.max_packet_size != 0 &&
        (options.max_packet_size < smallest || options.max_packet_size > largest))
        throw parameter_error("max_packet_size",
                              to_text(options.max_packet_size),
                              to_text(smallest) + " to " + to_text(largest) +
                                  ", or 0 for the most that the path takes");
}

void check_time(const sink_options& options)
{
    const auto largest = largest_value(options);
    check_range<std::int64_t>("timestamp_start", options.timestamp_start, 0, largest);
    check_range<std::int64_t>("timestamp_step", timestamp_step_of(options), 0, largest);
    on_gap_of(options);
    clock_of(options);
    const auto require =
        [](const char* name, const std::string& value, const std::string& allowed) {
            if (value != allowed)
                throw parameter_error(name, value, allowed + " without sample_rate");
        };
    const sink_options unset;
    if (!options.sample_rate) {
        require("sync_time", to_text(options.sync_time), to_text(unset.sync_time));
        require("on_gap", quoted(options.on_gap), quoted(unset.on_gap));
    } else if (timestamp_step_of(options) == 0) {
        throw parameter_error(
            "timestamp_step", "0", "1 to " + to_text(largest) + " with sample_rate");
    } else if (options.timestamp_start) {
        throw parameter_error(
            "timestamp_start", to_text(options.timestamp_start), "0 with sample_rate");
    }
}

void check_sending(const sink_options& options)
{
    checked_rate(options.rate);
    check_range<std::int64_t>("burst_size", options.burst_size, 1, one_gib);
    when_full_of(options);
    check_range<std::int64_t>(
        "buffer_size", options.buffer_size, 0, std::numeric_limits<std::int64_t>::max());
    check_range<std::int64_t>("ttl", options.ttl, 0, 255);
    check_range<std::int64_t>("affinity", options.affinity, -1, configured_cpus() - 1);
    check_interval("stats_interval", options.stats_interval);
}

} // namespace

void check_options(const std::vector<std::string>& destinations,
                   const sink_options& options)
{
    check_range<std::int64_t>("num_inputs", options.num_inputs, 1, max_inputs);
    endpoints_of(destinations, options);
    check_stream(options);
    check_heaps(options);
    check_time(options);
    check_items(options);
    check_packets(options);
    check_sending(options);
}

std::vector<std::vector<endpoint>> endpoints_of(const std::vector<std::string>& texts,
                                                const sink_options& options)
{
    return read_endpoints("destinations", texts, options.num_inputs, "input");
}

double checked_rate(double rate)
{
    if (!(rate >= 0) || std::isinf(rate))
        throw parameter_error("rate", to_text(rate), "0 or more bytes per second");
    return rate;
}

sample_format format_of(const sink_options& options)
{
    auto format = read_sample_format("input_type", options.input_type, options.wire_type);
    format.heap_samples = static_cast<std::uint64_t>(options.heap_samples);
    return format;
}

sample_converter converter_of(const sink_options& options)
{
    const auto format = format_of(options);
    const double full_scale = format.bits() == 16 ? INT16_MAX : INT8_MAX;
    return sample_converter(format.type,
                            format.order,
                            static_cast<float>(options.scale.value_or(full_scale)),
                            format.float_bits);
}

wire::flavour flavour_of(const sink_options& options)
{
    return { static_cast<unsigned>(options.heap_address_bits) };
}

std::int64_t largest_value(const sink_options& options)
{
    return static_cast<std::int64_t>(flavour_of(options).address_mask());
}

descriptor_policy descriptors_of(const sink_options& options)
{
    return check_choice<descriptor_policy>(
        "descriptors",
        options.descriptors,
        { { "first_heap", descriptor_policy::first_heap },
          { "separate", descriptor_policy::separate },
          { "none", descriptor_policy::none } });
}

gap_policy on_gap_of(const sink_options& options)
{
    return check_choice<gap_policy>(
        "on_gap",
        options.on_gap,
        { { "realign", gap_policy::realign }, { "zero_fill", gap_policy::zero_fill } });
}

full_policy when_full_of(const sink_options& options)
{
    return check_choice<full_policy>(
        "when_full",
        options.when_full,
        { { "block", full_policy::block }, { "drop", full_policy::drop } });
}

tail_policy tail_of(const sink_options& options)
{
    return check_choice<tail_policy>("tail",
                                     options.tail,
                                     { { "short", tail_policy::shorten },
                                       { "pad", tail_policy::pad },
                                       { "drop", tail_policy::drop } });
}

std::size_t smallest_packet_of(const sink_options& options)
{
    const auto flavour = flavour_of(options);
    const bool in_first_heap = descriptors_of(options) == descriptor_policy::first_heap;
    const auto data =
        data_contents(options.items, flavour, in_first_heap, format_of(options));
    const std::size_t smallest = data.header_bytes() + 8;
    if (!options.send_stop)
        return smallest;
    const auto stop = stop_contents(flavour);
    return std::max(smallest, stop.header_bytes() + stop.prefix.size());
}

std::size_t ring_bytes(const sink_options& options)
{
    if (options.buffer_size)
        return static_cast<std::size_t>(options.buffer_size);
    const auto inputs = static_cast<std::size_t>(options.num_inputs);
    return std::max(default_ring_bytes / inputs, least_ring_bytes);
}

std::uint64_t heaps_ahead_of(const sink_options& options)
{
    // one that waits cannot keep up with hardware
    if (when_full_of(options) == full_policy::drop)
        return 0;
    constexpr std::uint64_t bytes_ahead = 256 << 10;
    const auto heap_bytes = static_cast<std::uint64_t>(options.heap_samples) *
                            converter_of(options).output_bytes();
    // Above an eighth of the ring, or a little less, heaps leave before they are
    // complete. Two of an input at a time would be more than a receiver expects.
    const bool may_leave_early = heap_bytes > ring_bytes(options) / 16;
    return may_leave_early ? 1 : std::max<std::uint64_t>(bytes_ahead / heap_bytes, 1);
}

} // namespace gr::spead
