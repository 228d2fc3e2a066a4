/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "item_number.h"

namespace gr::spead {

std::optional<std::uint64_t> number_at(const packet_view& packet,
                                       std::uint64_t begin,
                                       std::uint64_t end,
                                       const number_format& format)
{
    if (begin < packet.payload_offset || end > packet.payload_end() || end <= begin ||
        end - begin > sizeof(std::uint64_t))
        return std::nullopt;
    std::uint64_t raw = 0;
    for (auto address = begin; address < end; ++address)
        raw = raw << 8 |
              static_cast<std::uint64_t>(packet.payload[address - packet.payload_offset]);
    return format.value(raw);
}

std::optional<std::uint64_t>
number_of(const packet_view& packet, std::size_t index, const number_format& format)
{
    const auto item = packet.item(index);
    if (item.is_immediate)
        return format.value(item.value);
    if (format.bits)
        return number_at(packet, item.value, item.value + format.bytes(), format);
    auto end = packet.heap_length.value_or(packet.payload_end());
    while (++index < packet.items)
        if (const auto next = packet.item(index); !next.is_immediate) {
            end = next.value;
            break;
        }
    return number_at(packet, item.value, end, format);
}

} // namespace gr::spead
