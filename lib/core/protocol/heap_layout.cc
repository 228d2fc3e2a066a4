/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_layout.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor)
{
    return (value + divisor - 1) / divisor;
}

// Appends the descriptors to the prefix. Returns the offset of each.
std::vector<std::size_t> append_descriptors(heap_contents& contents,
                                            const std::vector<item>& items,
                                            const sample_format& samples)
{
    std::vector<std::size_t> offsets;
    for (const auto& item : items) {
        const auto packet = descriptor_packet(item, contents.flavour, samples);
        offsets.push_back(contents.prefix.size());
        contents.prefix.insert(contents.prefix.end(), packet.begin(), packet.end());
    }
    return offsets;
}

} // namespace

heap_contents data_contents(const std::vector<item>& items,
                            wire::flavour flavour,
                            bool has_descriptors,
                            const sample_format& samples,
                            std::size_t input)
{
    heap_contents contents{ flavour, {} };
    std::vector<std::size_t> descriptor_offsets;
    if (has_descriptors)
        descriptor_offsets = append_descriptors(contents, items, samples);
    // Put each descriptor before its item, as spead2 does, and all descriptors before the
    // samples: addresses must ascend, and the samples follow the descriptors in the
    // payload.
    std::size_t next_descriptor = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool is_samples = items[i].kind == item_kind::samples;
        for (; has_descriptors && next_descriptor < (is_samples ? items.size() : i + 1);
             ++next_descriptor)
            contents.pointers.push_back(
                flavour.addressed(wire::descriptor, descriptor_offsets[next_descriptor]));
        const auto id = static_cast<std::uint64_t>(items[i].id);
        const auto& values = items[i].values;
        contents.immediates.emplace_back();
        switch (items[i].kind) {
        case item_kind::timestamp:
            contents.timestamp = contents.pointers.size();
            contents.pointers.push_back(flavour.immediate(id, 0));
            break;
        case item_kind::samples:
            contents.pointers.push_back(flavour.addressed(id, contents.prefix.size()));
            break;
        case item_kind::immediate:
            contents.immediates.back() = contents.pointers.size();
            contents.pointers.push_back(flavour.immediate(
                id,
                static_cast<std::uint64_t>(values.at(values.size() == 1 ? 0 : input))));
            break;
        }
    }
    return contents;
}

heap_contents descriptor_contents(const std::vector<item>& items,
                                  wire::flavour flavour,
                                  const sample_format& samples)
{
    heap_contents contents{ flavour, {} };
    for (const auto offset : append_descriptors(contents, items, samples))
        contents.pointers.push_back(flavour.addressed(wire::descriptor, offset));
    return contents;
}

heap_contents stop_contents(wire::flavour flavour)
{
    return { flavour,
             { flavour.immediate(wire::stream_control, wire::stream_control_stop),
               flavour.addressed(wire::null, 0) },
             std::nullopt,
             { std::byte{ 0 } } };
}

heap_layout heap_layout::even(heap_contents contents,
                              std::uint64_t total_sample_bytes,
                              std::size_t max_packet_bytes,
                              bool is_padded)
{
    const std::uint64_t heap_bytes = contents.prefix.size() + total_sample_bytes;
    const std::size_t room = max_packet_bytes - contents.header_bytes();
    if (heap_bytes <= room)
        return { std::move(contents), total_sample_bytes, room, is_padded };
    const std::uint64_t packets = divide_up(heap_bytes, room / 8 * 8);
    const auto payload = round_up(divide_up(heap_bytes, packets), 8);
    return { std::move(contents),
             total_sample_bytes,
             static_cast<std::size_t>(payload),
             is_padded };
}

heap_layout::heap_layout(heap_contents contents,
                         std::uint64_t total_sample_bytes,
                         std::size_t payload_bytes,
                         bool is_padded)
    : d_contents(std::move(contents)),
      d_heap_bytes(d_contents.prefix.size() + total_sample_bytes),
      d_packets(divide_up(d_heap_bytes, payload_bytes)),
      d_is_padded(is_padded),
      d_full(make_template(payload_bytes, 0))
{
    const auto last_bytes =
        static_cast<std::size_t>(d_heap_bytes - (d_packets - 1) * payload_bytes);
    const std::size_t missing_bytes = d_packets > 1 ? payload_bytes - last_bytes : 0;
    const std::size_t null_items = missing_bytes / wire::pointer_bytes;
    const bool can_pad =
        is_padded && missing_bytes % wire::pointer_bytes == 0 &&
        d_contents.leading_items() + d_contents.pointers.size() + null_items <=
            wire::max_items;
    d_last = make_template(last_bytes, can_pad ? null_items : 0);
}

void heap_layout::set_item(std::size_t item, std::uint64_t value)
{
    const auto pointer_index = d_contents.immediates.at(item).value();
    const auto mask = d_contents.flavour.address_mask();
    auto& pointer = d_contents.pointers[pointer_index];
    pointer = (pointer & ~mask) | (value & mask);
    for (auto* header : { &d_full, &d_last })
        header->words[items_word() + pointer_index] = wire::network_order(pointer);
}

heap_layout heap_layout::shortened(std::uint64_t total_sample_bytes) const
{
    return { d_contents, total_sample_bytes, d_full.payload_bytes, d_is_padded };
}

heap_words heap_layout::words(std::uint64_t heap_counter, std::uint64_t timestamp) const
{
    const auto& flavour = d_contents.flavour;
    heap_words words;
    words.counter =
        wire::network_order(flavour.immediate(wire::heap_counter, heap_counter));
    if (d_contents.timestamp)
        words.timestamp =
            wire::network_order(d_contents.pointers[*d_contents.timestamp] | timestamp);
    return words;
}

std::vector<std::byte> heap_layout::packet(const heap_words& heap,
                                           std::uint64_t offset,
                                           const std::vector<std::byte>& payload) const
{
    const auto& header = packet_at(offset);
    std::vector<std::byte> packet(header.packet_bytes());
    std::memcpy(packet.data(), header.words.data(), header.header_bytes());
    complete_header(packet.data(), heap, offset);
    std::memcpy(packet.data() + header.header_bytes(),
                payload.data() + offset,
                header.payload_bytes);
    return packet;
}

packet_template heap_layout::make_template(std::size_t payload_bytes,
                                           std::size_t null_items) const
{
    const auto& flavour = d_contents.flavour;
    std::vector<std::uint64_t> words{ 0, flavour.immediate(wire::heap_counter, 0) };
    if (!d_contents.has_single_packets) {
        words.push_back(flavour.immediate(wire::heap_length, d_heap_bytes));
        words.push_back(flavour.immediate(wire::payload_offset, 0));
    }
    words.push_back(flavour.immediate(wire::payload_length, payload_bytes));
    words.insert(words.end(), d_contents.pointers.begin(), d_contents.pointers.end());
    words.insert(words.end(), null_items, flavour.immediate(wire::null, 0));
    words[0] = flavour.header(words.size() - 1);
    std::transform(words.begin(), words.end(), words.begin(), wire::network_order);
    return { std::move(words), payload_bytes };
}

} // namespace gr::spead
