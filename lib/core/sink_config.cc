/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "items.h"
#include "protocol/heap_layout.h"
#include "protocol/item_text.h"
#include "shared_options.h"
#include "sink_config.h"
#include "support/thread_setup.h"

#include <algorithm>
#include <limits>

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

auto cpus(const sink_options&) { return bounds{ -1, configured_cpus() - 1 }; }

// The ranges of numbers that depend on no other option.
constexpr std::tuple table{
    option{ "heap_samples", &sink_options::heap_samples, sample_counts },
    option{ "scale", &sink_options::scale, scales },
    option{ "num_inputs", &sink_options::num_inputs, stream_counts },
    option{ "descriptor_interval", &sink_options::descriptor_interval, intervals },
    option{ "rate", &sink_options::rate, rates },
    option{ "burst_size", &sink_options::burst_size, bounds{ 1, 1 << 30 } },     // bytes
    option{ "buffer_size", &sink_options::buffer_size, bounds{ 0, INT64_MAX } }, // bytes
    option{ "affinity", &sink_options::affinity, cpus },
    option{ "stats_interval", &sink_options::stats_interval, intervals },
    option{ "ttl", &sink_options::ttl, bounds{ 0, 255 } } // hops
};

// Measured: a quarter of this costs a tenth of the throughput, an eighth a third.
constexpr std::size_t default_ring_bytes = 8 << 20;
// Minimum for each of several rings.
constexpr std::size_t min_ring_bytes = 1 << 20;

// The inputs of the engine are the substreams.
void set_axes(const sink_options& options, sink_config& config)
{
    config.axes = heap_axes("axes", options.axes);
    const auto& axes = config.axes;
    config.ports = config.inputs = static_cast<std::size_t>(options.num_inputs);
    config.items = options.items;
    config.format.heap_samples =
        static_cast<std::uint64_t>(heap_samples_of(options, axes));
    if (axes.empty())
        return;
    require(options.num_inputs == 1,
            "num_inputs",
            options.num_inputs,
            "1 with axes: the size of \"pol\" is the number of inputs");
    require(!options.sample_rate, "axes", options.axes, "\"\" with sample_rate");
    const auto type = config.format.type;
    check_memory(options.axes, axes, 1, components_of(type) * bits_of(type) / 8);
    check_divided_axis(options.axes, axes, options.items);
    config.ports = axes.ports();
    config.inputs = axes.substreams();
    config.format.shape = axes.shape();
    set_first_indexes(config.items, axes);
}

void set_counters(const sink_options& options, sink_config& config)
{
    const bounds counters{ std::int64_t{ 0 }, config.largest_value() };
    const auto inputs = static_cast<std::int64_t>(config.inputs);
    const bounds steps{ std::int64_t{ 1 }, (config.largest_value() >> 16) / inputs };
    const auto checked = [](const char* name, std::int64_t value, const auto& allowed) {
        return static_cast<std::uint64_t>(check_value(name, value, allowed));
    };
    config.heap_id_start = checked("heap_id_start", options.heap_id_start, counters);
    config.heap_id_step = checked("heap_id_step", options.heap_id_step, steps);
    config.timestamp_start =
        checked("timestamp_start", options.timestamp_start, counters);
    config.timestamp_step =
        checked("timestamp_step", timestamp_step_of(options, config.axes), counters);
}

void set_destinations(const std::vector<std::string>& texts, sink_config& config)
{
    config.destinations = read_endpoints("destinations",
                                         texts,
                                         config.inputs,
                                         config.axes.empty() ? "input" : "part",
                                         endpoint_use::send);
    const auto& capture = config.destinations.front().front().capture;
    for (const auto& list : config.destinations)
        for (const auto& destination : list)
            require(destination.capture == capture,
                    "destinations",
                    texts.front(),
                    "addresses only, or the same capture everywhere");
}

void set_packets(const sink_options& options, sink_config& config)
{
    const auto max_bytes =
        check_value("max_packet_size",
                    options.max_packet_size,
                    bounds{ static_cast<std::int64_t>(config.smallest_packet_bytes()),
                            static_cast<std::int64_t>(wire::max_datagram_bytes),
                            ", or 0 for the maximum of the path" });
    config.max_packet_bytes = static_cast<std::size_t>(max_bytes);
    config.is_default_packet = max_bytes == sink_options().max_packet_size;
    config.pads_packets = options.pad_packets;
    config.has_single_packets = options.single_packet_heaps;
    require(!config.has_single_packets ||
                config.descriptors != descriptor_policy::first_heap,
            "single_packet_heaps",
            "True",
            "False with descriptors=\"first_heap\"");
}

void set_times(const sink_options& options, sink_config& config)
{
    config.clock = read_clock(options);
    const auto on_gap = check_value("on_gap", options.on_gap, gap_policies);
    if (!options.sample_rate)
        return require(on_gap == gap_policy::realign,
                       "on_gap",
                       options.on_gap,
                       "\"realign\" without sample_rate");
    require(has_timestamp(config.items),
            "items",
            config.items,
            "one timestamp() and one samples(), with sample_rate");
    require(config.timestamp_step != 0,
            "timestamp_step",
            0,
            "1 to " + to_text(config.largest_value()) + " with sample_rate");
    require(!options.timestamp_start,
            "timestamp_start",
            options.timestamp_start,
            "0 with sample_rate");
    config.aligner = { static_cast<std::int64_t>(config.format.heap_samples),
                       static_cast<std::int64_t>(config.timestamp_step),
                       *options.sample_rate,
                       on_gap };
}

void set_transport(const sink_options& options, sink_config& config)
{
    config.interface = options.interface;
    config.ttl = static_cast<int>(options.ttl);
    config.ring_bytes = static_cast<std::size_t>(options.buffer_size);
    config.has_fixed_ring = config.ring_bytes != 0;
    if (!config.has_fixed_ring)
        config.ring_bytes = std::max(default_ring_bytes / config.inputs, min_ring_bytes);
    config.rate = options.rate;
    config.burst_bytes = static_cast<std::size_t>(options.burst_size);
    config.cpu = static_cast<int>(options.affinity);
    config.stats_interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(options.stats_interval));
}

} // namespace

sink_config parse_options(const std::vector<std::string>& destinations,
                          const sink_options& options)
{
    check_table(options, table);
    sink_config config;
    config.format =
        read_sample_format("input_type", options.input_type, options.wire_type, can_send);
    const sample_group group(config.format);
    config.flavour =
        check_value("heap_address_bits", options.heap_address_bits, flavours);
    config.descriptors =
        check_value("descriptors", options.descriptors, descriptor_policies);
    config.descriptor_interval = options.descriptor_interval;
    config.when_full = check_value("when_full", options.when_full, full_policies);
    config.has_end = options.send_stop;
    set_axes(options, config);
    require(group.whole(config.format.heap_samples) == config.format.heap_samples,
            config.axes.empty() ? "heap_samples" : "axes",
            config.axes.empty() ? to_text(config.format.heap_samples)
                                : quoted(options.axes),
            "multiples of " + to_text(group.samples()) +
                " samples per heap with wire_type=" + quoted(options.wire_type));
    set_counters(options, config);
    set_destinations(destinations, config);
    const bool is_fixed = config.format.has_fixed_shape();
    config.tail = check_value("tail", options.tail, tail_policies)
                      .value_or(is_fixed ? tail_policy::pad : tail_policy::shorten);
    require(!is_fixed || config.tail != tail_policy::shorten,
            "tail",
            options.tail,
            "\"pad\", \"drop\" or \"\" with axes and with little-endian or complex "
            "wire_type, which fix the shape of heaps");
    check_items(config);
    set_packets(options, config);
    check_scale(options, "input_type", options.input_type);
    config.converter = sample_converter(
        config.format, options.scale.value_or(config.format.wire.full_scale()));
    set_times(options, config);
    set_transport(options, config);
    return config;
}

double checked_rate(double rate) { return check_value("rate", rate, rates); }

std::size_t sink_config::smallest_packet_bytes() const
{
    const bool is_in_first_heap = descriptors == descriptor_policy::first_heap;
    const auto data = data_contents(items, flavour, is_in_first_heap, format);
    const std::size_t min_bytes = data.header_bytes() + 8;
    if (!has_end)
        return min_bytes;
    const auto stop = stop_contents(flavour);
    return std::max(min_bytes, stop.header_bytes() + stop.prefix.size());
}

std::uint64_t sink_config::heaps_ahead() const
{
    // an input that waits for others cannot keep up with hardware
    if (when_full == full_policy::drop)
        return 0;
    constexpr std::uint64_t bytes_ahead = 256 << 10;
    // Heaps that exceed about an eighth of the ring are sent before they are complete.
    // Receivers do not expect two incomplete heaps of an input at a time.
    const bool may_leave_early = heap_bytes() > ring_bytes / 16;
    return may_leave_early ? 1 : std::max<std::uint64_t>(bytes_ahead / heap_bytes(), 1);
}

} // namespace gr::spead
