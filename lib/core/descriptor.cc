/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "descriptor.h"

#include <string>

namespace gr {
namespace spead {

namespace {

void append_integer(std::string& to, std::uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        to += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string format_field(char type, unsigned bits, wire::flavour flavour)
{
    std::string field(1, type);
    append_integer(field, bits, 8 - flavour.address_bytes());
    return field;
}

std::string variable_dimension(wire::flavour flavour)
{
    std::string field(1, '\1');
    append_integer(field, 0, flavour.address_bytes());
    return field;
}

} // namespace

std::vector<std::byte> descriptor_packet(const item& described, wire::flavour flavour)
{
    const bool scalar = described.holds == item::content::timestamp;
    const std::string format = scalar
                                   ? format_field('u', flavour.heap_address_bits, flavour)
                                   : format_field('i', 8, flavour);
    const std::string shape = scalar ? std::string() : variable_dimension(flavour);

    const struct {
        wire::item_id id;
        const std::string& content;
    } fields[] = { { wire::descriptor_name, described.name },
                   { wire::descriptor_description, described.description },
                   { wire::descriptor_format, format },
                   { wire::descriptor_shape, shape } };

    std::string payload;
    std::string pointers;
    for (const auto& field : fields) {
        append_integer(pointers, flavour.addressed(field.id, payload.size()), 8);
        payload += field.content;
    }

    std::string packet;
    const std::size_t items = wire::required_items + 1 + std::size(fields);
    append_integer(packet, flavour.header(items), 8);
    append_integer(packet, flavour.immediate(wire::heap_counter, 1), 8);
    append_integer(packet, flavour.immediate(wire::heap_length, payload.size()), 8);
    append_integer(packet, flavour.immediate(wire::payload_offset, 0), 8);
    append_integer(packet, flavour.immediate(wire::payload_length, payload.size()), 8);
    append_integer(
        packet,
        flavour.immediate(wire::descriptor_id, static_cast<std::uint64_t>(described.id)),
        8);
    packet += pointers + payload;

    const auto* begin = reinterpret_cast<const std::byte*>(packet.data());
    return { begin, begin + packet.size() };
}

} // namespace spead
} // namespace gr
