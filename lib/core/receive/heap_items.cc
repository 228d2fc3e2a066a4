/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_items.h"
#include "protocol/item_number.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

void heap_items::restart(std::size_t immediates)
{
    auto storage = std::move(values);
    *this = {};
    values = std::move(storage);
    values.assign(immediates, std::nullopt);
}

void heap_items::add(const packet_view& packet, const indexed_format& format)
{
    constexpr auto none = max_packet_items;
    values.resize(format->immediates.size()); // which may have grown
    auto time_index = none, samples_index = none;
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.id == format->timestamp_id)
            time_index = i;
        else if (item.id == format->samples_id &&
                 (!item.is_immediate || packet.is_single)) // firmware ignores the mode
            samples_index = i;
        else if (const auto immediate_index = format.find(item.id))
            values[*immediate_index] =
                number_of(packet, i, format->immediates[*immediate_index].format);
        else if (const auto& described_ids = format->described_ids;
                 !described_ids.empty() && item.id >= wire::first_free)
            may_lack_time |=
                std::find(described_ids.begin(), described_ids.end(), item.id) ==
                described_ids.end();
    }
    auto key_item = is_key_time ? none : samples_index;
    const auto& encoding = format->timestamp_format;
    if (time_index != none) {
        if (packet.item(time_index).is_immediate) {
            key_item = time_index;
            is_key_time = true;
        }
        if (!timestamp)
            set_timestamp_item(packet, time_index, encoding);
    }
    if (key_item != none) {
        key_index = key_item;
        key_word = packet.word(key_item);
    }
    if (samples_index != none)
        set_samples_item(packet, samples_index);
    // one ends where the other one begins, also if their pointers are in several packets
    if (samples_begin && timestamp_address && *timestamp_address < *samples_begin)
        timestamp_end = std::min(timestamp_end, *samples_begin);
    else if (samples_begin && timestamp_address && *timestamp_address > *samples_begin) {
        samples_end = std::min(samples_end, *timestamp_address);
        seen_end = std::min(seen_end, samples_end);
    }
    if (timestamp_address && !timestamp)
        add_timestamp(packet, encoding);
}

void heap_items::set_samples_item(const packet_view& packet, std::size_t index)
{
    const auto begin = packet.item(index).value;
    samples_end = std::max(begin, packet.end_of(index));
    const auto packet_byte =
        std::clamp(packet.payload_offset, begin, samples_end) - begin;
    first_byte = samples_begin ? std::min(first_byte, packet_byte) : packet_byte;
    samples_begin = begin;
    seen_end = has_known_end() ? samples_end
                               : std::max({ begin, seen_end, packet.payload_end() });
}

void heap_items::set_timestamp_item(const packet_view& packet,
                                    std::size_t index,
                                    const number_format& encoding)
{
    const auto item = packet.item(index);
    timestamp_bits = encoding.bits ? encoding.bits : 64;
    if (item.is_immediate) {
        timestamp = encoding.value(item.value);
        timestamp_bits = std::min(timestamp_bits, packet.flavour.heap_address_bits);
        return;
    }
    timestamp_address = item.value;
    timestamp_end = encoding.bits ? item.value + encoding.bytes() : packet.end_of(index);
}

void heap_items::add_timestamp(const packet_view& packet, const number_format& encoding)
{
    const auto begin = *timestamp_address;
    const auto bytes = timestamp_end - begin;
    if (timestamp_end <= begin || bytes > timestamp_content.size())
        return;
    const auto first = std::max(begin, packet.payload_offset);
    const auto end = std::min(timestamp_end, packet.payload_end());
    for (auto address = first; address < end; ++address) {
        timestamp_content[address - begin] =
            packet.payload[address - packet.payload_offset];
        timestamp_present |= 1u << (address - begin);
    }
    if (timestamp_present != (1u << bytes) - 1)
        return;
    std::uint64_t raw = 0;
    for (std::size_t i = 0; i < bytes; ++i)
        raw = raw << 8 | static_cast<std::uint64_t>(timestamp_content[i]);
    timestamp = encoding.value(raw);
    if (!encoding.bits) // it wraps at its size
        timestamp_bits = static_cast<unsigned>(8 * bytes);
}

heap_items::match heap_items::compare(const packet_view& packet,
                                      const indexed_format& format) const
{
    if (!format || !is_any())
        return match::unknown;
    const bool has_key = key_index < packet.items && packet.word(key_index) == key_word;
    const bool has_time = timestamp || !format->timestamp_id;
    if (has_key && has_time && !timestamp_address)
        return match::same;
    heap_items items;
    items.timestamp_address = timestamp_address;
    items.timestamp_end = timestamp_end;
    items.add(packet, format);
    if (items.contradict(*this))
        return match::other;
    return has_key && timestamp && timestamp == items.timestamp ? match::same
                                                                : match::unknown;
}

} // namespace gr::spead
