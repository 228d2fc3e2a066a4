/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "descriptor_reader.h"
#include "packet_parser.h"

#include <string_view>
#include <system_error>
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace gr::spead {

namespace {

constexpr std::size_t max_name = 64;
constexpr std::size_t max_text = 256;
constexpr std::size_t max_header = 1024;
constexpr std::size_t max_dimensions = 32; // as in numpy
constexpr std::size_t max_descriptor_items = 64;

// Empty if unprintable: a terminal could interpret control sequences.
std::string_view printable(std::string_view name)
{
    const bool is_printable = std::all_of(
        name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
    return is_printable ? name : std::string_view();
}

std::string_view trim_left(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t\n");
    return begin == text.npos ? std::string_view() : text.substr(begin);
}

// The text after a quoted key and its colon in a Python dict.
std::string_view value_of(std::string_view header, std::string_view key)
{
    for (auto begin = header.find(key); begin != header.npos;
         begin = header.find(key, begin + 1)) {
        const auto end = begin + key.size();
        if (begin == 0 || end >= header.size() || header[begin - 1] != header[end] ||
            (header[end] != '\'' && header[end] != '"'))
            continue;
        const auto rest = trim_left(header.substr(end + 1));
        if (!rest.empty() && rest[0] == ':')
            return trim_left(rest.substr(1));
    }
    return {};
}

std::string_view string_literal(std::string_view text)
{
    if (text.empty() || (text[0] != '\'' && text[0] != '"'))
        return {};
    const auto end = text.find(text[0], 1);
    return end == text.npos ? std::string_view() : text.substr(1, end - 1);
}

// Parses a number and limits it to max_number. 0 if it is invalid.
unsigned number(std::string_view digits)
{
    constexpr unsigned max_number = 1000000;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error == std::errc::result_out_of_range)
        value = max_number;
    return end == digits.end() ? std::min(value, max_number) : 0;
}

// Parses a numpy dtype, such as "<i2", "i1", "h" or "int16".
number_format read_dtype(std::string_view dtype)
{
    struct row {
        std::string_view name;
        char type;
        unsigned bits;
    };
    constexpr std::array dtypes{
        row{ "b", 'i', 8 },          row{ "B", 'u', 8 },
        row{ "h", 'i', 16 },         row{ "H", 'u', 16 },
        row{ "i", 'i', 32 },         row{ "I", 'u', 32 },
        row{ "l", 'i', 64 },         row{ "L", 'u', 64 },
        row{ "q", 'i', 64 },         row{ "Q", 'u', 64 },
        row{ "e", 'f', 16 },         row{ "f", 'f', 32 },
        row{ "d", 'f', 64 },         row{ "F", 'c', 64 },
        row{ "D", 'c', 128 },        row{ "?", 'b', 8 },
        row{ "byte", 'i', 8 },       row{ "ubyte", 'u', 8 },
        row{ "short", 'i', 16 },     row{ "ushort", 'u', 16 },
        row{ "int8", 'i', 8 },       row{ "uint8", 'u', 8 },
        row{ "int16", 'i', 16 },     row{ "uint16", 'u', 16 },
        row{ "int32", 'i', 32 },     row{ "uint32", 'u', 32 },
        row{ "int64", 'i', 64 },     row{ "uint64", 'u', 64 },
        row{ "float32", 'f', 32 },   row{ "float64", 'f', 64 },
        row{ "complex64", 'c', 64 }, row{ "complex128", 'c', 128 },
    };
    auto order = host_order;
    if (!dtype.empty() && std::string_view("<>=|").find(dtype[0]) != dtype.npos) {
        if (dtype[0] == '<')
            order = byte_order::little;
        else if (dtype[0] == '>')
            order = byte_order::big;
        dtype.remove_prefix(1);
    }
    for (const auto& [name, type, bits] : dtypes)
        if (dtype == name)
            return { type, bits, order };
    unsigned bits = 0;
    if (dtype.size() > 1 && std::string_view("iufcb").find(dtype[0]) != dtype.npos)
        bits = 8 * number(dtype.substr(1));
    return { bits ? dtype[0] : '\0', bits, order };
}

using dimensions = std::vector<std::uint64_t>;

// Parses a Python tuple, such as "()", "(4096,)", "(4096, 2)".
dimensions read_tuple(std::string_view text)
{
    dimensions shape;
    text = text.substr(0, text.find(')'));
    std::size_t begin = 0;
    while ((begin = text.find_first_of("0123456789", begin)) != text.npos &&
           shape.size() < max_dimensions) {
        const auto end =
            std::min(text.find_first_not_of("0123456789", begin), text.size());
        shape.push_back(number(text.substr(begin, end - begin)));
        begin = end;
    }
    return shape;
}

void set_shape(item_description& description, const dimensions& shape)
{
    description.shape = shape;
    description.is_array = !shape.empty();
    description.is_pairs = shape.size() > 1 && shape.back() == 2;
}

// Parses a header such as "{'descr': '<i2', 'fortran_order': False, 'shape': (4096,)}".
void read_numpy_header(std::string_view header, item_description& description)
{
    header = header.substr(0, max_header);
    const auto descr = value_of(header, "descr");
    const auto shape = read_tuple(value_of(header, "shape"));
    set_shape(description, shape);
    const auto long_dimensions = std::count_if(
        shape.begin(), shape.end(), [](std::uint64_t size) { return size > 1; });
    const bool is_fortran = value_of(header, "fortran_order").substr(0, 4) == "True";
    if (!descr.empty() && descr[0] == '[')
        description.unsupported_reason = "its elements are structures";
    else if (is_fortran && long_dimensions > 1)
        description.unsupported_reason = "its array is in Fortran order";
    else
        description.format = read_dtype(string_literal(descr));
}

// Two fields of the same format are a pair.
void read_format(std::string_view format,
                 std::size_t field_bytes,
                 item_description& description)
{
    std::size_t fields = 0;
    for (std::size_t offset = 0; offset + field_bytes <= format.size();
         offset += field_bytes) {
        number_format field;
        field.type = printable(format.substr(offset, 1)).empty() ? '?' : format[offset];
        for (std::size_t i = 1; i < field_bytes; ++i)
            field.bits = field.bits << 8 | static_cast<unsigned char>(format[offset + i]);
        if (fields++ && !(field == description.format)) {
            description.unsupported_reason = "its elements are structures";
            return;
        }
        description.format = field;
    }
    if (fields == 2)
        description.is_pairs = true;
    else if (fields > 2)
        description.unsupported_reason = "its elements are structures";
}

dimensions read_shape(std::string_view field, std::size_t dimension_bytes)
{
    dimensions shape;
    for (std::size_t offset = 0;
         offset + dimension_bytes <= field.size() && shape.size() < max_dimensions;
         offset += dimension_bytes) {
        std::uint64_t size = 0;
        for (std::size_t i = 1; i < dimension_bytes; ++i)
            size = size << 8 | static_cast<unsigned char>(field[offset + i]);
        shape.push_back(field[offset] != 0 ? variable_size : size);
    }
    return shape;
}

} // namespace

std::optional<item_description> read_descriptor(const std::byte* packet,
                                                std::size_t bytes)
{
    packet_view view;
    if (parse_packet(packet, bytes, view, true) != packet_error::none ||
        view.payload_offset || view.items > max_descriptor_items)
        return std::nullopt;
    const std::string_view payload(reinterpret_cast<const char*>(view.payload),
                                   view.payload_bytes);
    const auto field = [&](std::uint64_t id) {
        std::string_view content;
        for (std::size_t i = 0; i < view.items; ++i)
            if (const auto item = view.item(i); !item.is_immediate && item.id == id) {
                const auto begin = std::min<std::uint64_t>(item.value, payload.size());
                content = payload.substr(begin, view.end_of(i) - begin);
            }
        return content;
    };
    item_description description;
    bool has_id = false;
    for (std::size_t i = 0; i < view.items; ++i)
        if (const auto item = view.item(i);
            item.is_immediate && item.id == wire::descriptor_id) {
            description.id = item.value;
            has_id = true;
        }
    if (!has_id)
        return std::nullopt;
    description.name = printable(field(wire::descriptor_name).substr(0, max_name));
    description.text = printable(field(wire::descriptor_description).substr(0, max_text));
    const auto format = field(wire::descriptor_format);
    const auto shape = field(wire::descriptor_shape);
    const auto numpy_header = field(wire::descriptor_dtype);

    // PySPEAD uses the field widths of SPEAD-64-24 in every flavour
    constexpr std::size_t pyspead_format_bytes = 4, pyspead_dimension_bytes = 8;
    std::size_t format_bytes = 9 - view.flavour.address_bytes();
    std::size_t dimension_bytes = 1 + view.flavour.address_bytes();
    const bool is_pyspead =
        format.size() % format_bytes || shape.size() % dimension_bytes;
    if (is_pyspead) {
        format_bytes = pyspead_format_bytes;
        dimension_bytes = pyspead_dimension_bytes;
        if (format.size() % format_bytes || shape.size() % dimension_bytes)
            return std::nullopt;
    }
    if (numpy_header.empty()) {
        set_shape(description, read_shape(shape, dimension_bytes));
        read_format(format, format_bytes, description);
    } else {
        read_numpy_header(numpy_header, description);
        if (is_pyspead && description.format.bits > 8 &&
            description.unsupported_reason.empty())
            description.unsupported_reason =
                "its descriptor is PySPEAD's, which does not specify the byte order";
    }
    return description;
}

} // namespace gr::spead
