/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/spead_packets.h"
#include "protocol/descriptor.h"
#include "protocol/descriptor_reader.h"

#include <boost/test/unit_test.hpp>

#include <random>
#include <string>

using namespace gr::spead;

namespace {

std::optional<item_description> read(const packet_bytes& packet)
{
    // of exactly this size, so that sanitizers see reading beyond it
    const packet_bytes exact(packet);
    return read_descriptor(exact.data(), exact.size());
}

packet_bytes written(const std::vector<std::uint64_t>& fields, const std::string& payload)
{
    constexpr wire::flavour flavour{ 48 };
    std::vector<std::uint64_t> pointers{
        flavour.immediate(wire::heap_counter, 1),
        flavour.immediate(wire::heap_length, payload.size()),
        flavour.immediate(wire::payload_offset, 0),
        flavour.immediate(wire::payload_length, payload.size()),
    };
    pointers.insert(pointers.end(), fields.begin(), fields.end());
    packet_bytes content;
    for (const char c : payload)
        content.push_back(static_cast<std::byte>(c));
    return packet_of(pointers, content, flavour);
}

// A descriptor of item 0x3300 with one field.
std::optional<item_description> read_field(wire::item_id field,
                                           const std::string& content)
{
    constexpr wire::flavour flavour{ 48 };
    return read(written(
        { flavour.immediate(wire::descriptor_id, 0x3300), flavour.addressed(field, 0) },
        content));
}

} // namespace

BOOST_AUTO_TEST_SUITE(descriptor_reader_test)

BOOST_AUTO_TEST_CASE(the_text_for_people_is_read_unless_it_is_unprintable)
{
    const auto text_of = [](const std::string& content) {
        return read_field(wire::descriptor_description, content)->text;
    };
    BOOST_TEST(text_of("Voltages of an antenna") == "Voltages of an antenna");
    BOOST_TEST(text_of("\x1b[2J") == "");
    BOOST_TEST(text_of(std::string(300, 'x')) == std::string(256, 'x'));
}

BOOST_AUTO_TEST_CASE(written_descriptors_are_read_back)
{
    for (const unsigned address_bits : { 40u, 48u })
        for (const auto& [name, type] : sample_types)
            for (const auto order : { byte_order::big, byte_order::little })
                for (auto wire : std::initializer_list<number_format>{ { 'i', 8 },
                                                                       { 'u', 8 },
                                                                       { 'i', 16 },
                                                                       { 'u', 32 },
                                                                       { 'f', 32 },
                                                                       { 'f', 64 },
                                                                       { 'c', 64 },
                                                                       { 'c', 128 } }) {
                    if (!can_send(type, wire))
                        continue;
                    wire.order = wire.bits > 8 ? order : byte_order::big;
                    const auto description = read(descriptor_packet(
                        samples(0x3300, "data"), { address_bits }, { type, wire, 4096 }));
                    const bool is_pairs = is_complex(type) && wire.type != 'c';
                    const sample_format format{ type, wire, 4096 };
                    item_description expected{ 0x3300, "data", wire, true, is_pairs };
                    expected.shape = { format.needs_numpy_header() ? 4096
                                                                   : variable_size };
                    if (is_pairs)
                        expected.shape.push_back(2);
                    BOOST_REQUIRE(description);
                    BOOST_TEST((*description == expected),
                               name << " as " << wire.dtype());
                }
}

// The bytes were made by spead2 4.5.1.
BOOST_AUTO_TEST_CASE(descriptors_of_spead2_are_read)
{
    struct vector {
        std::string bytes;
        item_description expected;
    };
    for (const auto& example : std::vector<vector>{
             { "530403050000000a800001000000000180000200000000428000030000000000"
               "8000040000000042800014000000330000001000000000000000110000000004"
               "00001300000000050000120000000005000015000000000b6461746164000000"
               "0000087b276465736372273a20273c6932272c2027666f727472616e5f6f7264"
               "6572273a2046616c73652c20277368617065273a2028382c297d",
               { 0x3300,
                 "data",
                 { 'i', 16, byte_order::little },
                 true,
                 false,
                 "",
                 { 8 } } },
             { "53040305000000098000010000000001800002000000000e8000030000000000"
               "800004000000000e800014000000160000001000000000000000110000000009"
               "000013000000000a000012000000000e74696d657374616d707475000028",
               { 0x1600, "timestamp", { 'u', 40 } } },
             { "5304030500000009800001000000000180000200000000128000030000000000"
               "8000040000000012800014000000160100001000000000000000110000000001"
               "0000130000000002000012000000000666746600002001000000000000000000"
               "0002",
               { 0x1601, "f", { 'f', 32 }, true, true, "", { variable_size, 2 } } },
             { "530402060000000a800100000000000180020000000000438003000000000000"
               "8004000000000043801400000000330000100000000000000011000000000004"
               "00130000000000050012000000000005001500000000000c6461746164000000"
               "000000087b276465736372273a20273c6932272c2027666f727472616e5f6f72"
               "646572273a2046616c73652c20277368617065273a2028382c297d",
               { 0x3300,
                 "data",
                 { 'i', 16, byte_order::little },
                 true,
                 false,
                 "",
                 { 8 } } },
             { "53040206000000098001000000000001800200000000000d8003000000000000"
               "800400000000000d801400000000160000100000000000000011000000000009"
               "001300000000000a001200000000000d74696d657374616d7074750030",
               { 0x1600, "timestamp", { 'u', 48 } } },
             { "5304020600000009800100000000000180020000000000138003000000000000"
               "8004000000000013801400000000160100100000000000000011000000000001"
               "0013000000000002001200000000000566746600200100000000000000000000"
               "000002",
               { 0x1601, "f", { 'f', 32 }, true, true, "", { variable_size, 2 } } } }) {
        const auto description = read(from_hex(example.bytes));
        BOOST_REQUIRE(description);
        BOOST_TEST((*description == example.expected));
    }
}

BOOST_AUTO_TEST_CASE(truncated_descriptor_is_refused)
{
    const auto packet = descriptor_packet(timestamp(), { 48 });
    for (std::size_t n = 0; n < packet.size(); ++n)
        BOOST_TEST(
            !read({ packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(n) }));
}

BOOST_AUTO_TEST_CASE(field_beyond_the_payload_is_empty)
{
    constexpr wire::flavour flavour{ 48 };
    for (const std::uint64_t address : { std::uint64_t{ 4 }, flavour.address_mask() }) {
        const auto description =
            read(written({ flavour.immediate(wire::descriptor_id, 0x3300),
                           flavour.addressed(wire::descriptor_name, address) },
                         "name"));
        BOOST_REQUIRE(description);
        BOOST_TEST(description->name.empty());
    }
}

BOOST_AUTO_TEST_CASE(unprintable_name_is_empty)
{
    using namespace std::string_literals;
    for (const auto& name :
         { "a\nb"s, "\x1b[2J"s, "a\0b"s, "\x7f"s, "\xff\xfe"s, "\xc3\xa4"s }) {
        const auto description = read_field(wire::descriptor_name, name);
        BOOST_REQUIRE(description);
        BOOST_TEST(description->name.empty());
    }
    BOOST_TEST(read_field(wire::descriptor_name, " a~")->name == " a~");
}

BOOST_AUTO_TEST_CASE(mixed_elements_are_refused)
{
    using namespace std::string_literals;
    const auto description = read_field(wire::descriptor_format, "i\0\x10u\0\x10"s);
    BOOST_REQUIRE(description);
    BOOST_TEST(!description->unsupported_reason.empty());
}

BOOST_AUTO_TEST_CASE(numpy_headers_are_read_as_numpy_reads_them)
{
    const auto native = byte_order::little; // of the machines that this runs on
    struct vector {
        std::string header;
        number_format format;
        bool is_array, is_pairs;
    };
    for (const auto& example : std::vector<vector>{
             { "{'descr': 'i1', 'fortran_order': False, 'shape': (4096,)}",
               { 'i', 8, native },
               true,
               false },
             { "{'descr': '|i1', 'fortran_order': True, 'shape': (4096,)}",
               { 'i', 8, native },
               true,
               false },
             { "{'descr': '>i2', 'fortran_order': False, 'shape': (64, 2)}",
               { 'i', 16, byte_order::big },
               true,
               true },
             { "{'descr': 'i2', 'fortran_order': False, 'shape': (2,)}",
               { 'i', 16, native },
               true,
               false },
             { "{\"shape\": (100000,), \"descr\": \"<u2\", \"fortran_order\": False}",
               { 'u', 16, byte_order::little },
               true,
               false },
             { "{'descr': 'b', 'fortran_order': False, 'shape': ()}",
               { 'i', 8, native },
               false,
               false },
             { "{'descr': 'h', 'fortran_order': False, 'shape': (1,)}",
               { 'i', 16, native },
               true,
               false },
             { "{'descr':'int8','fortran_order':False,'shape':(3, 3)}",
               { 'i', 8, native },
               true,
               false } }) {
        const auto description = read_field(wire::descriptor_dtype, example.header);
        BOOST_TEST_CONTEXT(example.header)
        {
            BOOST_REQUIRE(description);
            BOOST_TEST((description->format == example.format));
            BOOST_TEST(description->is_array == example.is_array);
            BOOST_TEST(description->is_pairs == example.is_pairs);
            BOOST_TEST(description->unsupported_reason == "");
        }
    }
}

BOOST_AUTO_TEST_CASE(structured_and_fortran_arrays_are_refused)
{
    for (const std::string header :
         { "{'descr': '<i2', 'fortran_order': True, 'shape': (4, 2)}",
           "{'descr': [('a', '<i2'), ('b', '<i2')], 'fortran_order': False, 'shape': "
           "(4,)}" }) {
        const auto description = read_field(wire::descriptor_dtype, header);
        BOOST_REQUIRE(description);
        BOOST_TEST(!description->unsupported_reason.empty());
    }
}

BOOST_AUTO_TEST_CASE(numbers_are_read_in_their_byte_order)
{
    const number_format little{ 'u', 32, byte_order::little }, ten_bits{ 'u', 10 };
    BOOST_TEST(little.value(0x34120000) == 0x1234u);
    BOOST_TEST(ten_bits.value(0x48c0) == 0x123u);
    BOOST_TEST(number_format{}.value(0x123456) == 0x123456u);
}

// Its fields have the widths of SPEAD-64-24 in every flavour.
BOOST_AUTO_TEST_CASE(descriptors_of_pyspead_are_read)
{
    using namespace std::string_literals;
    constexpr wire::flavour flavour{ 48 };
    const auto read_fields = [&](const std::string& format, const std::string& shape) {
        return read(written({ flavour.immediate(wire::descriptor_id, 0x3300),
                              flavour.addressed(wire::descriptor_format, 0),
                              flavour.addressed(wire::descriptor_shape, format.size()) },
                            format + shape));
    };
    const auto description = read_fields("i\0\0\x08"s, "\0\0\0\0\0\0\x10\0"s);
    BOOST_REQUIRE(description);
    BOOST_TEST((description->format == number_format{ 'i', 8 }));
    BOOST_TEST(description->is_array);
    BOOST_TEST(!description->is_pairs);
}

BOOST_AUTO_TEST_CASE(truncated_numpy_header_is_ignored)
{
    const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (4,)}";
    for (std::size_t n = 1; n < header.find("i2"); ++n) {
        const auto description = read_field(wire::descriptor_dtype, header.substr(0, n));
        BOOST_REQUIRE(description);
        BOOST_TEST(description->format.bits == 0u);
        BOOST_TEST(!description->is_array);
    }
}

BOOST_AUTO_TEST_SUITE_END()
