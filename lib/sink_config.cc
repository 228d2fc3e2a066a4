/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "checks.h"
#include "core/engine_plan.h"
#include "core/support/thread_setup.h"
#include "item_checks.h"
#include "sink_config.h"

#include <algorithm>
#include <limits>

namespace gr::spead {

namespace {

constexpr int one_gib = 1 << 30;
constexpr int max_inputs = 64;

// In front of each line of the log, which must not be longer than a pipe has room for.
std::string shortened(const std::vector<std::string>& texts)
{
    constexpr std::size_t longest = 200;
    std::string all;
    for (const auto& text : texts)
        all += (all.empty() ? "" : "; ") + text;
    return all.size() <= longest ? all : all.substr(0, longest) + "...";
}

std::vector<std::vector<endpoint>>
checked_destinations(const std::vector<std::string>& texts, std::size_t inputs)
{
    if (texts.size() != 1 && texts.size() != inputs)
        throw parameter_error(
            "destinations",
            to_text(texts.size()) + " strings",
            inputs == 1 ? "1" : "1, or one for each of " + to_text(inputs) + " inputs");
    std::vector<std::vector<endpoint>> destinations;
    std::size_t count = 0;
    for (const auto& text : texts) {
        destinations.push_back(parse_endpoints(text));
        count += destinations.back().size();
    }
    if (count > max_endpoints)
        throw parameter_error("destinations",
                              to_text(count) + " endpoints",
                              "at most " + to_text(max_endpoints) + " in all");
    return destinations;
}

void check_stream(engine_options& checked, const sink_options& options)
{
    checked.heap_samples =
        counted("heap_samples", options.heap_samples, 1, std::int64_t{ 1 } << 32);
    checked.type = one_of<sample_type>("input_type",
                                       options.input_type,
                                       { { "int8", sample_type::int8 },
                                         { "sc8", sample_type::sc8 },
                                         { "int16", sample_type::int16 },
                                         { "sc16", sample_type::sc16 },
                                         { "float", sample_type::float32 },
                                         { "complex", sample_type::complex64 } });
    checked.order = one_of<byte_order>(
        "byte_order",
        options.byte_order,
        { { "big", byte_order::big }, { "little", byte_order::little } });
    checked.tail = one_of<tail_policy>("tail",
                                       options.tail,
                                       { { "short", tail_policy::shorten },
                                         { "pad", tail_policy::pad },
                                         { "drop", tail_policy::drop } });
    const bool has_order =
        checked.type == sample_type::int16 || checked.type == sample_type::sc16;
    if (has_order && checked.order == byte_order::little &&
        checked.tail == tail_policy::shorten)
        throw parameter_error(
            "byte_order",
            quoted(options.byte_order),
            "\"big\", or tail=\"pad\" or tail=\"drop\", as the numpy header that "
            "describes "
            "little-endian samples has a fixed shape, and a short heap another");
    const bool is_scaled =
        checked.type == sample_type::float32 || checked.type == sample_type::complex64;
    if (!is_scaled && options.scale != 1)
        throw parameter_error("scale",
                              to_text(options.scale),
                              "1 with input_type=" + quoted(options.input_type) +
                                  ", which keeps its value; any other with \"float\" or "
                                  "\"complex\"");
    using limits = std::numeric_limits<float>;
    checked.scale = static_cast<float>(
        in_range<double>("scale", options.scale, limits::min(), limits::max()));
}

void check_heaps(engine_options& checked, const sink_options& options)
{
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
    checked.heap_id_step =
        counted("heap_id_step",
                options.heap_id_step,
                1,
                (largest >> 16) / static_cast<std::int64_t>(checked.inputs));
    checked.descriptors =
        one_of<descriptor_policy>("descriptors",
                                  options.descriptors,
                                  { { "first_heap", descriptor_policy::first_heap },
                                    { "separate", descriptor_policy::separate },
                                    { "none", descriptor_policy::none } });
    checked.descriptor_interval =
        interval("descriptor_interval", options.descriptor_interval);
    if (checked.descriptor_interval > 0 && checked.descriptors == descriptor_policy::none)
        throw parameter_error("descriptor_interval",
                              to_text(options.descriptor_interval),
                              "0 with descriptors=\"none\"");
    checked.pad_packets = options.pad_packets;
}

std::uint64_t checked_max_skew(const engine_options& checked, std::int64_t max_skew)
{
    // measured: a quarter of it costs a twentieth of the speed of two inputs
    constexpr std::uint64_t default_bytes = 4 << 20;
    in_range("max_skew", max_skew, std::int64_t{ -1 }, std::int64_t{ 65536 });
    // one that waits cannot keep up with hardware
    if (max_skew == -1 || checked.when_full == full_policy::drop)
        return 0;
    if (max_skew > 0)
        return static_cast<std::uint64_t>(max_skew);
    const sample_converter converter(checked.type);
    const auto heap_bytes = checked.heap_samples * converter.output_bytes();
    // Above an eighth of the ring, or a little less, heaps leave before they are
    // complete. Two of an input at a time would be more than a receiver expects.
    const bool may_leave_early = heap_bytes > ring_bytes(checked) / 16;
    return may_leave_early ? 1 : std::max<std::uint64_t>(default_bytes / heap_bytes, 1);
}

exact_time checked_sync_time(const std::variant<std::string, std::int64_t>& sync_time)
{
    if (const auto* text = std::get_if<std::string>(&sync_time))
        return parse_sync_time(*text);
    return sync_time_from_nanoseconds(std::get<std::int64_t>(sync_time));
}

void check_time(engine_options& checked, const sink_options& options)
{
    const auto largest = static_cast<std::int64_t>(checked.flavour.address_mask());
    checked.timestamp_start =
        counted("timestamp_start", options.timestamp_start, 0, largest);
    checked.timestamp_step =
        counted("timestamp_step",
                options.timestamp_step.value_or(options.heap_samples),
                0,
                largest);
    checked.timestamps =
        one_of<timestamp_source>("timestamp_source",
                                 options.timestamp_source,
                                 { { "count", timestamp_source::count },
                                   { "rx_time", timestamp_source::rx_time } });
    checked.on_gap = one_of<gap_policy>("on_gap",
                                        options.on_gap,
                                        { { "realign", gap_policy::realign },
                                          { "zero_fill", gap_policy::zero_fill },
                                          { "ignore", gap_policy::ignore } });
    checked.on_start = one_of<start_policy>(
        "on_start",
        options.on_start,
        { { "drop", start_policy::drop }, { "zero_fill", start_policy::zero_fill } });
    const bool is_tagged = checked.timestamps == timestamp_source::rx_time;
    const std::string why = ", with timestamp_source=\"rx_time\"";
    if (is_tagged && !options.sample_rate)
        throw parameter_error("sample_rate", "none", "a rate" + why);
    if (is_tagged && checked.timestamp_step == 0)
        throw parameter_error("timestamp_step", "0", "1 to " + to_text(largest) + why);
    checked.sample_rate = options.sample_rate.value_or(checked.sample_rate);
    checked.sync_time = checked_sync_time(options.sync_time);
    tick_clock(checked.sample_rate, checked.sync_time); // throws for a bad rate
}

void check_network(engine_options& checked, const sink_options& options)
{
    checked.sending.rate = checked_rate(options.rate);
    checked.sending.burst_bytes = counted("burst_size", options.burst_size, 1, one_gib);
    checked.when_full = one_of<full_policy>(
        "when_full",
        options.when_full,
        { { "block", full_policy::block }, { "drop", full_policy::drop } });
    checked.buffer_bytes = counted(
        "buffer_size", options.buffer_size, 0, std::numeric_limits<std::int64_t>::max());
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
}

} // namespace

double checked_rate(double rate)
{
    return in_range("rate", rate, 0.0, std::numeric_limits<double>::max());
}

sink_config checked(const std::vector<std::string>& destinations,
                    const sink_options& options)
{
    sink_config config;
    auto& checked = config.engine;
    checked.inputs =
        static_cast<std::size_t>(small("num_inputs", options.num_inputs, 1, max_inputs));
    checked.destinations = checked_destinations(destinations, checked.inputs);
    config.destinations = shortened(destinations);
    check_stream(checked, options);
    check_heaps(checked, options);
    check_time(checked, options);
    check_items(options.items, checked);
    checked.items = options.items;
    check_network(checked, options);
    config.max_skew = checked_max_skew(checked, options.max_skew);
    config.stats_interval = interval("stats_interval", options.stats_interval);
    return config;
}

} // namespace gr::spead
