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
    auto room = std::move(values);
    *this = {};
    values = std::move(room);
    values.assign(immediates, std::nullopt);
}

void heap_items::add(const packet_view& packet, const item_index& format)
{
    constexpr auto none = max_packet_items;
    values.resize(format->immediates.size()); // which may have grown
    auto time = none, samples = none;
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.id == format->timestamp_id)
            time = i;
        else if (item.id == format->samples_id &&
                 (!item.is_immediate || packet.is_single)) // firmware ignores the mode
            samples = i;
        else if (const auto known = format.find(item.id))
            values[*known] = number_of(packet, i, format->immediates[*known].format);
        else if (const auto& described = format->described;
                 !described.empty() && item.id >= wire::first_free)
            may_lack_time |=
                std::find(described.begin(), described.end(), item.id) == described.end();
    }
    auto recognised = samples;
    const auto& encoding = format->timestamp_format;
    if (time != none) {
        const auto item = packet.item(time);
        timestamp_bits = encoding.bits ? encoding.bits : 64;
        if (item.is_immediate) {
            recognised = time;
            timestamp = encoding.value(item.value);
            timestamp_bits = std::min(timestamp_bits, packet.flavour.heap_address_bits);
        } else {
            timestamp_address = item.value;
            timestamp_end =
                encoding.bits ? item.value + encoding.bytes() : packet.end_of(time);
        }
    }
    if (timestamp_address && !timestamp)
        timestamp = number_at(packet, *timestamp_address, timestamp_end, encoding);
    if (recognised != none) {
        key_index = recognised;
        key_word = packet.word(recognised);
    }
    if (samples == none)
        return;
    const auto begin = packet.item(samples).value;
    samples_begin = begin;
    samples_end = std::max(begin, packet.end_of(samples));
    first_byte = std::clamp(packet.payload_offset, begin, samples_end) - begin;
    seen_end = has_known_end() ? samples_end : std::max(begin, packet.payload_end());
}

} // namespace gr::spead
