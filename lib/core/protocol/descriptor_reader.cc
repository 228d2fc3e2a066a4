/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "descriptor_reader.h"
#include "packet_parser.h"

#include <string_view>
#include <algorithm>
#include <cctype>

namespace gr::spead {

namespace {

constexpr std::size_t longest_name = 64;

// What follows \p key in the header that numpy.lib.format writes, such as "'descr': '".
std::string_view after(std::string_view header, std::string_view key)
{
    const auto at = header.find(key);
    return at == header.npos ? std::string_view() : header.substr(at + key.size());
}

// Others, which a log or a terminal may take for commands, count as none.
std::string_view printable(std::string_view name)
{
    const bool is_printable = std::all_of(
        name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return is_printable ? name : std::string_view();
}

unsigned number(std::string_view digits)
{
    unsigned value = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9' || value > 1000)
            break;
        value = 10 * value + static_cast<unsigned>(c - '0');
    }
    return value;
}

// Such as "{'descr': '<i2', 'fortran_order': False, 'shape': (4096,)}".
void read_numpy_header(std::string_view header, item_description& is)
{
    const auto type = after(header, "'descr': '");
    if (type.size() < 3)
        return;
    is.order = type[0] == '<' ? byte_order::little : byte_order::big;
    is.type = type[1];
    is.bits = 8 * number(type.substr(2));
    const auto shape = after(header, "'shape': (");
    is.is_array = !shape.empty() && shape[0] != ')';
}

// Elements that consist of several numbers of one kind count as that kind.
void read_format(std::string_view format, std::size_t field_bytes, item_description& is)
{
    for (std::size_t at = 0; at + field_bytes <= format.size(); at += field_bytes) {
        unsigned bits = 0;
        for (std::size_t i = 1; i < field_bytes; ++i)
            bits = bits << 8 | static_cast<unsigned char>(format[at + i]);
        if (at && (format[at] != is.type || bits != is.bits)) {
            is.type = 0;
            return;
        }
        is.type = format[at];
        is.bits = bits;
    }
}

} // namespace

std::optional<item_description> read_descriptor(const std::byte* packet,
                                                std::size_t bytes)
{
    packet_view view;
    if (parse_packet(packet, bytes, view) != packet_error::none || view.payload_offset ||
        view.items > wire::max_items)
        return std::nullopt;
    const std::string_view payload(reinterpret_cast<const char*>(view.payload),
                                   view.payload_bytes);
    // a field ends where the next one begins, wherever that stands in the list
    const auto content = [&](std::uint64_t address) {
        auto end = static_cast<std::uint64_t>(payload.size());
        for (std::size_t i = 0; i < view.items; ++i)
            if (const auto other = view.item(i);
                !other.is_immediate && other.value > address)
                end = std::min(end, other.value);
        return address < end ? payload.substr(address, end - address)
                             : std::string_view();
    };

    item_description is;
    std::string_view format, shape, numpy_header;
    bool has_id = false;
    for (std::size_t i = 0; i < view.items; ++i) {
        const auto field = view.item(i);
        if (field.is_immediate) {
            if (field.id == wire::descriptor_id) {
                is.id = field.value;
                has_id = true;
            }
            continue;
        }
        if (field.id == wire::descriptor_name)
            is.name = printable(content(field.value).substr(0, longest_name));
        else if (field.id == wire::descriptor_format)
            format = content(field.value);
        else if (field.id == wire::descriptor_shape)
            shape = content(field.value);
        else if (field.id == wire::descriptor_dtype)
            numpy_header = content(field.value);
    }
    if (!has_id)
        return std::nullopt;
    if (!numpy_header.empty()) {
        read_numpy_header(numpy_header, is);
        return is;
    }
    is.is_array = shape.size() > view.flavour.address_bytes();
    read_format(format, 9 - view.flavour.address_bytes(), is);
    return is;
}

} // namespace gr::spead
