/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "descriptor.h"

#include <string>

namespace gr::spead {

namespace {

void append_integer(std::string& text, std::uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        text += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string format_field(char type, unsigned bits, wire::flavour flavour)
{
    std::string field(1, type);
    append_integer(field, bits, 8 - flavour.address_bytes());
    return field;
}

std::string dimension(std::uint64_t size, wire::flavour flavour)
{
    std::string field(1, '\0');
    append_integer(field, size, flavour.address_bytes());
    return field;
}

std::string variable_dimension(wire::flavour flavour)
{
    std::string field(1, '\1');
    append_integer(field, 0, flavour.address_bytes());
    return field;
}

struct number_description {
    std::string format;
    std::string shape;
    std::string numpy_header = {};
};

// A header as written by numpy.lib.format.
std::string numpy_header(const std::string& type, const std::vector<std::uint64_t>& shape)
{
    std::string sizes;
    for (const auto size : shape)
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + sizes +
           (shape.size() == 1 ? ",)}" : ")}");
}

number_description describe(const sample_format& samples, wire::flavour flavour)
{
    const bool has_axes = !samples.shape.empty();
    auto shape = has_axes ? samples.shape : std::vector{ samples.heap_samples };
    if (is_complex(samples.type) && samples.wire.type != 'c')
        shape.push_back(2);
    const bool is_variable = !has_axes && !samples.needs_numpy_header();
    std::string dimensions;
    for (std::size_t i = 0; i < shape.size(); ++i)
        dimensions += i == 0 && is_variable ? variable_dimension(flavour)
                                            : dimension(shape[i], flavour);
    if (samples.needs_numpy_header())
        // no format: it would mean big-endian and contradict the header
        return { {}, dimensions, numpy_header(samples.wire.dtype(), shape) };
    return { format_field(samples.wire.type, samples.wire.bits, flavour), dimensions };
}

} // namespace

std::vector<std::byte>
descriptor_packet(const item& item, wire::flavour flavour, const sample_format& samples)
{
    const auto description =
        item.kind == item_kind::samples
            ? describe(samples, flavour)
            : number_description{ format_field('u', flavour.heap_address_bits, flavour),
                                  {} };

    struct field {
        wire::item_id id;
        const std::string& content;
    };
    std::vector<field> fields{ { wire::descriptor_name, item.name },
                               { wire::descriptor_description, item.description },
                               { wire::descriptor_format, description.format },
                               { wire::descriptor_shape, description.shape } };
    if (!description.numpy_header.empty())
        fields.push_back({ wire::descriptor_dtype, description.numpy_header });

    std::string payload;
    std::string pointers;
    for (const auto& field : fields) {
        append_integer(pointers, flavour.addressed(field.id, payload.size()), 8);
        payload += field.content;
    }

    std::string packet;
    const std::size_t items = wire::leading_items + 1 + fields.size();
    append_integer(packet, flavour.header(items), 8);
    append_integer(packet, flavour.immediate(wire::heap_counter, 1), 8);
    append_integer(packet, flavour.immediate(wire::heap_length, payload.size()), 8);
    append_integer(packet, flavour.immediate(wire::payload_offset, 0), 8);
    append_integer(packet, flavour.immediate(wire::payload_length, payload.size()), 8);
    append_integer(
        packet,
        flavour.immediate(wire::descriptor_id, static_cast<std::uint64_t>(item.id)),
        8);
    packet += pointers + payload;

    const auto* begin = reinterpret_cast<const std::byte*>(packet.data());
    return std::vector<std::byte>(begin, begin + packet.size());
}

} // namespace gr::spead
