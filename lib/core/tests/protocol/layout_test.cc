/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

std::string header_to_hex(const packet_template& header)
{
    return to_hex(header.words.data(), header.header_bytes());
}

const packet_template& full(const heap_layout& layout) { return layout.packet_at(0); }

const packet_template& last(const heap_layout& layout)
{
    return layout.packet_at(layout.heap_bytes() - 1);
}

const auto sizes = { 1, 7, 8, 1000, 1393, 4096, 8192, 65536, 1048576 };
const auto packet_limits = { 104, 576, 1472, 8972, 65507 };

} // namespace

BOOST_AUTO_TEST_SUITE(layout)

// The bytes of these vectors were made by spead2 4.5.1.

BOOST_AUTO_TEST_CASE(descriptor_heap_matches_spead2)
{
    const std::vector<item> items{ timestamp(0x1600, "timestamp", "d1"),
                                   immediate(0x3101, "id", { 7 }, "d3"),
                                   samples(0x3300, "adc_samples", "d2") };
    // with counters and offsets, which are the packer's to write, of 0
    const auto contents = descriptor_contents(items, { 48 });
    const auto whole = heap_layout::even(contents, 0, 9000, false);
    BOOST_CHECK_EQUAL(whole.packets(), 1u);
    BOOST_CHECK_EQUAL(header_to_hex(last(whole)) + to_hex(contents.prefix),
                      "53040206000000078001000000000000800200000000011c8003000000000000"
                      "800400000000011c0005000000000000000500000000005e00050000000000b5"
                      "53040206000000098001000000000001800200000000000e8003000000000000"
                      "800400000000000e801400000000160000100000000000000011000000000009"
                      "001300000000000b001200000000000e74696d657374616d7064317500305304"
                      "0206000000098001000000000001800200000000000780030000000000008004"
                      "0000000000078014000000003101001000000000000000110000000000020013"
                      "0000000000040012000000000007696464337500305304020600000009800100"
                      "0000000001800200000000001780030000000000008004000000000017801400"
                      "00000033000010000000000000001100000000000b001300000000000d001200"
                      "00000000106164635f73616d706c6573643269000801000000000000");
    const auto cut = heap_layout::even(contents, 0, 128, false);
    BOOST_CHECK_EQUAL(cut.packets(), 5u);
    BOOST_CHECK_EQUAL(header_to_hex(full(cut)),
                      "53040206000000078001000000000000800200000000011c8003000000000000"
                      "80040000000000400005000000000000000500000000005e00050000000000b5");
    BOOST_CHECK_EQUAL(header_to_hex(last(cut)),
                      "53040206000000078001000000000000800200000000011c8003000000000000"
                      "800400000000001c0005000000000000000500000000005e00050000000000b5");
}

BOOST_AUTO_TEST_CASE(immediates_have_their_inputs_value_until_set)
{
    const std::vector<item> items{ immediate(0x3101, "one for all", { 7 }),
                                   samples(),
                                   immediate(
                                       0x3102, "one for each", { 8, 0xffffffffffff }) };
    auto l =
        heap_layout::even(data_contents(items, { 40 }, false, {}, 1), 100, 104, false);
    const auto tail = [&](const packet_template& t) {
        return header_to_hex(t).substr(80);
    };
    const std::string first = "8031010000000007"
                              "0033000000000000";
    BOOST_CHECK_EQUAL(tail(full(l)), first + "803102ffffffffff");
    // what is too wide must not change the ID
    l.set_item(2, 0xabcdef0123456789);
    BOOST_CHECK_EQUAL(tail(full(l)), first + "8031020123456789");
    BOOST_CHECK_EQUAL(tail(last(l)), first + "8031020123456789");
    BOOST_CHECK_EQUAL(tail(last(l.shortened(8))), first + "8031020123456789");
}

BOOST_AUTO_TEST_CASE(headers_match_spead2)
{
    const auto header = [](unsigned bits) {
        const auto contents = data_contents(default_items(), { bits }, false);
        return header_to_hex(last(heap_layout::even(contents, 24, 1472, true)));
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

BOOST_AUTO_TEST_CASE(first_heap_matches_spead2)
{
    const std::vector<item> items{ timestamp(0x1600, "timestamp", "d1"),
                                   samples(0x3300, "adc_samples", "d2") };
    const auto layout =
        heap_layout::even(data_contents(items, { 40 }, true), 24, 1472, true);
    BOOST_CHECK_EQUAL(header_to_hex(last(layout)),
                      "5304030500000008800001000000000080000200000000de8000030000000000"
                      "80000400000000de00000500000000008016000000000000000005000000005f"
                      "00330000000000c6");
}

BOOST_AUTO_TEST_CASE(later_descriptors_precede_the_samples)
{
    const std::vector<item> items{ timestamp(0x1600, "timestamp", "d1"),
                                   samples(0x3300, "adc_samples", "d2"),
                                   immediate(0x3101, "id", { 7 }, "d3") };
    const auto layout =
        heap_layout::even(data_contents(items, { 48 }, true), 24, 1472, true);
    BOOST_CHECK_EQUAL(header_to_hex(last(layout)).substr(80),
                      "0005000000000000"
                      "9600000000000000"
                      "000500000000005e"
                      "00050000000000c5"
                      "330000000000011c"
                      "b101000000000007");
}

BOOST_AUTO_TEST_CASE(stop_heap_matches_spead2)
{
    const auto layout = heap_layout::even(stop_contents({ 48 }), 0, 1472, true);
    BOOST_CHECK_EQUAL(header_to_hex(last(layout)) + "00",
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
                        BOOST_CHECK_LE(last(l).packet_bytes(), l.packet_bytes());
                        BOOST_CHECK_EQUAL((l.packets() - 1) * full(l).payload_bytes +
                                              last(l).payload_bytes,
                                          l.heap_bytes());
                        BOOST_CHECK_LE(last(l).words.size(), 256u);
                        if (l.packets() > 1) {
                            BOOST_CHECK_EQUAL(full(l).payload_bytes % 8, 0u);
                            // as even as whole words allow
                            BOOST_CHECK_LT(full(l).payload_bytes,
                                           total / l.packets() + 9);
                        }
                        if (!pad)
                            BOOST_CHECK_EQUAL(last(l).words.size(), full(l).words.size());
                    }
                }
}

BOOST_AUTO_TEST_CASE(padding_fills_the_last_packet_where_it_can)
{
    const auto contents = data_contents(default_items(), { 40 }, false);
    const auto padded = heap_layout::even(contents, 8192, 1472, true);
    BOOST_CHECK_EQUAL(padded.packets(), 6u);
    BOOST_CHECK_EQUAL(full(padded).packet_bytes(), 1424u);
    BOOST_CHECK_EQUAL(last(padded).packet_bytes(), 1424u);
    BOOST_CHECK_EQUAL(last(padded).payload_bytes, 8192u - 5 * 1368);

    const auto plain = heap_layout::even(contents, 8192, 1472, false);
    BOOST_CHECK_EQUAL(last(plain).packet_bytes(), 1424u - 16);

    // 255 items are the most: 6 and up to 249 NULL items
    const heap_layout most(contents, 8 * (2 * 300 - 249), 8 * 300, true);
    BOOST_CHECK_EQUAL(last(most).words.size(), 256u);
    const heap_layout too_many(contents, 8 * (2 * 300 - 250), 8 * 300, true);
    BOOST_CHECK_EQUAL(last(too_many).words.size(), 7u);
}

BOOST_AUTO_TEST_CASE(largest_heap_has_its_length_in_the_header)
{
    const auto l = heap_layout::even(data_contents(default_items(), { 40 }, false),
                                     std::uint64_t{ 1 } << 32,
                                     1472,
                                     true);
    BOOST_CHECK_EQUAL(header_to_hex(full(l)).substr(32, 16), "8000020100000000");
    BOOST_CHECK_EQUAL((l.packets() - 1) * full(l).payload_bytes + last(l).payload_bytes,
                      std::uint64_t{ 1 } << 32);
}

BOOST_AUTO_TEST_SUITE_END()
