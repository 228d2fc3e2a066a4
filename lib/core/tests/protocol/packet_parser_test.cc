/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/spead_packets.h"
#include "protocol/packet_parser.h"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

using namespace gr::spead;

namespace {

constexpr wire::flavour flavour{ 48 };

std::vector<std::uint64_t>
required(std::uint64_t length, std::uint64_t offset, std::uint64_t heap_length)
{
    return { flavour.immediate(wire::heap_counter, 7),
             flavour.immediate(wire::heap_length, heap_length),
             flavour.immediate(wire::payload_offset, offset),
             flavour.immediate(wire::payload_length, length) };
}

packet_bytes usual() { return packet_of(required(16, 32, 64), packet_bytes(16)); }

packet_error error_of(const packet_bytes& packet)
{
    // of exactly this size, so that sanitizers see reading beyond it
    const packet_bytes exact(packet);
    packet_view view;
    return parse_packet(exact.data(), exact.size(), view);
}

} // namespace

BOOST_AUTO_TEST_SUITE(packet_parser_test)

BOOST_AUTO_TEST_CASE(fields_of_a_packet)
{
    const auto packet = usual();
    packet_view view;
    BOOST_REQUIRE(parse_packet(packet.data(), packet.size(), view) == packet_error::none);
    BOOST_TEST(view.flavour.heap_address_bits == 48u);
    BOOST_TEST(view.heap_counter == 7);
    BOOST_TEST(view.heap_length.value() == 64);
    BOOST_TEST(view.payload_offset == 32);
    BOOST_TEST(view.payload_bytes == 16);
    BOOST_TEST(view.payload_end() == 48);
    BOOST_TEST(view.items == 4);
    BOOST_TEST((view.payload == packet.data() + packet.size() - 16));
}

BOOST_AUTO_TEST_CASE(item_pointers_of_each_flavour)
{
    for (const unsigned bits : { 8u, 24u, 40u, 48u, 56u }) {
        const wire::flavour flavour{ bits };
        auto pointers =
            std::vector<std::uint64_t>{ flavour.immediate(wire::heap_counter, 1),
                                        flavour.immediate(wire::payload_offset, 0),
                                        flavour.immediate(wire::payload_length, 0),
                                        flavour.addressed(0x45, 0x12),
                                        flavour.immediate(0x46, 0x13) };
        const auto packet = packet_of(pointers, {}, flavour);
        packet_view view;
        BOOST_REQUIRE(parse_packet(packet.data(), packet.size(), view) ==
                      packet_error::none);
        BOOST_TEST(view.item(3).id == 0x45);
        BOOST_TEST(view.item(3).value == 0x12);
        BOOST_TEST(!view.item(3).is_immediate);
        BOOST_TEST(view.item(4).id == 0x46);
        BOOST_TEST(view.item(4).value == 0x13);
        BOOST_TEST(view.item(4).is_immediate);
    }
}

BOOST_AUTO_TEST_CASE(malformed_packets_are_rejected)
{
    const auto changed = [](std::initializer_list<std::pair<std::size_t, int>> values) {
        auto packet = usual();
        for (const auto& [at, value] : values)
            packet[at] = static_cast<std::byte>(value);
        return packet;
    };
    const auto with = [](const std::vector<std::uint64_t>& pointers) {
        return packet_of(pointers, packet_bytes(16));
    };
    const auto without = [&](std::size_t item) {
        auto pointers = required(16, 32, 64);
        pointers.erase(pointers.begin() + static_cast<std::ptrdiff_t>(item));
        return with(pointers);
    };
    auto longer = usual();
    longer.push_back(std::byte{ 0 });
    auto addressed = required(16, 32, 64);
    addressed[0] = flavour.addressed(wire::heap_counter, 7);
    const auto largest = flavour.address_mask();
    const std::pair<packet_bytes, packet_error> cases[] = {
        { changed({ { 0, 0x52 } }), packet_error::magic },
        { changed({ { 1, 3 } }), packet_error::version },
        { changed({ { 2, 2 }, { 3, 5 } }), packet_error::flavour },
        { changed({ { 2, 3 }, { 3, 6 } }), packet_error::flavour },
        { changed({ { 2, 0 }, { 3, 8 } }), packet_error::flavour },
        { changed({ { 2, 8 }, { 3, 0 } }), packet_error::flavour },
        { changed({ { 2, 255 }, { 3, 9 } }), packet_error::flavour },
        { longer, packet_error::size },
        { changed({ { 6, 255 }, { 7, 255 } }), packet_error::size }, // items
        { without(0), packet_error::missing_item },
        { without(1), packet_error::none }, // the heap length may be unknown
        { without(2), packet_error::missing_item },
        { without(3), packet_error::missing_item },
        { with(addressed), packet_error::missing_item },
        { with(required(16, 48, 64)), packet_error::none },
        { with(required(16, 49, 64)), packet_error::payload_bounds },
        { with(required(16, largest, largest)), packet_error::payload_bounds },
    };
    for (std::size_t i = 0; i < std::size(cases); ++i)
        BOOST_TEST((error_of(cases[i].first) == cases[i].second), "case " << i);
    const auto packet = usual();
    for (std::size_t n = 0; n < packet.size(); ++n)
        BOOST_TEST((error_of({ packet.begin(),
                               packet.begin() + static_cast<std::ptrdiff_t>(n) }) ==
                    packet_error::size));
}

// The bytes were made by spead2 4.5.1: a heap in two packets and the end of a stream, in
// both flavours.
BOOST_AUTO_TEST_CASE(packets_of_spead2_are_accepted)
{
    for (const char* packet :
         { "5304030500000006800001000000000380000200000000098000030000000000"
           "8000040000000008801600000000006400330000000000000001020304050607",
           "5304030500000005800001000000000380000200000000098000030000000008"
           "8000040000000001000000000000000800",
           "5304030500000006800001000000000480000200000000018000030000000000"
           "80000400000000018000060000000002000000000000000000",
           "5304020600000006800100000000000380020000000000098003000000000000"
           "8004000000000008960000000000006433000000000000000001020304050607",
           "5304020600000005800100000000000380020000000000098003000000000008"
           "8004000000000001000000000000000800",
           "5304020600000006800100000000000480020000000000018003000000000000"
           "80040000000000018006000000000002000000000000000000" })
        BOOST_TEST((error_of(from_hex(packet)) == packet_error::none));
}

BOOST_AUTO_TEST_SUITE_END()
