/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Sequences of packets that once gave wrong samples, or none any more.

#include "helpers/receive_stream.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace gr::spead;
using std::chrono::milliseconds;

namespace {

constexpr wire::flavour flavour{ 48 };
constexpr std::uint64_t item_id = 0x3101;
constexpr std::size_t heap_samples = 1000;

// Ten packets. Samples are the low bits of the counter.
std::vector<packet_bytes> heap(std::uint64_t counter,
                               std::uint64_t tick,
                               std::uint64_t value,
                               bool repeats_pointers = true)
{
    heap_cutter cutter{ flavour, heap_samples / 10, repeats_pointers };
    return cutter.cut(counter,
                      { flavour.immediate(0x1600, tick),
                        flavour.immediate(item_id, value),
                        flavour.addressed(0x3300, 0) },
                      packet_bytes(heap_samples, std::byte(counter & 127)));
}

receive_stream::options with_item()
{
    receive_stream::options is;
    auto format = std::make_shared<stream_format>();
    format->immediates.push_back({ item_id, "item" });
    is.format = format;
    return is;
}

} // namespace

BOOST_AUTO_TEST_SUITE(recovery)

BOOST_AUTO_TEST_CASE(packets_from_before_a_restart_are_not_of_heaps_behind_it)
{
    receive_stream stream(with_item());
    for (std::uint64_t i = 0; i < 10; ++i) {
        auto packets = heap(1 + i, i * heap_samples, 0, false);
        if (i == 4) // the others wait for it
            packets.erase(packets.begin());
        stream.take(packets);
    }
    stream.pass(milliseconds(150));
    for (std::uint64_t i = 0; i < 10; ++i) {
        auto packets = heap(1 + i, 5000000 + i * heap_samples, 0, false);
        packets.resize(i == 4 ? 1 : packets.size());
        stream.take(packets);
    }
    stream.pass(milliseconds(2000));
    stream.end();
    // of the fifth heap of the second stream, only the first packet has come
    BOOST_TEST(std::count(stream.out[0].begin(), stream.out[0].end(), std::byte{ 5 }) ==
               heap_samples / 10);
}

BOOST_AUTO_TEST_CASE(a_refused_heap_does_not_fill_one_of_the_same_counter)
{
    receive_stream stream(with_item());
    for (std::uint64_t i = 0; i < 10; ++i) {
        auto packets = heap(1 + i, i * heap_samples, 0, false);
        if (i == 9)
            packets.erase(packets.begin() + 5);
        stream.take(packets);
    }
    stream.pass(milliseconds(50));
    const auto again = heap(10, 9 * heap_samples + 50, 0, false);
    stream.take(again);
    stream.pass(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_missing.get() == heap_samples / 10);
}

BOOST_AUTO_TEST_CASE(the_end_of_one_stream_does_not_mix_senders_of_another_output)
{
    auto how = with_item();
    how.outputs = 2;
    how.has_own_sockets = true;
    receive_stream stream(how);
    const auto take = [&](const std::vector<packet_bytes>& packets,
                          std::size_t socket,
                          std::uint64_t sender) {
        for (const auto& each : packets)
            stream.take(each, socket, sender);
    };
    for (std::uint64_t i = 0; i < 30; ++i)
        for (std::size_t output = 0; output < 2; ++output)
            take(heap(1 + i, i * heap_samples, 0), output, 10 + output);
    stream.pass(milliseconds(20));
    take(std::vector<packet_bytes>{ packet_of(
             { flavour.immediate(wire::heap_counter, 2),
               flavour.immediate(wire::payload_offset, 0),
               flavour.immediate(wire::payload_length, 0),
               flavour.immediate(wire::stream_control, wire::stream_control_stop) },
             {}) },
         1,
         11);
    for (std::uint64_t i = 30; i < 60; ++i) {
        take(heap(1 + i, i * heap_samples, 0), 0, 10);
        take(heap(100, (i + 1) * heap_samples, 0), 0, 20); // another sender, ahead
        stream.now += milliseconds(1);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 60 * heap_samples);
    BOOST_TEST(std::count(stream.out[0].begin(), stream.out[0].end(), std::byte{ 100 }) ==
               0);
}

BOOST_AUTO_TEST_CASE(heaps_of_which_no_whole_sample_arrives_leave_room)
{
    auto how = with_item();
    how.type = sample_type::int16;
    receive_stream stream(how);
    for (std::uint64_t i = 0; i < 300; ++i)
        stream.take(packet_of({ flavour.immediate(wire::heap_counter, 1 + i),
                                flavour.immediate(wire::heap_length, 20),
                                flavour.immediate(wire::payload_offset, 0),
                                flavour.immediate(wire::payload_length, 1),
                                flavour.immediate(0x1600, i * 10),
                                flavour.immediate(item_id, i),
                                flavour.addressed(0x3300, 0) },
                              packet_bytes(1)));
    BOOST_TEST(stream.common.packets_received.get() == 300);
}

BOOST_AUTO_TEST_CASE(a_late_heap_whose_item_changes_is_not_of_another_sender)
{
    receive_stream stream(with_item());
    std::vector<packet_bytes> late;
    std::uint64_t counter = 1;
    for (std::uint64_t i = 0; i < 300; ++i) {
        counter += i % 7 == 0 ? 2 : 1; // so that it is in step with none
        const auto packets = heap(counter, i * heap_samples, i);
        stream.now += milliseconds(1);
        if (i == 50)
            late = packets;
        else
            stream.take(packets);
        if (i == 200)
            stream.take(late);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_missing.get() == heap_samples);
    BOOST_TEST(stream.counters[0].samples_late.get() == heap_samples);
}

BOOST_AUTO_TEST_SUITE_END()
