/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Regressions: packet sequences that once gave wrong samples, or stopped the stream.

#include "helpers/receive_stream.h"
#include "protocol/descriptor.h"

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

std::vector<packet_bytes> heap_with_items_in_first_packet(std::uint64_t counter,
                                                          std::uint64_t tick)
{
    return heap(counter, tick, 0, false);
}

// Neither a timestamp nor other items.
std::vector<packet_bytes> heap_without_timestamp(std::uint64_t counter,
                                                 std::size_t samples)
{
    heap_cutter cutter{ flavour, heap_samples / 10, false };
    return cutter.cut(counter,
                      { flavour.addressed(0x3300, 0) },
                      packet_bytes(samples, std::byte(counter & 127)));
}

std::vector<packet_bytes> heap_without_length(std::uint64_t counter,
                                              std::uint64_t tick,
                                              std::size_t samples,
                                              std::size_t payload)
{
    heap_cutter cutter{ flavour, payload, false, false };
    return cutter.cut(counter,
                      { flavour.immediate(0x1600, tick), flavour.addressed(0x3300, 0) },
                      packet_bytes(samples, std::byte(counter & 127)));
}

// Descriptors in front of the samples.
std::vector<packet_bytes> heap_with_descriptors(std::uint64_t counter,
                                                std::uint64_t tick,
                                                std::size_t payload = heap_samples / 10)
{
    packet_bytes content;
    std::vector<std::uint64_t> pointers;
    for (const auto& each : default_items()) {
        const auto packet = descriptor_packet(each, flavour);
        pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
        content.insert(content.end(), packet.begin(), packet.end());
    }
    pointers.push_back(flavour.immediate(0x1600, tick));
    pointers.push_back(flavour.addressed(0x3300, content.size()));
    content.resize(content.size() + heap_samples, std::byte(counter & 127));
    heap_cutter cutter{ flavour, payload, false };
    return cutter.cut(counter, pointers, content);
}

packet_bytes end_of_stream(std::uint64_t counter)
{
    return packet_of(
        { flavour.immediate(wire::heap_counter, counter),
          flavour.immediate(wire::payload_offset, 0),
          flavour.immediate(wire::payload_length, 0),
          flavour.immediate(wire::stream_control, wire::stream_control_stop) },
        {});
}

receive_stream::options without_timestamps()
{
    receive_stream::options is;
    auto format = std::make_shared<stream_format>();
    format->timestamp_id.reset();
    is.format = format;
    return is;
}

constexpr std::uint64_t first_tick = 1000000;

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

BOOST_AUTO_TEST_CASE(end_of_one_output_does_not_admit_another_sender)
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
    take({ end_of_stream(2) }, 1, 11);
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

BOOST_AUTO_TEST_CASE(swapped_heaps_after_a_jump_are_one_discontinuity)
{
    receive_stream::options how;
    how.max_gap = heap_samples;
    receive_stream stream(how);
    for (std::uint64_t i = 0; i < 4; ++i)
        stream.take(heap_with_items_in_first_packet(1 + i, i * heap_samples));
    for (const std::uint64_t i : { 5, 4, 6 })
        stream.take(heap_with_items_in_first_packet(1 + i, 1000000 + i * heap_samples));
    stream.pass(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 7 * heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
}

BOOST_AUTO_TEST_CASE(heaps_of_unknown_length_may_split_samples)
{
    receive_stream::options how;
    how.type = sample_type::int16;
    receive_stream stream(how);
    for (std::uint64_t i = 0; i < 4; ++i)
        stream.take(heap_without_length(1 + i, i * 10, 20, 7));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 40);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
}

BOOST_AUTO_TEST_CASE(large_heaps_of_unknown_length_are_received)
{
    constexpr std::size_t samples = 2000000;
    receive_stream::options how;
    how.window_samples = 8 << 20;
    receive_stream stream(how);
    for (std::uint64_t i = 0; i < 3; ++i)
        for (const auto& each : heap_without_length(1 + i, i * samples, samples, 1000)) {
            stream.take(each);
            stream.now += std::chrono::microseconds(10);
        }
    stream.pass(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 3 * samples);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
}

BOOST_AUTO_TEST_CASE(without_timestamps_heap_length_is_learned)
{
    receive_stream stream(without_timestamps());
    for (std::uint64_t i = 0; i < 30; ++i) {
        stream.take(heap_without_timestamp(1 + i, (i == 0 ? 2 : 1) * heap_samples));
        stream.now += milliseconds(1);
    }
    stream.pass(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() >= 28 * heap_samples);
    // while the receiver learns the length
    BOOST_TEST(stream.counters[0].samples_missing.get() <= 3 * heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
}

BOOST_AUTO_TEST_CASE(without_timestamps_late_heap_fills_its_place)
{
    receive_stream stream(without_timestamps());
    for (const std::uint64_t counter : { 1, 2, 4, 3, 5 })
        stream.take(heap_without_timestamp(counter, heap_samples));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 5 * heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 0);
}

BOOST_AUTO_TEST_CASE(samples_do_not_complete_old_descriptors)
{
    receive_stream::options how;
    how.format = nullptr;
    receive_stream stream(how);
    auto packets = heap_with_descriptors(1, 0, 50);
    packets.erase(packets.begin() + 1); // a part of the descriptor of the timestamp
    stream.take(packets);
    stream.pass(milliseconds(2000));
    for (std::uint64_t i = 0; i < 10; ++i)
        stream.take(
            heap_with_items_in_first_packet(1 + i, first_tick + i * heap_samples));
    stream.pass(milliseconds(2000));
    stream.end();
    // otherwise the samples would have times that follow from the heap counters
    BOOST_TEST(!stream.to.format());
    BOOST_TEST(stream.out[0].empty());
}

BOOST_AUTO_TEST_CASE(without_timestamps_restart_does_not_mix_heaps)
{
    receive_stream stream(without_timestamps());
    auto before = heap_without_timestamp(10, heap_samples);
    before.resize(5);
    stream.take(before);
    stream.pass(milliseconds(3000));
    for (std::uint64_t i = 0; i < 10; ++i) {
        const heap_cutter cutter{ flavour, heap_samples / 10, false };
        stream.take(cutter.cut(10 + i,
                               { flavour.addressed(0x3300, 0) },
                               packet_bytes(heap_samples, std::byte(100 + i))));
    }
    stream.pass(milliseconds(2000));
    stream.end();
    const auto& out = stream.out[0];
    BOOST_TEST(std::count(out.begin(), out.end(), std::byte{ 100 }) == heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
}

BOOST_AUTO_TEST_CASE(restarted_sender_is_received_on_all_sockets)
{
    receive_stream::options how;
    how.has_own_sockets = true;
    how.sockets = 3;
    receive_stream stream(how);
    for (std::uint64_t sender = 1; sender <= 2; ++sender) {
        for (std::uint64_t i = 0; i < 30; ++i) {
            for (const auto& each :
                 heap(1 + i, sender * first_tick + i * heap_samples, 0))
                stream.take(each, i % 3, sender);
            stream.now += milliseconds(1);
        }
        stream.pass(milliseconds(5000));
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 60 * heap_samples);
}

BOOST_AUTO_TEST_CASE(packets_kept_for_descriptors_reach_all_outputs)
{
    receive_stream::options how;
    how.format = nullptr;
    how.outputs = 2;
    how.has_own_sockets = true;
    receive_stream stream(how);
    for (std::uint64_t i = 0; i < 40; ++i) {
        for (std::size_t output = 0; output < 2; ++output)
            for (const auto& each :
                 heap_with_items_in_first_packet(10 + i, i * heap_samples))
                stream.take(each, output, 1 + output);
        stream.now += milliseconds(50);
    }
    stream.take(heap_with_descriptors(9, 40 * heap_samples));
    stream.pass(milliseconds(2000));
    stream.end();
    for (const auto& counters : stream.counters)
        BOOST_TEST(counters.samples_received.get() >= 40 * heap_samples);
}

BOOST_AUTO_TEST_CASE(other_senders_descriptors_are_ignored)
{
    receive_stream::options how;
    how.format = nullptr;
    receive_stream stream(how);
    stream.take(heap_with_descriptors(1, 0));
    const auto other = descriptor_packet(
        samples(0x3300), flavour, { sample_type::int16, byte_order::little, 64, 16 });
    const heap_cutter cutter{ flavour, 1000, false };
    for (std::uint64_t i = 1; i < 10; ++i) {
        for (const auto& each :
             cutter.cut(i, { flavour.addressed(wire::descriptor, 0) }, other))
            stream.take(each, 0, 2);
        stream.take(heap_with_items_in_first_packet(1 + i, i * heap_samples));
        stream.now += milliseconds(1);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 10 * heap_samples);
}

BOOST_AUTO_TEST_CASE(duplicate_heap_after_the_end_is_late)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        stream.take(heap(1 + i, i * heap_samples, 0));
        stream.now += milliseconds(1);
    }
    stream.take(end_of_stream(1001));
    stream.take(heap(601, 600 * heap_samples, 0));
    stream.pass(milliseconds(200));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 1000 * heap_samples);
    BOOST_TEST(stream.counters[0].samples_late.get() == heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 0);
}

BOOST_AUTO_TEST_CASE(samples_do_not_mix_two_senders)
{
    receive_stream::options how;
    how.type = sample_type::int16;
    receive_stream stream(how);
    const auto take = [&](std::uint64_t sender, std::size_t from, std::size_t to) {
        heap_cutter cutter{ flavour, 101, true };
        const auto packets =
            cutter.cut(1,
                       { flavour.immediate(0x1600, 0), flavour.addressed(0x3300, 0) },
                       packet_bytes(1000, std::byte(sender)));
        for (auto i = from; i < to; ++i)
            stream.take(packets[i], 0, sender);
    };
    take(1, 0, 1);
    stream.pass(milliseconds(150));
    take(2, 1, 10);
    stream.pass(milliseconds(2000));
    stream.end();
    for (std::size_t i = 0; i < stream.out[0].size(); i += 2)
        BOOST_TEST((stream.out[0][i] == stream.out[0][i + 1]));
}

BOOST_AUTO_TEST_CASE(timestamp_packet_may_overtake_the_first)
{
    receive_stream::options how;
    auto format = std::make_shared<stream_format>();
    format->timestamp_format = { 'u', 64 };
    how.format = format;
    receive_stream stream(how);
    for (std::uint64_t i = 0; i < 3; ++i) {
        packet_bytes content(192, std::byte(1 + i));
        append_word(content, i * 192);
        heap_cutter cutter{ flavour, 100, false };
        auto packets =
            cutter.cut(1 + i,
                       { flavour.addressed(0x3300, 0), flavour.addressed(0x1600, 192) },
                       content);
        std::reverse(packets.begin(), packets.end());
        stream.take(packets);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 3 * 192);
}

BOOST_AUTO_TEST_CASE(positions_do_not_overflow)
{
    constexpr wire::flavour wide{ 56 };
    receive_stream::options how;
    auto format = std::make_shared<stream_format>();
    format->timestamp_id = 0x60;
    format->samples_id = 0x61;
    how.format = format;
    receive_stream stream(how);
    const auto take = [&](std::uint64_t counter, std::uint64_t sender) {
        const auto mask = wide.address_mask();
        heap_cutter cutter{ wide, 64, true };
        for (const auto& each : cutter.cut(
                 counter & mask,
                 { wide.immediate(0x60, counter * 64 & mask), wide.addressed(0x61, 0) },
                 packet_bytes(64)))
            stream.take(each, 0, sender);
        stream.now += milliseconds(1);
    };
    // in step, and as far apart as timestamps allow
    for (std::uint64_t i = 0; i < 600; ++i)
        take(i < 3 ? i : i << 48, 1);
    stream.pass(milliseconds(20000));
    const auto before = stream.counters[0].samples_received.get();
    for (std::uint64_t i = 0; i < 100; ++i)
        take(100 + i, 2);
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() - before == 6400);
}

BOOST_AUTO_TEST_SUITE_END()
