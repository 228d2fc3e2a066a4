/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "make_stream_configs.h"
#include "network/addresses.h"
#include "pack/input_packer.h"
#include "support/parameter_error.h"

#include <algorithm>
#include <set>
#include <utility>

namespace gr::spead {

namespace {

std::string range(std::uint64_t min, std::uint64_t max)
{
    return std::to_string(min) + " to " + std::to_string(max);
}

bool in_first_heap(const sink_options& options)
{
    return descriptors_of(options) == descriptor_policy::first_heap;
}

std::size_t packet_limit(const sink_options& options, std::size_t max_bytes)
{
    const auto min_bytes = smallest_packet_of(options);
    auto bytes = static_cast<std::size_t>(options.max_packet_size);
    // the default fits Ethernet with IPv4, but is slightly too large with IPv6
    if (options.max_packet_size == sink_options().max_packet_size)
        bytes = std::min(bytes, max_bytes);
    if (max_bytes < min_bytes)
        throw parameter_error("max_packet_size",
                              std::to_string(bytes),
                              "at least " + std::to_string(min_bytes) +
                                  " for these items, while the MTU of the path allows " +
                                  std::to_string(max_bytes));
    if (bytes > max_bytes)
        throw parameter_error("max_packet_size",
                              std::to_string(bytes),
                              range(min_bytes, max_bytes) +
                                  " (from the size of the items to the MTU of the path), "
                                  "or 0 for the maximum of the path");
    return bytes ? bytes : max_bytes;
}

// Sets layouts and policies. Inputs differ only in the values of items.
stream_config
make_config(const sink_options& options, std::size_t input, std::size_t packet_bytes)
{
    const bool pads_packets = options.pad_packets;
    const auto flavour = flavour_of(options);
    const auto& items = options.items;
    const auto format = format_of(options);
    const auto converter = converter_of(options);
    const auto bytes = format.heap_samples * converter.output_bytes();
    auto data = data_contents(items, flavour, false, format, input);
    data.has_single_packets = options.single_packet_heaps;
    stream_config config{ heap_layout::even(
        std::move(data), bytes, packet_bytes, pads_packets) };
    if (options.single_packet_heaps && config.regular.packets() > 1)
        throw parameter_error(
            "single_packet_heaps",
            "True",
            "False with heaps of " + std::to_string(bytes) +
                " bytes, which do not fit into a packet of max_packet_size, " +
                std::to_string(packet_bytes) + " bytes");
    if (in_first_heap(options)) {
        auto contents = data_contents(items, flavour, true, format, input);
        // packets of the same size as all others use the ring best
        const std::size_t packet = config.regular.packet_bytes();
        const std::size_t header = contents.header_bytes();
        if (config.regular.packets() > 1 && packet >= header + 16)
            config.first.emplace(
                std::move(contents), bytes, (packet - header) / 8 * 8, pads_packets);
        else
            config.first =
                heap_layout::even(std::move(contents), bytes, packet_bytes, pads_packets);
    }
    const auto policy = descriptors_of(options);
    if (policy == descriptor_policy::separate ||
        (policy == descriptor_policy::first_heap && options.descriptor_interval > 0))
        config.descriptors = heap_layout::even(
            descriptor_contents(items, flavour, format), 0, packet_bytes, false);
    if (options.send_stop)
        config.stop =
            heap_layout::even(stop_contents(flavour), 0, packet_bytes, pads_packets);
    config.converter = converter;
    config.timestamp_start = static_cast<std::uint64_t>(options.timestamp_start);
    config.timestamp_step = static_cast<std::uint64_t>(timestamp_step_of(options));
    config.when_full = when_full_of(options);
    config.tail = tail_of(options);
    config.descriptor_interval = options.descriptor_interval;
    return config;
}

// Sets heap counters that are distinct for all inputs. Those of descriptors count down
// from the value that those of samples reach last. All are heap_id_start plus a multiple
// of heap_id_step, so that other sinks may use the counters in between.
void set_heap_counters(const sink_options& options,
                       std::size_t input,
                       stream_config& config)
{
    const auto inputs = static_cast<std::uint64_t>(options.num_inputs);
    const auto first_id = static_cast<std::uint64_t>(options.heap_id_start);
    const auto step = static_cast<std::uint64_t>(options.heap_id_step);
    config.heap_id_start = first_id + input * step;
    config.heap_id_step = inputs * step;
    const auto max_id = flavour_of(options).address_mask();
    const bool is_near_end = first_id > max_id / 2;
    config.descriptor_id_start =
        (is_near_end ? first_id - step : max_id - (max_id - first_id) % step) -
        input * step;
    config.descriptor_id_step = inputs * step;
}

} // namespace

std::vector<stream_config>
make_stream_configs(const sink_options& options,
                    const std::vector<std::vector<endpoint>>& endpoints,
                    const std::vector<boost::asio::ip::udp::endpoint>& addresses,
                    std::size_t path_packet_bytes)
{
    const auto packet_bytes = packet_limit(options, path_packet_bytes);
    std::vector<stream_config> configs;
    // each address gets one end-of-stream heap
    std::set<boost::asio::ip::udp::endpoint> ended;
    std::uint32_t next_destination = 0;
    for (std::size_t input = 0; input < static_cast<std::size_t>(options.num_inputs);
         ++input) {
        auto config = make_config(options, input, packet_bytes);
        set_heap_counters(options, input, config);
        const bool has_own_list = endpoints.size() > 1;
        config.first_destination = has_own_list ? next_destination : 0;
        const auto& destinations = endpoints.at(has_own_list ? input : 0);
        config.destinations = static_cast<std::uint32_t>(destinations.size());
        config.stop_destinations.clear();
        std::set<boost::asio::ip::udp::endpoint> own_addresses;
        for (std::uint32_t i = 0; i < config.destinations; ++i) {
            const auto destination = config.first_destination + i;
            const auto& address = addresses.at(destination);
            if (!own_addresses.insert(address).second)
                throw parameter_error("destinations",
                                      to_text(destinations[i]),
                                      "each address once in a string");
            if (ended.insert(address).second)
                config.stop_destinations.push_back(destination);
        }
        next_destination += config.destinations;
        configs.push_back(std::move(config));
    }
    return configs;
}

std::size_t ring_slots(const sink_options& options, const stream_config& config)
{
    const std::size_t packet_bytes = config.regular.packet_bytes();
    const std::size_t min_slots = config.min_ring_slots();
    const std::size_t max_slots =
        max_buffer_bytes() / static_cast<std::size_t>(options.num_inputs) / packet_bytes;
    if (min_slots > max_slots)
        throw parameter_error("heap_samples",
                              std::to_string(options.heap_samples),
                              "with when_full=\"drop\" what fits twice into half of "
                              "the memory, " +
                                  std::to_string(max_buffer_bytes()) +
                                  " bytes for all inputs");
    std::size_t slots = ring_bytes(options) / packet_bytes;
    if (!options.buffer_size)
        slots = std::max(slots, min_slots);
    else if (slots < min_slots || slots > max_slots)
        throw parameter_error("buffer_size",
                              std::to_string(options.buffer_size),
                              range(min_slots * packet_bytes, max_slots * packet_bytes) +
                                  ", or 0");
    // round down to whole heaps, so that each header stays in its slot
    const std::uint64_t excess = slots % config.regular.packets();
    if (slots - excess >= std::max<std::uint64_t>(min_slots, slots - slots / 4))
        slots -= excess;
    return slots;
}

} // namespace gr::spead
