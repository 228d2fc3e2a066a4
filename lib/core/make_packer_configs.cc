/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "make_packer_configs.h"
#include "network/addresses.h"
#include "shared_options.h"
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

// Sets layouts and policies. Inputs differ only in the values of items.
packer_config
make_config(const sink_config& config, std::size_t input, std::size_t packet_bytes)
{
    const bool pads_packets = config.pads_packets;
    const auto& flavour = config.flavour;
    const auto& items = config.items;
    const auto& format = config.format;
    const auto bytes = config.heap_bytes();
    auto data = data_contents(items, flavour, false, format, input);
    data.has_single_packets = config.has_single_packets;
    packer_config packer{ heap_layout::even(
        std::move(data), bytes, packet_bytes, pads_packets) };
    if (config.has_single_packets && packer.regular.packets() > 1)
        throw parameter_error(
            "single_packet_heaps",
            "True",
            "False with heaps of " + std::to_string(bytes) +
                " bytes, which do not fit into a packet of max_packet_size, " +
                std::to_string(packet_bytes) + " bytes");
    const bool is_in_first_heap = config.descriptors == descriptor_policy::first_heap;
    if (is_in_first_heap) {
        auto contents = data_contents(items, flavour, true, format, input);
        // packets of the same size as all others use the ring best
        const std::size_t packet = packer.regular.packet_bytes();
        const std::size_t header = contents.header_bytes();
        if (packer.regular.packets() > 1 && packet >= header + 16)
            packer.first.emplace(
                std::move(contents), bytes, (packet - header) / 8 * 8, pads_packets);
        else
            packer.first =
                heap_layout::even(std::move(contents), bytes, packet_bytes, pads_packets);
    }
    if (config.descriptors == descriptor_policy::separate ||
        (is_in_first_heap && config.descriptor_interval > 0))
        packer.descriptors = heap_layout::even(
            descriptor_contents(items, flavour, format), 0, packet_bytes, false);
    if (config.has_end)
        packer.stop =
            heap_layout::even(stop_contents(flavour), 0, packet_bytes, pads_packets);
    packer.converter = config.converter;
    packer.timestamp_start = config.timestamp_start;
    packer.timestamp_step = config.timestamp_step;
    packer.when_full = config.when_full;
    packer.tail = config.tail;
    packer.descriptor_interval = config.descriptor_interval;
    return packer;
}

// Sets heap counters that are distinct for all inputs. Those of descriptors count down
// from the value that those of samples reach last. All are heap_id_start plus a multiple
// of heap_id_step, so that other sinks may use the counters in between.
void set_heap_counters(const sink_config& config,
                       std::size_t input,
                       packer_config& packer)
{
    const auto first_id = config.heap_id_start;
    const auto step = config.heap_id_step;
    packer.heap_id_start = first_id + input * step;
    packer.heap_id_step = config.inputs * step;
    const auto max_id = config.flavour.address_mask();
    const bool is_near_end = first_id > max_id / 2;
    packer.descriptor_id_start =
        (is_near_end ? first_id - step : max_id - (max_id - first_id) % step) -
        input * step;
    packer.descriptor_id_step = config.inputs * step;
}

} // namespace

std::size_t packet_limit(const sink_config& config, std::size_t max_bytes)
{
    const auto min_bytes = config.smallest_packet_bytes();
    auto bytes = config.max_packet_bytes;
    // the default fits Ethernet with IPv4, but is slightly too large with IPv6
    if (config.is_default_packet)
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

std::vector<packer_config>
make_packer_configs(const sink_config& config,
                    const std::vector<boost::asio::ip::udp::endpoint>& addresses,
                    std::size_t path_packet_bytes)
{
    const auto packet_bytes = packet_limit(config, path_packet_bytes);
    std::vector<packer_config> packers;
    // each address gets one end-of-stream heap
    std::set<boost::asio::ip::udp::endpoint> ended;
    std::uint32_t next_destination = 0;
    for (std::size_t input = 0; input < config.inputs; ++input) {
        auto packer = make_config(config, input, packet_bytes);
        set_heap_counters(config, input, packer);
        const bool has_own_list = config.destinations.size() > 1;
        packer.first_destination = has_own_list ? next_destination : 0;
        const auto& destinations = config.destinations.at(has_own_list ? input : 0);
        packer.destinations = static_cast<std::uint32_t>(destinations.size());
        packer.stop_destinations.clear();
        std::set<boost::asio::ip::udp::endpoint> own_addresses;
        for (std::uint32_t i = 0; i < packer.destinations; ++i) {
            const auto destination = packer.first_destination + i;
            const auto& address = addresses.at(destination);
            if (!own_addresses.insert(address).second)
                throw parameter_error("destinations",
                                      to_text(destinations[i]),
                                      "each address once in a string");
            if (ended.insert(address).second)
                packer.stop_destinations.push_back(destination);
        }
        next_destination += packer.destinations;
        packers.push_back(std::move(packer));
    }
    return packers;
}

std::size_t ring_slots(const sink_config& config, const packer_config& packer)
{
    const std::size_t packet_bytes = packer.regular.packet_bytes();
    const std::size_t min_slots = packer.min_ring_slots();
    const std::size_t max_slots = max_buffer_bytes() / config.inputs / packet_bytes;
    if (min_slots > max_slots)
        throw parameter_error("heap_samples",
                              std::to_string(config.format.heap_samples),
                              "with when_full=\"drop\" what fits twice into half of "
                              "the memory, " +
                                  std::to_string(max_buffer_bytes()) +
                                  " bytes for all inputs");
    std::size_t slots = config.ring_bytes / packet_bytes;
    if (!config.has_fixed_ring)
        slots = std::max(slots, min_slots);
    else if (slots < min_slots || slots > max_slots)
        throw parameter_error("buffer_size",
                              std::to_string(config.ring_bytes),
                              range(min_slots * packet_bytes, max_slots * packet_bytes) +
                                  ", or 0");
    // round down to whole heaps, so that each header stays in its slot
    const std::uint64_t excess = slots % packer.regular.packets();
    if (slots - excess >= std::max<std::uint64_t>(min_slots, slots - slots / 4))
        slots -= excess;
    return slots;
}

} // namespace gr::spead
