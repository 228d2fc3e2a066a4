/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "descriptor.h"
#include "packing.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

std::string hex(const std::vector<std::byte>& from)
{
    const auto* at = reinterpret_cast<const std::uint8_t*>(from.data());
    return to_hex({ at, at + from.size() });
}

std::string hex(const packet_template& header)
{
    const auto* at = reinterpret_cast<const std::uint8_t*>(header.words.data());
    return to_hex({ at, at + header.header_bytes() });
}

const auto sizes = { 1, 7, 8, 1000, 1393, 4096, 8192, 65536, 1048576 };
const auto packet_limits = { 104, 576, 1472, 8972, 65507 };

} // namespace

BOOST_AUTO_TEST_SUITE(layout)

// The bytes of these vectors were made by spead2 4.5.1.

BOOST_AUTO_TEST_CASE(descriptors_are_as_in_the_fixed_vectors)
{
    const auto time = timestamp(0x1600, "timestamp", "d1");
    const auto data = samples(0x3300, "adc_samples", "d2");
    BOOST_CHECK_EQUAL(hex(descriptor_packet(time, { 40 })),
                      "53040305000000098000010000000001800002000000000f8000030000000000"
                      "800004000000000f800014000000160000001000000000000000110000000009"
                      "000013000000000b000012000000000f74696d657374616d70643175000028");
    BOOST_CHECK_EQUAL(hex(descriptor_packet(data, { 40 })),
                      "5304030500000009800001000000000180000200000000178000030000000000"
                      "800004000000001780001400000033000000100000000000000011000000000b"
                      "000013000000000d00001200000000116164635f73616d706c65736432690000"
                      "08010000000000");
    BOOST_CHECK_EQUAL(hex(descriptor_packet(time, { 48 })),
                      "53040206000000098001000000000001800200000000000e8003000000000000"
                      "800400000000000e801400000000160000100000000000000011000000000009"
                      "001300000000000b001200000000000e74696d657374616d706431750030");
    BOOST_CHECK_EQUAL(hex(descriptor_packet(data, { 48 })),
                      "5304020600000009800100000000000180020000000000178003000000000000"
                      "800400000000001780140000000033000010000000000000001100000000000b"
                      "001300000000000d00120000000000106164635f73616d706c65736432690008"
                      "01000000000000");
}

BOOST_AUTO_TEST_CASE(headers_are_as_in_the_fixed_vectors)
{
    const auto header = [](unsigned bits) {
        const auto contents = data_contents(default_items(), { bits }, false);
        return hex(heap_layout::even(contents, 24, 1472, true).last());
    };
    BOOST_CHECK_EQUAL(header(40),
                      "5304030500000006800001000000000080000200000000188000030000000000"
                      "80000400000000188016000000000000"
                      "0033000000000000");
    BOOST_CHECK_EQUAL(header(48),
                      "5304020600000006800100000000000080020000000000188003000000000000"
                      "80040000000000189600000000000000"
                      "3300000000000000");
}

BOOST_AUTO_TEST_CASE(first_heap_is_as_in_the_fixed_vector)
{
    const std::vector<item> items{ timestamp(0x1600, "timestamp", "d1"),
                                   samples(0x3300, "adc_samples", "d2") };
    const auto layout =
        heap_layout::even(data_contents(items, { 40 }, true), 24, 1472, true);
    BOOST_CHECK_EQUAL(hex(layout.last()),
                      "5304030500000008800001000000000080000200000000de8000030000000000"
                      "80000400000000de00000500000000008016000000000000000005000000005f"
                      "00330000000000c6");
}

BOOST_AUTO_TEST_CASE(stop_heap_is_as_in_the_fixed_vector)
{
    const auto layout = heap_layout::even(stop_contents({ 48 }), 0, 1472, true);
    BOOST_CHECK_EQUAL(hex(layout.last()) + "00",
                      "5304020600000006800100000000000080020000000000018003000000000000"
                      "80040000000000018006000000000002000000000000000000");
}

BOOST_AUTO_TEST_CASE(geometry_is_even_and_within_limits)
{
    for (const int size : sizes)
        for (const int limit : packet_limits)
            for (const bool pad : { false, true })
                for (const bool descriptors : { false, true }) {
                    const auto contents =
                        data_contents(default_items(), { 48 }, descriptors);
                    const auto heap = static_cast<std::uint64_t>(size);
                    const auto most = static_cast<std::size_t>(limit);
                    const auto l = heap_layout::even(contents, heap, most, pad);
                    BOOST_TEST_CONTEXT(size << " samples, " << limit << " bytes, pad "
                                            << pad << ", descriptors " << descriptors)
                    {
                        const auto room = most - contents.header_bytes();
                        const auto total = heap + contents.prefix.size();
                        const auto fewest =
                            total <= room ? 1
                                          : (total + room / 8 * 8 - 1) / (room / 8 * 8);
                        BOOST_CHECK_LE(l.packets(), fewest);
                        BOOST_CHECK_LE(l.packet_bytes(), most);
                        BOOST_CHECK_LE(l.last().packet_bytes(), l.packet_bytes());
                        BOOST_CHECK_EQUAL((l.packets() - 1) * l.payload_bytes() +
                                              l.last().payload_bytes,
                                          l.heap_bytes());
                        BOOST_CHECK_LE(l.last().words.size(), 256u);
                        if (l.packets() > 1) {
                            BOOST_CHECK_EQUAL(l.payload_bytes() % 8, 0u);
                            // as even as whole words allow
                            BOOST_CHECK_LT(l.payload_bytes(), total / l.packets() + 9);
                        }
                        if (!pad)
                            BOOST_CHECK_EQUAL(l.last().words.size(),
                                              l.full().words.size());
                    }
                }
}

BOOST_AUTO_TEST_CASE(padding_fills_the_last_packet_where_it_can)
{
    const auto contents = data_contents(default_items(), { 40 }, false);
    const auto padded = heap_layout::even(contents, 8192, 1472, true);
    BOOST_CHECK_EQUAL(padded.packets(), 6u);
    BOOST_CHECK_EQUAL(padded.full().packet_bytes(), 1424u);
    BOOST_CHECK_EQUAL(padded.last().packet_bytes(), 1424u);
    BOOST_CHECK_EQUAL(padded.last().payload_bytes, 8192u - 5 * 1368);

    const auto plain = heap_layout::even(contents, 8192, 1472, false);
    BOOST_CHECK_EQUAL(plain.last().packet_bytes(), 1424u - 16);

    // 255 items are the most: 6 and up to 249 NULL items
    const heap_layout most(contents, 8 * (2 * 300 - 249), 8 * 300, true);
    BOOST_CHECK_EQUAL(most.last().words.size(), 256u);
    const heap_layout too_many(contents, 8 * (2 * 300 - 250), 8 * 300, true);
    BOOST_CHECK_EQUAL(too_many.last().words.size(), 7u);
}

BOOST_AUTO_TEST_CASE(largest_heap_has_its_length_in_the_header)
{
    const auto l = heap_layout::even(data_contents(default_items(), { 40 }, false),
                                     std::uint64_t{ 1 } << 32,
                                     1472,
                                     true);
    BOOST_CHECK_EQUAL(hex(l.full()).substr(32, 16), "8000020100000000");
    BOOST_CHECK_EQUAL((l.packets() - 1) * l.payload_bytes() + l.last().payload_bytes,
                      std::uint64_t{ 1 } << 32);
}

BOOST_AUTO_TEST_SUITE_END()
