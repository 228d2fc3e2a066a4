/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "items.h"
#include "protocol/heap_layout.h"
#include "sink_checks.h"
#include "support/thread_setup.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace gr::spead {

namespace {

constexpr choices<descriptor_policy, 3> descriptor_policies{
    { { "first_heap", descriptor_policy::first_heap },
      { "separate", descriptor_policy::separate },
      { "none", descriptor_policy::none } }
};
constexpr choices<gap_policy, 2> gap_policies{
    { { "realign", gap_policy::realign }, { "zero_fill", gap_policy::zero_fill } }
};
constexpr choices<full_policy, 2> full_policies{ { { "block", full_policy::block },
                                                   { "drop", full_policy::drop } } };
constexpr choices<std::optional<tail_policy>, 4> tail_policies{
    { { "short", tail_policy::shorten },
      { "pad", tail_policy::pad },
      { "drop", tail_policy::drop },
      { "", std::nullopt } }
};
constexpr choices<wire::flavour, 2, std::int64_t> flavours{ { { 40, { 40 } },
                                                              { 48, { 48 } } } };

constexpr bounds rates{
    0.0, std::numeric_limits<double>::max(), nullptr, "0 or more bytes per second"
};

auto counters(const sink_options& options) { return bounds{ 0, largest_value(options) }; }

auto counter_steps(const sink_options& options)
{
    return bounds{ 1, (largest_value(options) >> 16) / options.num_inputs };
}

auto cpus(const sink_options&) { return bounds{ -1, configured_cpus() - 1 }; }

// The allowed values of each option, except for options of type bool and for those that
// check_options() compares with others. Functions may use the options in rows above.
constexpr std::tuple table{
    option{ "heap_samples", &sink_options::heap_samples, sample_counts },
    option{ "input_type", &sink_options::input_type, sample_types },
    option{ "scale", &sink_options::scale, scales },
    option{ "num_inputs", &sink_options::num_inputs, stream_counts },
    option{ "descriptors", &sink_options::descriptors, descriptor_policies },
    option{ "descriptor_interval", &sink_options::descriptor_interval, intervals },
    option{ "tail", &sink_options::tail, tail_policies },
    option{ "heap_address_bits", &sink_options::heap_address_bits, flavours },
    option{ "heap_id_start", &sink_options::heap_id_start, counters },
    option{ "heap_id_step", &sink_options::heap_id_step, counter_steps },
    option{ "timestamp_start", &sink_options::timestamp_start, counters }, // ticks
    option{ "timestamp_step", &sink_options::timestamp_step, counters },   // ticks
    option{ "on_gap", &sink_options::on_gap, gap_policies },
    option{ "rate", &sink_options::rate, rates },
    option{ "burst_size", &sink_options::burst_size, bounds{ 1, 1 << 30 } }, // bytes
    option{ "when_full", &sink_options::when_full, full_policies },
    option{ "buffer_size", &sink_options::buffer_size, bounds{ 0, INT64_MAX } }, // bytes
    option{ "affinity", &sink_options::affinity, cpus },
    option{ "stats_interval", &sink_options::stats_interval, intervals },
    option{ "ttl", &sink_options::ttl, bounds{ 0, 255 } } // hops
};

// Measured: a quarter of this costs a tenth of the throughput, an eighth a third.
constexpr std::size_t default_ring_bytes = 8 << 20;
// Minimum for each of several rings.
constexpr std::size_t min_ring_bytes = 1 << 20;

void check_axes(const sink_options& options)
{
    const auto axes = axes_of(options);
    if (axes.empty())
        return;
    require(options.num_inputs == 1,
            "num_inputs",
            options.num_inputs,
            "1 with axes: the size of \"pol\" is the number of inputs");
    require(!options.sample_rate, "axes", options.axes, "\"\" with sample_rate");
    const auto type = format_of(options).type;
    check_memory(options.axes, axes, 1, components_of(type) * bits_of(type) / 8);
    check_divided_axis(options.axes, axes, options.items);
}

} // namespace

void check_options(const std::vector<std::string>& destinations,
                   const sink_options& given)
{
    check_table(given, table);
    check_axes(given);
    const auto options = heap_options(given);
    check_table(options, table);
    const auto lists = endpoints_of(destinations, options);
    const auto& capture = lists.front().front().capture;
    for (const auto& list : lists)
        for (const auto& destination : list)
            require(destination.capture == capture,
                    "destinations",
                    destinations.front(),
                    "addresses only, or the same capture everywhere");
    require(!format_of(options).has_fixed_shape() ||
                tail_of(options) != tail_policy::shorten,
            "tail",
            options.tail,
            "\"pad\", \"drop\" or \"\" with axes and with little-endian or complex "
            "wire_type, which fix the shape of heaps");
    check_items(options);
    check_value("max_packet_size",
                options.max_packet_size,
                bounds{ static_cast<std::int64_t>(smallest_packet_of(options)),
                        static_cast<std::int64_t>(wire::max_datagram_bytes),
                        ", or 0 for the maximum of the path" });
    require(!options.single_packet_heaps ||
                descriptors_of(options) != descriptor_policy::first_heap,
            "single_packet_heaps",
            "True",
            "False with descriptors=\"first_heap\"");
    check_shared_rules(options, "input_type", options.input_type);
    require(options.sample_rate || on_gap_of(options) == gap_policy::realign,
            "on_gap",
            options.on_gap,
            "\"realign\" without sample_rate");
    require(!options.sample_rate || timestamp_step_of(options),
            "timestamp_step",
            0,
            "1 to " + to_text(largest_value(options)) + " with sample_rate");
    require(!options.sample_rate || !options.timestamp_start,
            "timestamp_start",
            options.timestamp_start,
            "0 with sample_rate");
}

std::vector<std::vector<endpoint>> endpoints_of(const std::vector<std::string>& texts,
                                                const sink_options& options)
{
    return read_endpoints("destinations",
                          texts,
                          options.num_inputs,
                          options.axes.empty() ? "input" : "part",
                          endpoint_use::send);
}

double checked_rate(double rate) { return check_value("rate", rate, rates); }

sink_options heap_options(const sink_options& options)
{
    auto derived = options;
    if (const auto axes = axes_of(options); !axes.empty()) {
        derived.num_inputs = static_cast<std::int64_t>(axes.substreams());
        set_heap_options(derived, axes);
        set_first_indexes(derived.items, axes);
    }
    return derived;
}

sample_format format_of(const sink_options& options)
{
    auto format =
        read_sample_format("input_type", options.input_type, options.wire_type, can_send);
    format.heap_samples = static_cast<std::uint64_t>(options.heap_samples);
    format.shape = axes_of(options).shape();
    return format;
}

sample_converter converter_of(const sink_options& options)
{
    const auto format = format_of(options);
    return sample_converter(format, options.scale.value_or(format.wire.full_scale()));
}

wire::flavour flavour_of(const sink_options& options)
{
    return check_value("heap_address_bits", options.heap_address_bits, flavours);
}

std::int64_t largest_value(const sink_options& options)
{
    return static_cast<std::int64_t>(flavour_of(options).address_mask());
}

descriptor_policy descriptors_of(const sink_options& options)
{
    return check_value("descriptors", options.descriptors, descriptor_policies);
}

gap_policy on_gap_of(const sink_options& options)
{
    return check_value("on_gap", options.on_gap, gap_policies);
}

full_policy when_full_of(const sink_options& options)
{
    return check_value("when_full", options.when_full, full_policies);
}

tail_policy tail_of(const sink_options& options)
{
    return check_value("tail", options.tail, tail_policies)
        .value_or(format_of(options).has_fixed_shape() ? tail_policy::pad
                                                       : tail_policy::shorten);
}

std::size_t smallest_packet_of(const sink_options& options)
{
    const auto flavour = flavour_of(options);
    const bool is_in_first_heap =
        descriptors_of(options) == descriptor_policy::first_heap;
    const auto data =
        data_contents(options.items, flavour, is_in_first_heap, format_of(options));
    const std::size_t min_bytes = data.header_bytes() + 8;
    if (!options.send_stop)
        return min_bytes;
    const auto stop = stop_contents(flavour);
    return std::max(min_bytes, stop.header_bytes() + stop.prefix.size());
}

std::size_t ring_bytes(const sink_options& options)
{
    if (options.buffer_size)
        return static_cast<std::size_t>(options.buffer_size);
    const auto inputs = static_cast<std::size_t>(options.num_inputs);
    return std::max(default_ring_bytes / inputs, min_ring_bytes);
}

std::uint64_t heaps_ahead_of(const sink_options& options)
{
    // an input that waits for others cannot keep up with hardware
    if (when_full_of(options) == full_policy::drop)
        return 0;
    constexpr std::uint64_t bytes_ahead = 256 << 10;
    const auto heap_bytes = static_cast<std::uint64_t>(options.heap_samples) *
                            converter_of(options).output_bytes();
    // Heaps that exceed about an eighth of the ring are sent before they are complete.
    // Receivers do not expect two incomplete heaps of an input at a time.
    const bool may_leave_early = heap_bytes > ring_bytes(options) / 16;
    return may_leave_early ? 1 : std::max<std::uint64_t>(bytes_ahead / heap_bytes, 1);
}

} // namespace gr::spead
