/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Regression tests: packet sequences that once produced wrong samples or a stall.

#include "helpers/receive_stream.h"
#include "protocol/descriptor.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>

using namespace gr::spead;
using std::chrono::milliseconds;

namespace {

constexpr wire::flavour flavour{ 48 };
constexpr std::uint64_t item_id = 0x3101;
constexpr std::size_t heap_samples = 1000;

// A heap of ten packets. Each sample holds the low bits of the heap counter.
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

// A heap with samples but no timestamp or other item.
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

struct heap_content {
    packet_bytes payload = {};
    std::vector<std::uint64_t> pointers = {};
};

heap_content descriptors(const sample_format& format = {})
{
    heap_content heap;
    for (const auto& item : default_items()) {
        const auto packet = descriptor_packet(item, flavour, format);
        heap.pointers.push_back(flavour.addressed(wire::descriptor, heap.payload.size()));
        heap.payload.insert(heap.payload.end(), packet.begin(), packet.end());
    }
    return heap;
}

void add_samples(heap_content& heap,
                 std::uint64_t tick,
                 std::size_t bytes,
                 std::byte value)
{
    heap.pointers.push_back(flavour.immediate(0x1600, tick));
    heap.pointers.push_back(flavour.addressed(0x3300, heap.payload.size()));
    heap.payload.resize(heap.payload.size() + bytes, value);
}

// A heap with descriptors before its samples.
std::vector<packet_bytes> heap_with_descriptors(std::uint64_t counter,
                                                std::uint64_t tick,
                                                std::size_t payload = heap_samples / 10,
                                                bool repeats_pointers = false,
                                                bool has_heap_length = true)
{
    auto heap = descriptors();
    add_samples(heap, tick, heap_samples, std::byte(counter & 127));
    const heap_cutter cutter{ flavour, payload, repeats_pointers, has_heap_length };
    return cutter.cut(counter, heap.pointers, heap.payload);
}

// A heap with a timestamp in the payload, before or behind the samples.
std::vector<packet_bytes> heap_with_time_in_payload(std::uint64_t counter,
                                                    std::uint64_t tick,
                                                    bool is_behind,
                                                    bool repeats_pointers,
                                                    std::byte sample,
                                                    std::size_t payload = 100,
                                                    std::size_t timestamp_bytes = 8)
{
    packet_bytes content(heap_samples, sample);
    packet_bytes timestamp;
    for (auto byte = timestamp_bytes; byte-- > 0;)
        timestamp.push_back(static_cast<std::byte>(tick >> 8 * byte));
    content.insert(
        is_behind ? content.end() : content.begin(), timestamp.begin(), timestamp.end());
    return heap_cutter{ flavour, payload, repeats_pointers }.cut(
        counter,
        { flavour.addressed(0x1600, is_behind ? heap_samples : 0),
          flavour.addressed(0x3300, is_behind ? 0 : timestamp_bytes) },
        content);
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
    receive_stream::options options;
    auto format = std::make_shared<stream_format>();
    format->timestamp_id.reset();
    options.format = format;
    return options;
}

constexpr std::uint64_t first_tick = 1000000;

receive_stream::options with_item()
{
    receive_stream::options options;
    auto format = std::make_shared<stream_format>();
    format->immediates.push_back({ item_id, "item" });
    options.format = format;
    return options;
}

} // namespace

BOOST_AUTO_TEST_SUITE(recovery)

BOOST_AUTO_TEST_CASE(end_of_one_output_does_not_admit_another_sender)
{
    auto options = with_item();
    options.outputs = 2;
    options.has_own_sockets = true;
    receive_stream stream(options);
    const auto receive = [&](const std::vector<packet_bytes>& packets,
                             std::size_t socket,
                             std::uint64_t sender) {
        for (const auto& packet : packets)
            stream.receive(packet, socket, sender);
    };
    for (std::uint64_t i = 0; i < 30; ++i)
        for (std::size_t output = 0; output < 2; ++output)
            receive(heap(1 + i, i * heap_samples, 0), output, 10 + output);
    stream.pass_time(milliseconds(20));
    receive({ end_of_stream(2) }, 1, 11);
    for (std::uint64_t i = 30; i < 60; ++i) {
        receive(heap(1 + i, i * heap_samples, 0), 0, 10);
        receive(heap(100, (i + 1) * heap_samples, 0), 0, 20); // another sender, ahead
        stream.now += milliseconds(1);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 60 * heap_samples);
    BOOST_TEST(std::count(stream.out[0].begin(), stream.out[0].end(), std::byte{ 100 }) ==
               0);
}

BOOST_AUTO_TEST_CASE(swapped_heaps_after_a_jump_are_one_discontinuity)
{
    receive_stream::options options;
    options.max_gap = heap_samples;
    receive_stream stream(options);
    for (std::uint64_t i = 0; i < 4; ++i)
        stream.receive(heap_with_items_in_first_packet(1 + i, i * heap_samples));
    for (const std::uint64_t i : { 5, 4, 6 })
        stream.receive(
            heap_with_items_in_first_packet(1 + i, 1000000 + i * heap_samples));
    stream.pass_time(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 7 * heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
}

BOOST_AUTO_TEST_CASE(packets_without_heap_length_may_split_samples)
{
    receive_stream::options options;
    options.type = sample_type::int16;
    auto format = std::make_shared<stream_format>();
    format->samples_format = { 'i', 16 };
    options.format = format;
    receive_stream stream(options);
    for (std::uint64_t i = 0; i < 4; ++i)
        stream.receive(heap_without_length(1 + i, i * 10, 20, 7));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 40);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
}

BOOST_AUTO_TEST_CASE(large_heaps_without_heap_length_are_received)
{
    constexpr std::size_t samples = 2000000;
    receive_stream::options options;
    options.window_samples = 8 << 20;
    receive_stream stream(options);
    for (std::uint64_t i = 0; i < 3; ++i)
        for (const auto& packet :
             heap_without_length(1 + i, i * samples, samples, 1000)) {
            stream.receive(packet);
            stream.now += std::chrono::microseconds(10);
        }
    stream.pass_time(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 3 * samples);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
}

BOOST_AUTO_TEST_CASE(heap_length_is_learned_without_timestamps)
{
    receive_stream stream(without_timestamps());
    for (std::uint64_t i = 0; i < 30; ++i) {
        stream.receive(heap_without_timestamp(1 + i, (i == 0 ? 2 : 1) * heap_samples));
        stream.now += milliseconds(1);
    }
    stream.pass_time(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() >= 28 * heap_samples);
    // missing while the receiver learns the length
    BOOST_TEST(stream.counters[0].samples_missing.get() <= 3 * heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
}

BOOST_AUTO_TEST_CASE(heaps_without_timestamps_may_exceed_the_window)
{
    const auto options = without_timestamps();
    for (const auto windows : { 1, 2, 5 }) {
        receive_stream stream(options);
        const auto samples = static_cast<std::size_t>(windows * options.window_samples);
        for (std::uint64_t counter = 1; counter <= 4; ++counter)
            stream.receive(heap_without_timestamp(counter, samples));
        stream.end();
        BOOST_TEST(stream.counters[0].samples_received.get() == 4 * samples);
        BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
        BOOST_TEST(stream.common.discontinuities.get() == 0);
    }
}

// Gaps of a half to three times the range of timestamps, in which counters continue.
BOOST_AUTO_TEST_CASE(times_continue_after_timestamps_wrapped_in_a_gap)
{
    constexpr wire::flavour narrow{ 40 };
    constexpr std::uint64_t range = narrow.address_mask() + 1;
    for (const auto gap :
         { range / 2 - 5000, range / 2 + 5000, range, 3 * range + 777 }) {
        for (const bool is_silent : { false, true }) {
            receive_stream stream;
            const std::uint64_t lost = gap / heap_samples;
            for (std::uint64_t i = 0; i < 40; ++i) {
                const auto counter = i < 20 ? i : i + lost;
                const heap_cutter cutter{ narrow, heap_samples };
                if (i == 20 && is_silent)
                    stream.pass_time(milliseconds(3000));
                stream.receive(cutter.cut(
                    counter,
                    { narrow.immediate(0x1600,
                                       counter * heap_samples & narrow.address_mask()),
                      narrow.addressed(0x3300, 0) },
                    packet_bytes(heap_samples, std::byte(i))));
                stream.now += milliseconds(1);
            }
            stream.end();
            BOOST_TEST(stream.counters[0].samples_received.get() == 40 * heap_samples);
            const auto times = stream.tags_of(sample_tag::kind::timestamp);
            BOOST_REQUIRE(times.size() == 2);
            BOOST_TEST(times[1].first == 20 * heap_samples);
            BOOST_TEST(times[1].second == (20 + lost) * heap_samples);
        }
    }
}

BOOST_AUTO_TEST_CASE(late_heap_without_timestamp_is_placed_by_its_counter)
{
    receive_stream stream(without_timestamps());
    for (const std::uint64_t counter : { 1, 2, 4, 3, 5 })
        stream.receive(heap_without_timestamp(counter, heap_samples));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 5 * heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 0);
}

BOOST_AUTO_TEST_CASE(samples_do_not_complete_descriptors_of_an_older_heap)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    auto packets = heap_with_descriptors(1, 0, 50);
    packets.erase(packets.begin() + 1); // part of the timestamp's descriptor
    stream.receive(packets);
    stream.pass_time(milliseconds(2000));
    for (std::uint64_t i = 0; i < 10; ++i)
        stream.receive(
            heap_with_items_in_first_packet(1 + i, first_tick + i * heap_samples));
    stream.pass_time(milliseconds(2000));
    stream.end();
    // without the timestamp's descriptor, times would be derived from heap counters
    BOOST_TEST(!stream.router.format());
    BOOST_TEST(stream.out[0].empty());
}

BOOST_AUTO_TEST_CASE(samples_wait_for_their_descriptors_while_others_are_placed)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    stream.receive(heap_with_descriptors(1, 0));
    auto next = heap_with_items_in_first_packet(2, heap_samples);
    std::rotate(next.begin(), next.begin() + 1, next.end()); // all wait for the first one
    const auto incomplete = heap_with_descriptors(3, 2 * heap_samples, 50, true);
    next.push_back(incomplete[0]); // without packet 1, part of a descriptor
    next.insert(next.end(), incomplete.begin() + 2, incomplete.end());
    for (const auto& packet : next)
        stream.router.add_datagram({ packet.data(), packet.size(), 0, 1 }, stream.now);
    stream.process_pending();
    BOOST_TEST(stream.counters[0].samples_received.get() == 2 * heap_samples);
    stream.receive(incomplete[1]);
    BOOST_TEST(stream.counters[0].samples_received.get() == 3 * heap_samples);
}

BOOST_AUTO_TEST_CASE(restart_without_timestamps_does_not_mix_heaps)
{
    receive_stream stream(without_timestamps());
    auto before = heap_without_timestamp(10, heap_samples);
    before.resize(5);
    stream.receive(before);
    stream.pass_time(milliseconds(3000));
    for (std::uint64_t i = 0; i < 10; ++i) {
        const heap_cutter cutter{ flavour, heap_samples / 10, false };
        stream.receive(cutter.cut(10 + i,
                                  { flavour.addressed(0x3300, 0) },
                                  packet_bytes(heap_samples, std::byte(100 + i))));
    }
    stream.pass_time(milliseconds(2000));
    stream.end();
    const auto& out = stream.out[0];
    BOOST_TEST(std::count(out.begin(), out.end(), std::byte{ 100 }) == heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
}

BOOST_AUTO_TEST_CASE(restarted_sender_is_received_on_all_sockets)
{
    receive_stream::options options;
    options.has_own_sockets = true;
    options.sockets = 3;
    receive_stream stream(options);
    for (std::uint64_t sender = 1; sender <= 2; ++sender) {
        for (std::uint64_t i = 0; i < 30; ++i) {
            for (const auto& packet :
                 heap(1 + i, sender * first_tick + i * heap_samples, 0))
                stream.receive(packet, i % 3, sender);
            stream.now += milliseconds(1);
        }
        stream.pass_time(milliseconds(5000));
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 60 * heap_samples);
}

BOOST_AUTO_TEST_CASE(packets_stored_until_descriptors_arrive_reach_all_outputs)
{
    receive_stream::options options;
    options.format = nullptr;
    options.outputs = 2;
    options.has_own_sockets = true;
    receive_stream stream(options);
    for (std::uint64_t i = 0; i < 40; ++i) {
        for (std::size_t output = 0; output < 2; ++output)
            for (const auto& packet :
                 heap_with_items_in_first_packet(10 + i, i * heap_samples))
                stream.receive(packet, output, 1 + output);
        stream.now += milliseconds(50);
    }
    stream.receive(heap_with_descriptors(9, 40 * heap_samples));
    stream.pass_time(milliseconds(2000));
    stream.end();
    for (const auto& counters : stream.counters)
        BOOST_TEST(counters.samples_received.get() >= 40 * heap_samples);
}

BOOST_AUTO_TEST_CASE(interleaved_heaps_with_descriptors_are_complete)
{
    for (const std::size_t payload : { 50, 300 }) {
        receive_stream::options options;
        options.format = nullptr;
        options.outputs = 2;
        options.has_own_sockets = true;
        receive_stream stream(options);
        for (std::uint64_t i = 0; i < 10; ++i)
            for (const auto& packet :
                 heap_with_descriptors(1 + i, i * heap_samples, payload, true)) {
                stream.receive(packet, 0, 1);
                stream.receive(packet, 1, 2);
            }
        stream.end();
        for (const auto& counters : stream.counters)
            BOOST_TEST(counters.samples_received.get() == 10 * heap_samples);
    }
}

BOOST_AUTO_TEST_CASE(reordered_first_heaps_of_two_outputs_are_placed)
{
    receive_stream::options options;
    options.outputs = 2;
    options.has_own_sockets = true;
    receive_stream stream(options);
    const std::pair<std::size_t, std::uint64_t> order[] = { { 0, 0 }, { 1, 0 }, { 0, 2 },
                                                            { 1, 2 }, { 1, 3 }, { 0, 1 },
                                                            { 0, 3 }, { 1, 1 }, { 0, 4 },
                                                            { 1, 4 } };
    for (const auto& [output, number] : order) {
        for (const auto& packet :
             heap_with_items_in_first_packet(1 + number, number * heap_samples))
            stream.receive(packet, output, 1 + output);
        stream.now += milliseconds(1);
    }
    stream.end();
    for (const auto& counters : stream.counters)
        BOOST_TEST(counters.samples_received.get() == 5 * heap_samples);
}

BOOST_AUTO_TEST_CASE(descriptors_of_another_sender_are_ignored)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    stream.receive(heap_with_descriptors(1, 0));
    const auto other =
        descriptor_packet(samples(0x3300),
                          flavour,
                          { sample_type::int16, { 'i', 16, byte_order::little }, 64 });
    const heap_cutter cutter{ flavour, 1000, false };
    for (std::uint64_t i = 1; i < 10; ++i) {
        for (const auto& packet :
             cutter.cut(i, { flavour.addressed(wire::descriptor, 0) }, other))
            stream.receive(packet, 0, 2);
        stream.receive(heap_with_items_in_first_packet(1 + i, i * heap_samples));
        stream.now += milliseconds(1);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 10 * heap_samples);
}

BOOST_AUTO_TEST_CASE(duplicate_heap_after_end_of_stream_counts_as_late)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        stream.receive(heap(1 + i, i * heap_samples, 0));
        stream.now += milliseconds(1);
    }
    stream.receive(end_of_stream(1001));
    stream.receive(heap(601, 600 * heap_samples, 0));
    stream.pass_time(milliseconds(200));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 1000 * heap_samples);
    BOOST_TEST(stream.counters[0].samples_late.get() == heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 0);
}

BOOST_AUTO_TEST_CASE(no_sample_mixes_bytes_of_two_senders)
{
    receive_stream::options options;
    options.type = sample_type::int16;
    auto format = std::make_shared<stream_format>();
    format->samples_format = { 'i', 16 };
    options.format = format;
    receive_stream stream(options);
    const auto receive = [&](std::uint64_t sender, std::size_t from, std::size_t to) {
        heap_cutter cutter{ flavour, 101, true };
        const auto packets =
            cutter.cut(1,
                       { flavour.immediate(0x1600, 0), flavour.addressed(0x3300, 0) },
                       packet_bytes(1000, std::byte(sender)));
        for (auto i = from; i < to; ++i)
            stream.receive(packets[i], 0, sender);
    };
    receive(1, 0, 1);
    stream.pass_time(milliseconds(150));
    receive(2, 1, 10);
    stream.pass_time(milliseconds(2000));
    stream.end();
    for (std::size_t i = 0; i < stream.out[0].size(); i += 2)
        BOOST_TEST((stream.out[0][i] == stream.out[0][i + 1]));
}

BOOST_AUTO_TEST_CASE(packets_of_a_heap_with_addressed_timestamp_may_be_reversed)
{
    receive_stream::options options;
    auto format = std::make_shared<stream_format>();
    format->timestamp_format = { 'u', 64 };
    options.format = format;
    receive_stream stream(options);
    for (std::uint64_t i = 0; i < 3; ++i) {
        packet_bytes content(192, std::byte(1 + i));
        append_word(content, i * 192);
        heap_cutter cutter{ flavour, 100, false };
        auto packets =
            cutter.cut(1 + i,
                       { flavour.addressed(0x3300, 0), flavour.addressed(0x1600, 192) },
                       content);
        std::reverse(packets.begin(), packets.end());
        stream.receive(packets);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 3 * 192);
}

BOOST_AUTO_TEST_CASE(timestamp_jumps_do_not_overflow_positions)
{
    constexpr wire::flavour wide{ 56 };
    receive_stream::options options;
    auto format = std::make_shared<stream_format>();
    format->timestamp_id = 0x60;
    format->samples_id = 0x61;
    options.format = format;
    receive_stream stream(options);
    const auto receive = [&](std::uint64_t counter, std::uint64_t sender) {
        const auto mask = wide.address_mask();
        heap_cutter cutter{ wide, 64, true };
        for (const auto& packet : cutter.cut(
                 counter & mask,
                 { wide.immediate(0x60, counter * 64 & mask), wide.addressed(0x61, 0) },
                 packet_bytes(64)))
            stream.receive(packet, 0, sender);
        stream.now += milliseconds(1);
    };
    // three regular heaps, then jumps as large as timestamps allow
    for (std::uint64_t i = 0; i < 600; ++i)
        receive(i < 3 ? i : i << 48, 1);
    stream.pass_time(milliseconds(20000));
    const auto before = stream.counters[0].samples_received.get();
    for (std::uint64_t i = 0; i < 100; ++i)
        receive(100 + i, 2);
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() - before == 6400);
}

// The sender restarts within a second, reuses its heap counters, and times go on.
BOOST_AUTO_TEST_CASE(restart_with_the_same_counters_loses_nothing)
{
    for (const auto pause : { 0, 5, 300, 900 }) {
        receive_stream stream;
        for (std::uint64_t i = 0; i < 60; ++i) {
            if (i == 30)
                stream.pass_time(milliseconds(pause));
            stream.receive(heap_with_items_in_first_packet(1 + i % 30, i * heap_samples));
            stream.now += milliseconds(1);
        }
        stream.end();
        BOOST_TEST(stream.counters[0].samples_received.get() == 60 * heap_samples);
        BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
    }
}

// The tail of a heap is lost, and the first packet of its counter after the restart.
BOOST_AUTO_TEST_CASE(restart_with_losses_does_not_mix_heaps)
{
    for (const auto pause : { 0, 5, 300, 900 })
        for (const std::uint64_t damaged : { 1, 5, 20, 29 }) {
            receive_stream stream;
            for (std::uint64_t i = 0; i < 60; ++i) {
                if (i == 30)
                    stream.pass_time(milliseconds(pause));
                const heap_cutter cutter{ flavour, heap_samples / 10, false };
                auto packets = cutter.cut(1 + i % 30,
                                          { flavour.immediate(0x1600, i * heap_samples),
                                            flavour.addressed(0x3300, 0) },
                                          packet_bytes(heap_samples, std::byte(1 + i)));
                if (i == damaged)
                    packets.resize(4);
                if (i == damaged + 30)
                    packets.erase(packets.begin());
                stream.receive(packets);
                stream.now += milliseconds(1);
            }
            stream.pass_time(milliseconds(2000));
            stream.end();
            const auto times = stream.tags_of(sample_tag::kind::timestamp);
            BOOST_REQUIRE(times.size() == 1);
            for (std::size_t i = 0; i < stream.out[0].size(); ++i) {
                const auto value = std::to_integer<std::size_t>(stream.out[0][i]);
                BOOST_REQUIRE((value == 0 || value == 1 + i / heap_samples));
            }
            BOOST_TEST(stream.counters[0].samples_received.get() ==
                       58 * heap_samples + 4 * heap_samples / 10);
        }
}

// PySPEAD and spead2 leave out items that have not changed.
// The sender is killed in a heap and restarts. The first packet of the heap that reuses
// the counter is lost.
BOOST_AUTO_TEST_CASE(restart_after_a_torn_heap_does_not_mix_heaps)
{
    for (const int before : { 0, 2 })                     // heaps
        for (const int between : { 1, 3000 })             // ms from heap to heap
            for (const int pause : { 900, 2000, 8000 }) { // ms
                receive_stream stream;
                const auto add = [&](const std::vector<packet_bytes>& packets) {
                    for (const auto& packet : packets) {
                        stream.receive(packet);
                        stream.pass_time(milliseconds(1));
                    }
                };
                auto tick = first_tick;
                std::uint64_t counter = 1;
                for (int i = 0; i < before; ++i, tick += heap_samples) {
                    add(heap_with_items_in_first_packet(counter++, tick));
                    stream.pass_time(milliseconds(between));
                }
                auto torn = heap_with_items_in_first_packet(counter, tick);
                torn.resize(4);
                add(torn);
                stream.pass_time(milliseconds(pause));
                for (std::uint64_t i = 0; i < 4; ++i) {
                    auto packets = heap_with_items_in_first_packet(
                        counter + i, first_tick + 1000000 + i * heap_samples);
                    // other samples than before
                    for (auto& packet : packets)
                        std::replace(packet.end() - 100,
                                     packet.end(),
                                     std::byte((counter + i) & 127),
                                     std::byte(100 + i));
                    if (i == 0)
                        packets.erase(packets.begin());
                    add(packets);
                }
                stream.end();
                BOOST_TEST_CONTEXT(before << " heaps, " << between << " ms, " << pause)
                {
                    const auto& out = stream.out[0];
                    BOOST_TEST(std::count(out.begin(), out.end(), std::byte(100)) == 0);
                    BOOST_TEST(std::count(out.begin(), out.end(), std::byte(103)) ==
                               1000);
                }
            }
}

BOOST_AUTO_TEST_CASE(stream_may_be_sent_again_after_its_end)
{
    for (const int pause : { 1500, 5000 }) {
        receive_stream stream;
        for (std::uint64_t run = 0; run < 2; ++run) {
            for (std::uint64_t i = 0; i < 8; ++i) {
                stream.receive(heap_with_items_in_first_packet(
                    1 + i, first_tick + i * heap_samples));
                stream.pass_time(milliseconds(i == 3 ? 3400 : 1));
            }
            stream.receive(end_of_stream(100));
            stream.pass_time(milliseconds(pause));
        }
        stream.end();
        BOOST_TEST(stream.counters[0].samples_received.get() == 16000);
    }
}

BOOST_AUTO_TEST_CASE(an_item_keeps_its_value_until_it_is_sent_again)
{
    auto format = std::make_shared<stream_format>();
    format->immediates.push_back({ item_id, "item", {}, { 7 } });
    receive_stream::options options;
    options.format = format;
    receive_stream stream(options);
    const std::vector<std::optional<std::uint64_t>> sent{ 7, {}, {}, 8, {}, 7, {} };
    for (std::uint64_t i = 0; i < sent.size(); ++i) {
        std::vector<std::uint64_t> items{ flavour.immediate(0x1600, i * heap_samples),
                                          flavour.addressed(0x3300, 0) };
        if (sent[i])
            items.push_back(flavour.immediate(item_id, *sent[i]));
        const heap_cutter cutter{ flavour, heap_samples / 10, false };
        stream.receive(
            cutter.cut(1 + i, items, packet_bytes(heap_samples, std::byte(1 + i))));
        stream.now += milliseconds(1);
    }
    stream.pass_time(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 5 * heap_samples);
    for (const auto selected : { 1, 2, 3, 6, 7 })
        BOOST_TEST(std::count(stream.out[0].begin(),
                              stream.out[0].end(),
                              std::byte(selected)) == heap_samples);
}

// Each heap has other samples. None of them may get into another one.
void check_samples(const receive_stream& stream)
{
    const auto times = stream.tags_of(sample_tag::kind::timestamp);
    const auto& out = stream.out[0];
    std::size_t wrong = 0, time = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        while (time + 1 < times.size() && times[time + 1].first <= i)
            ++time;
        const auto tick = times.at(time).second + (i - times[time].first);
        wrong += out[i] != std::byte{ 0 } &&
                 out[i] != static_cast<std::byte>(1 + tick / heap_samples % 127);
    }
    BOOST_TEST(wrong == 0u);
}

std::vector<packet_bytes> heap_of_tick(std::uint64_t counter, std::uint64_t tick)
{
    const heap_cutter cutter{ flavour, heap_samples / 10, false };
    return cutter.cut(
        counter,
        { flavour.immediate(0x1600, tick), flavour.addressed(0x3300, 0) },
        packet_bytes(heap_samples,
                     static_cast<std::byte>(1 + tick / heap_samples % 127)));
}

// The heaps of both runs wait for descriptors, and have the same counters. In the first
// run, all packets arrive, or the first or last ones of a heap are lost; in the second
// one, another packet may be.
BOOST_AUTO_TEST_CASE(restart_before_the_descriptors_does_not_mix_heaps)
{
    for (const std::size_t begin : { 0, 1, 5 })
        for (const std::size_t end : { 5, 10 })
            for (const bool is_lossy : { false, true })
                for (const int pause : { 50, 300, 700 }) {
                    receive_stream::options options;
                    options.format = nullptr;
                    receive_stream stream(options);
                    for (const std::uint64_t run : { 0, 1 }) {
                        for (std::uint64_t i = 0; i < 3; ++i) {
                            const auto packets =
                                heap_of_tick(1 + i, (10 * run + i) * heap_samples);
                            for (std::size_t k = 0; k < packets.size(); ++k)
                                if (run == 0 ? k >= begin && k < end
                                             : k != 7 || !is_lossy)
                                    stream.receive(packets[k]);
                        }
                        stream.pass_time(milliseconds(pause));
                    }
                    stream.receive(heap_with_descriptors(50, 100 * heap_samples));
                    stream.pass_time(milliseconds(2000));
                    stream.end();
                    BOOST_REQUIRE(!stream.out[0].empty());
                    // the heap of the descriptors has its counter as samples
                    auto& out = stream.out[0];
                    out.resize(out.size() - heap_samples);
                    BOOST_TEST_CONTEXT("run 1: packets " << begin << " to " << end
                                                         << ", run 2 lossy " << is_lossy
                                                         << ", " << pause << " ms")
                    check_samples(stream);
                }
}

// A heap without samples, and then one that reuses its counter.
BOOST_AUTO_TEST_CASE(packets_of_a_refused_heap_do_not_enter_the_next_one)
{
    receive_stream stream;
    stream.receive(heap_of_tick(1, 0));
    const heap_cutter cutter{ flavour, heap_samples / 10, false };
    const auto other = cutter.cut(
        2, { flavour.addressed(0x4000, 0) }, packet_bytes(heap_samples, std::byte{ 99 }));
    const auto next = heap_of_tick(2, heap_samples);
    for (std::size_t i = 0; i < 4; ++i)
        stream.receive(other[i]);
    stream.receive(next[0]);
    for (std::size_t i = 4; i < other.size(); ++i)
        stream.receive(other[i]);
    for (std::size_t i = 1; i < next.size(); ++i)
        stream.receive(next[i]);
    stream.receive(heap_of_tick(3, 2 * heap_samples));
    stream.end();
    check_samples(stream);
    BOOST_TEST(stream.out[0].size() == 3 * heap_samples);
}

// The new value is in a heap without samples, or in one that is overtaken.
BOOST_AUTO_TEST_CASE(the_last_value_of_an_item_is_that_of_the_latest_heap)
{
    using heap_items_sent =
        std::pair<std::optional<std::uint64_t>, bool>; // value, samples
    const std::vector<heap_items_sent> sent{ { 7, true },  { {}, true }, { 8, false },
                                             { {}, true }, { 7, true },  { 8, true },
                                             { {}, true } };
    for (const bool is_swapped : { false, true }) {
        auto format = std::make_shared<stream_format>();
        format->immediates.push_back({ item_id, "item", {}, { 7 } });
        receive_stream::options options;
        options.format = format;
        receive_stream stream(options);
        std::vector<std::vector<packet_bytes>> heaps;
        for (std::uint64_t i = 0; i < sent.size(); ++i) {
            std::vector<std::uint64_t> items;
            if (sent[i].second) {
                items.push_back(flavour.immediate(0x1600, i * heap_samples));
                items.push_back(flavour.addressed(0x3300, 0));
            }
            if (sent[i].first)
                items.push_back(flavour.immediate(item_id, *sent[i].first));
            const heap_cutter cutter{ flavour, heap_samples / 10, false };
            heaps.push_back(
                cutter.cut(1 + i, items, packet_bytes(heap_samples, std::byte(1 + i))));
        }
        if (is_swapped)
            std::swap(heaps[4], heaps[5]);
        for (const auto& packets : heaps) {
            stream.receive(packets);
            stream.now += milliseconds(1);
        }
        stream.pass_time(milliseconds(2000));
        stream.end();
        for (const auto selected : { 1, 2, 5 })
            BOOST_TEST(std::count(stream.out[0].begin(),
                                  stream.out[0].end(),
                                  std::byte(selected)) == heap_samples);
        BOOST_TEST(stream.counters[0].samples_received.get() == 3 * heap_samples);
    }
}

// The repeated descriptors at the end of a heap that is larger than the room for packets,
// while the window is full.
BOOST_AUTO_TEST_CASE(no_packet_of_a_large_heap_with_descriptors_is_lost)
{
    receive_stream::options options;
    options.format = nullptr;
    options.window_samples = 1 << 17;
    receive_stream stream(options);
    std::uint64_t tick = 0;
    const auto receive = [&](std::uint64_t counter,
                             std::size_t samples,
                             bool has_others) {
        auto heap = descriptors();
        add_samples(heap, tick, samples, std::byte{ 1 });
        auto& [payload, pointers] = heap;
        if (has_others) {
            pointers.push_back(flavour.addressed(wire::descriptor, payload.size()));
            const auto packet = descriptor_packet(immediate(0x4000, "x", { 0 }), flavour);
            payload.insert(payload.end(), packet.begin(), packet.end());
        }
        const heap_cutter cutter{ flavour, 1400, false };
        for (const auto& packet : cutter.cut(counter, pointers, payload))
            stream.receive(packet);
        tick += samples;
    };
    receive(1, 100000, false);
    receive(2, 3000000, true);
    receive(3, 100000, false);
    stream.pass_time(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 3200000u);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0u);
}

// A digitiser sends its polarisations to several addresses. Their sockets are read in
// turn, so that heaps of either one may come first.
BOOST_AUTO_TEST_CASE(polarisations_with_the_same_times_are_never_mixed)
{
    constexpr int heaps = 40;
    auto format = std::make_shared<stream_format>();
    format->immediates.push_back({ item_id, "pol", {}, {} });
    for (unsigned seed = 0; seed < 200; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            receive_stream::options options;
            options.format = format;
            options.sockets = 2;
            receive_stream stream(options);
            std::mt19937 random(seed);
            std::vector<std::pair<int, int>> order; // sort key; heap of either stream
            for (int i = 0; i < 2 * heaps; ++i)
                order.emplace_back(
                    i / 2 * 4 + std::uniform_int_distribution(0, 12)(random), i);
            std::sort(order.begin(), order.end());
            for (const auto& [key, i] : order) {
                const auto pol = static_cast<std::uint64_t>(i % 2);
                const auto number = static_cast<std::uint64_t>(i / 2);
                const heap_cutter cutter{ flavour, heap_samples, false };
                const auto packets =
                    cutter.cut(2 + 2 * static_cast<std::uint64_t>(i),
                               { flavour.immediate(0x1600, number * heap_samples),
                                 flavour.immediate(item_id, pol),
                                 flavour.addressed(0x3300, 0) },
                               packet_bytes(heap_samples, std::byte(1 + pol)));
                stream.receive(packets.front(), pol, 1);
                stream.now += std::chrono::microseconds(300);
            }
            stream.pass_time(milliseconds(2000));
            stream.end();
            const auto count = [&](int value) {
                return std::count(
                    stream.out[0].begin(), stream.out[0].end(), std::byte(value));
            };
            const auto chosen = count(1) ? 1 : 2;
            BOOST_TEST(count(3 - chosen) == 0);
            BOOST_TEST(count(chosen) > (heaps - 10) * std::int64_t{ heap_samples });
            BOOST_TEST(stream.tags_of(sample_tag::kind::item).size() == 1u);
        }
    }
}

// Timestamps are rounded to ticks, which may be longer than samples.
BOOST_AUTO_TEST_CASE(rounded_timestamps_do_not_move_samples)
{
    constexpr std::int64_t heaps = 3000;
    const struct {
        std::int64_t samples, ticks, length;
    } cases[] = { { 999, 1000, 40 },    { 1000, 1001, 100 }, { 7, 5, 1000 },
                  { 5120, 4096, 1024 }, { 256, 1250, 1000 }, { 441, 480, 100 },
                  { 1, 3, 77 },         { 1000, 3, 800 },    { 3, 2, 25 } };
    std::mt19937 random(7);
    for (const auto& [samples, ticks, length] : cases)
        for (const bool is_lossy : { false, true }) {
            receive_stream::options options;
            options.samples = samples;
            options.ticks = ticks;
            receive_stream stream(options);
            std::vector<packet_bytes> packets;
            for (std::int64_t i = 0; i < heaps; ++i) {
                if (is_lossy && i > 10 && i < heaps - 1 && random() % 20 == 0)
                    continue;
                packet_bytes content;
                for (std::int64_t at = i * length; at < (i + 1) * length; ++at)
                    content.push_back(std::byte(1 + at % 251));
                const auto tick = (2 * i * length * ticks + samples) / (2 * samples);
                packets.push_back(
                    packet_of({ flavour.immediate(wire::heap_counter, 1 + i),
                                flavour.immediate(wire::heap_length, content.size()),
                                flavour.immediate(wire::payload_offset, 0),
                                flavour.immediate(wire::payload_length, content.size()),
                                flavour.immediate(
                                    0x1600, 5000000 + static_cast<std::uint64_t>(tick)),
                                flavour.addressed(0x3300, 0) },
                              content));
                const auto n = packets.size();
                if (is_lossy && n > 10 && random() % 10 == 0)
                    std::swap(packets[n - 1], packets[n - 2]);
            }
            stream.receive(packets);
            stream.end();
            BOOST_TEST_CONTEXT(samples << "/" << ticks << ", heaps of " << length)
            {
                const auto& out = stream.out[0];
                BOOST_TEST(out.size() == static_cast<std::size_t>(heaps * length));
                std::size_t wrong = 0;
                for (std::size_t at = 0; at < out.size(); ++at)
                    wrong += out[at] != std::byte(1 + at % 251) &&
                             (!is_lossy || out[at] != std::byte{});
                BOOST_TEST(wrong == 0u);
                BOOST_TEST(stream.counters[0].samples_missing.get() ==
                           (heaps - static_cast<std::int64_t>(packets.size())) * length);
            }
        }
}

// Sockets are read in turn: a heap waits for its next packet while another one arrives.
// Halves of samples that are lost with the packet in between must not take the room.
BOOST_AUTO_TEST_CASE(split_samples_wait_for_their_other_half)
{
    constexpr std::size_t samples = 50000;
    auto format = std::make_shared<stream_format>();
    format->samples_format = { 'i', 32 };
    receive_stream::options options;
    options.format = format;
    options.type = sample_type::int32;
    options.samples = options.ticks = samples;
    receive_stream stream(options);
    const auto heap_of = [&](std::uint64_t number) {
        const heap_cutter cutter{ flavour, 1001, true };
        return cutter.cut(
            1 + number,
            { flavour.immediate(0x1600, number * samples), flavour.addressed(0x3300, 0) },
            packet_bytes(4 * samples, std::byte{ 1 }));
    };
    const auto with_losses = heap_of(0);
    for (std::size_t i = 0; i < with_losses.size(); i += 2)
        stream.receive(with_losses[i]);
    const auto interrupted = heap_of(1);
    const auto middle = interrupted.begin() + 10;
    stream.receive(std::vector<packet_bytes>(interrupted.begin(), middle));
    stream.receive(heap_of(2));
    stream.receive(std::vector<packet_bytes>(middle, interrupted.end()));
    stream.pass_time(milliseconds(2000));
    stream.end();
    BOOST_TEST(std::count(stream.out[0].begin() + 4 * samples,
                          stream.out[0].end(),
                          std::byte{ 1 }) == 8 * samples);
}

// Of two streams that take turns, the first heap that arrives may be that of the one
// which the item excludes later.
BOOST_AUTO_TEST_CASE(the_first_heap_is_not_that_of_an_interleaved_stream)
{
    receive_stream stream(with_item());
    const auto send = [&](std::uint64_t i, std::uint64_t value) {
        stream.receive(heap(1 + 2 * i + value, first_tick + i * heap_samples, value));
        stream.now += milliseconds(2);
    };
    send(0, 1);
    for (std::uint64_t i = 1; i < 40; ++i)
        for (const std::uint64_t value : { 0, 1 })
            send(i, value);
    stream.end();
    const auto& out = stream.out[0];
    const auto even = std::count_if(out.begin(), out.end(), [](std::byte sample) {
        return sample != std::byte{} && (std::to_integer<int>(sample) & 1) == 0;
    });
    const auto odd = std::count_if(out.begin(), out.end(), [](std::byte sample) {
        return (std::to_integer<int>(sample) & 1) == 1;
    });
    BOOST_TEST_CONTEXT(even << " samples of one stream, " << odd << " of the other")
    BOOST_TEST((even == 0) != (odd == 0));
}

// Senders round timestamps to ticks also where heaps differ in length.
BOOST_AUTO_TEST_CASE(heaps_of_two_lengths_continue_at_rounded_timestamps)
{
    for (const std::uint64_t other : { 96, 100, 64 }) {
        receive_stream::options options;
        options.samples = 8;
        options.ticks = 5;
        receive_stream stream(options);
        std::uint64_t position = 0;
        for (std::uint64_t i = 0; i < 400; ++i) {
            const auto length = i % 2 ? other : 97;
            packet_bytes content;
            for (auto at = position; at < position + length; ++at)
                content.push_back(std::byte(1 + at % 251));
            const heap_cutter cutter{ flavour, 1000 };
            stream.receive(cutter.cut(1 + i,
                                      { flavour.immediate(0x1600, position * 5 / 8),
                                        flavour.addressed(0x3300, 0) },
                                      content));
            position += length;
        }
        stream.end();
        const auto& out = stream.out[0];
        BOOST_TEST(out.size() == position);
        std::size_t wrong = 0;
        for (std::size_t at = 0; at < out.size(); ++at)
            wrong += out[at] != std::byte(1 + at % 251);
        BOOST_TEST(wrong == 0u);
    }
}

// A jump by more than max_gap starts the stream over; what is sent again from before it
// has already been output.
BOOST_AUTO_TEST_CASE(old_heaps_do_not_precede_a_stream_that_starts_over)
{
    receive_stream::options options;
    options.max_gap = heap_samples;
    receive_stream stream(options);
    const auto send = [&](std::uint64_t i, std::uint64_t skipped) {
        stream.receive(heap(1 + i, (i + skipped) * heap_samples, 0));
        stream.now += milliseconds(5);
    };
    for (std::uint64_t i = 0; i < 100; ++i)
        send(i, 0);
    for (std::uint64_t i = 100; i < 120; ++i) {
        send(i, 5);
        if (i == 101) // the first two agree with each other
            send(20, 0);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 120 * heap_samples);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
    BOOST_TEST(stream.common.discontinuities.get() == 1);
}

// If all heaps have the same counter, a late one looks like that of a restarted sender.
BOOST_AUTO_TEST_CASE(a_late_heap_does_not_restart_a_stream_without_counters)
{
    for (const bool has_end : { true, false }) {
        receive_stream stream;
        const auto send = [&](std::uint64_t first_time, std::uint64_t i) {
            stream.receive(heap(1, (first_time + i) * heap_samples, 0));
            stream.now += milliseconds(1);
        };
        for (std::uint64_t i = 0; i < 40; ++i)
            send(100, i);
        if (has_end)
            stream.receive(end_of_stream(1));
        stream.pass_time(milliseconds(has_end ? 20 : 200));
        send(100, 10);
        stream.pass_time(milliseconds(20));
        BOOST_TEST(stream.out[0].size() == 40 * heap_samples);
        for (std::uint64_t i = 0; i < 5; ++i) // it has restarted
            send(0, i);
        stream.end();
        BOOST_TEST(stream.out[0].size() == 45 * heap_samples);
        BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
    }
}

// Without a heap length, only the items show that a heap goes on after its first packet.
BOOST_AUTO_TEST_CASE(descriptors_may_exceed_the_first_packet_of_a_heap_without_length)
{
    for (const std::size_t payload : { 80, 160, 1400 }) {
        receive_stream::options options;
        options.format = nullptr;
        receive_stream stream(options);
        stream.receive(heap_with_descriptors(1, 0, payload, false, false));
        for (std::uint64_t i = 1; i < 10; ++i)
            stream.receive(heap(1 + i, i * heap_samples, 0));
        stream.end();
        BOOST_TEST(stream.counters[0].samples_received.get() == 10 * heap_samples);
    }
}

BOOST_AUTO_TEST_CASE(timestamps_in_the_payload_wrap_at_their_size)
{
    const struct {
        number_format described; // no bits: not described
        unsigned bits;
    } cases[] = { { {}, 48 }, { {}, 40 }, { { 'u', 48 }, 48 }, { { 'u', 36 }, 36 } };
    for (const auto& [described, bits] : cases) {
        receive_stream::options options;
        auto format = std::make_shared<stream_format>();
        format->timestamp_format = described;
        options.format = format;
        receive_stream stream(options);
        const std::size_t timestamp_bytes = (bits + 7) / 8;
        const auto wrap = std::uint64_t{ 1 } << bits;
        for (std::uint64_t i = 0; i < 20; ++i) {
            const auto tick = (wrap - 10 * heap_samples + i * heap_samples) % wrap;
            const auto padded = tick << (8 * timestamp_bytes - bits); // as spead2 does
            packet_bytes content;
            for (std::size_t byte = timestamp_bytes; byte-- > 0;)
                content.push_back(static_cast<std::byte>(padded >> 8 * byte));
            content.resize(timestamp_bytes + heap_samples, std::byte{ 1 });
            stream.receive(heap_cutter{ flavour, 100 }.cut(
                1 + i,
                { flavour.addressed(0x1600, 0),
                  flavour.addressed(0x3300, timestamp_bytes) },
                content));
        }
        stream.end();
        BOOST_TEST_CONTEXT(bits << " bits, described " << described.bits)
        BOOST_TEST(stream.counters[0].samples_received.get() == 20 * heap_samples);
    }
}

// A later packet of the heap gives the timestamp another place, of another size.
BOOST_AUTO_TEST_CASE(a_known_timestamp_keeps_its_bits)
{
    for (const std::size_t bytes : { 0, 1, 2 }) {
        receive_stream stream;
        for (std::uint64_t i = 0; i < 200; ++i) {
            const auto send_half = [&](std::uint64_t offset,
                                       const std::vector<std::uint64_t>& items) {
                std::vector<std::uint64_t> pointers{
                    flavour.immediate(wire::heap_counter, 1 + i),
                    flavour.immediate(wire::heap_length, 2 * heap_samples),
                    flavour.immediate(wire::payload_offset, offset),
                    flavour.immediate(wire::payload_length, heap_samples)
                };
                pointers.insert(pointers.end(), items.begin(), items.end());
                stream.receive(packet_of(
                    pointers, packet_bytes(heap_samples, std::byte{ 1 }), flavour));
            };
            send_half(0, { flavour.immediate(0x1600, i * heap_samples) });
            send_half(heap_samples,
                      { flavour.addressed(0x1600, heap_samples - bytes),
                        flavour.addressed(0x3300, heap_samples) });
        }
        stream.end();
        BOOST_TEST(stream.counters[0].samples_received.get() == 200 * heap_samples);
    }
}

// The sender is killed within a heap, or the first packet of a heap is lost. It restarts
// soon, at another time, with the same counters.
BOOST_AUTO_TEST_CASE(heaps_of_a_restarted_sender_are_not_joined_by_their_counters)
{
    for (const bool is_behind : { false, true })
        for (const bool repeats_pointers : { false, true })
            for (const bool is_first_lost : { false, true })
                for (const int pause : { 50, 120, 300, 450, 700 }) {
                    receive_stream stream;
                    const auto send = [&](std::uint64_t i, std::uint64_t tick, int run) {
                        auto packets = heap_with_time_in_payload(1 + i,
                                                                 tick + i * heap_samples,
                                                                 is_behind,
                                                                 repeats_pointers,
                                                                 std::byte(run));
                        if (run == 1 && i == 1 && is_first_lost)
                            packets.erase(packets.begin());
                        else if (run == 1 && i == 1)
                            packets.resize(5);
                        for (const auto& packet : packets) {
                            stream.receive(packet);
                            stream.now += std::chrono::microseconds(500);
                        }
                    };
                    send(0, 0, 1);
                    send(1, 0, 1);
                    stream.pass_time(milliseconds(pause));
                    for (std::uint64_t i = 0; i < 8; ++i)
                        send(i, 20 * heap_samples, 2);
                    stream.end();
                    BOOST_TEST_CONTEXT("behind " << is_behind << ", repeated "
                                                 << repeats_pointers << ", first lost "
                                                 << is_first_lost << ", " << pause
                                                 << " ms")
                    {
                        const auto& out = stream.out[0];
                        const auto begin = stream.tags_of(sample_tag::kind::timestamp);
                        BOOST_REQUIRE(!begin.empty());
                        const auto restart =
                            begin.size() > 1 ? begin.back().first : 20 * heap_samples;
                        const auto middle =
                            out.begin() +
                            static_cast<std::ptrdiff_t>(std::min(restart, out.size()));
                        BOOST_TEST(std::count(out.begin(), middle, std::byte{ 2 }) == 0);
                        BOOST_TEST(std::count(middle, out.end(), std::byte{ 1 }) == 0);
                        BOOST_TEST(std::count(middle, out.end(), std::byte{ 2 }) >=
                                   7 * static_cast<std::ptrdiff_t>(heap_samples));
                    }
                }
}

BOOST_AUTO_TEST_CASE(a_timestamp_may_be_split_between_packets)
{
    for (const std::size_t payload : { 3, 60, 996, 1004 })
        for (const bool is_behind : { false, true }) {
            receive_stream stream;
            for (std::uint64_t i = 0; i < 5; ++i)
                stream.receive(heap_with_time_in_payload(
                    1 + i, i * heap_samples, is_behind, false, std::byte{ 1 }, payload));
            stream.end();
            BOOST_TEST(stream.counters[0].samples_received.get() == 5 * heap_samples);
        }
}

// While a heap waits for another one to agree, or for the first descriptors. The packets
// with its samples and its timestamp precede the one with its items.
BOOST_AUTO_TEST_CASE(descriptors_do_not_take_the_timestamp_of_a_waiting_heap)
{
    const auto described = descriptors();
    const auto description =
        heap_cutter{ flavour, 2000 }.cut(50, described.pointers, described.payload);
    for (const bool is_described_first : { true, false }) {
        receive_stream::options options;
        options.format = nullptr;
        receive_stream stream(options);
        const auto send = [&](std::uint64_t counter, std::uint64_t tick) {
            auto packets = heap_with_time_in_payload(
                counter, tick, true, false, std::byte(counter), 1000, 6);
            std::reverse(packets.begin(), packets.end());
            stream.receive(packets);
        };
        if (is_described_first) {
            stream.receive(description);
            send(40, first_tick);
        }
        send(60, 3 * first_tick);
        stream.receive(description);
        send(61, 3 * first_tick + heap_samples);
        stream.end();
        const auto begin = stream.tags_of(sample_tag::kind::timestamp);
        BOOST_REQUIRE(begin.size() == 1);
        BOOST_TEST(begin[0].second + stream.out[0].size() ==
                   3 * first_tick + 2 * heap_samples);
        const auto heaps = is_described_first ? 3 : 2;
        BOOST_TEST(stream.counters[0].samples_received.get() == heaps * heap_samples);
    }
}

// Two of them agree with each other, as the heaps of a restarted sender do.
BOOST_AUTO_TEST_CASE(duplicates_do_not_restart_a_stream_without_timestamps)
{
    for (const bool is_single : { false, true })
        for (const std::uint64_t other : { 5, 8, 15 }) {
            receive_stream stream(without_timestamps());
            const auto send = [&](std::uint64_t i) {
                std::vector<std::uint64_t> pointers{ flavour.immediate(wire::heap_counter,
                                                                       i) };
                if (!is_single) {
                    pointers.push_back(flavour.immediate(wire::heap_length, 100));
                    pointers.push_back(flavour.immediate(wire::payload_offset, 0));
                }
                pointers.push_back(flavour.immediate(wire::payload_length, 100));
                pointers.push_back(flavour.addressed(0x3300, 0));
                stream.receive(packet_of(pointers, packet_bytes(100, std::byte(1 + i))));
            };
            for (std::uint64_t i = 0; i < 40; ++i) {
                if (i == 10)
                    send(7);
                if (i == std::max<std::uint64_t>(10, other + 5))
                    send(other);
                send(i);
            }
            stream.end();
            BOOST_TEST(stream.counters[0].samples_received.get() == 40 * 100);
            BOOST_TEST(stream.out[0].size() == 40u * 100);
            BOOST_TEST(stream.common.discontinuities.get() == 0);
        }
}

// A heap of 26 samples lasts 20.8 ticks. The front is rounded to a whole tick.
BOOST_AUTO_TEST_CASE(a_stream_does_not_begin_before_tick_0)
{
    receive_stream::options options;
    options.samples = 10;
    options.ticks = 8;
    options.max_read = milliseconds(1); // all packets are read at once
    receive_stream stream(options);
    for (const std::uint64_t i : { 1, 0, 2, 3 })
        stream.receive(packet_of({ flavour.immediate(wire::heap_counter, 1 + i),
                                   flavour.immediate(wire::heap_length, 26),
                                   flavour.immediate(wire::payload_offset, 0),
                                   flavour.immediate(wire::payload_length, 26),
                                   flavour.immediate(0x1600, (26 * i * 8 + 5) / 10),
                                   flavour.addressed(0x3300, 0) },
                                 packet_bytes(26, std::byte{ 1 })));
    stream.end();
    const auto begin = stream.tags_of(sample_tag::kind::timestamp);
    BOOST_REQUIRE(begin.size() == 1);
    BOOST_TEST(begin[0].second <= 1);
    BOOST_TEST(stream.counters[0].samples_received.get() == 4 * 26);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
}

// The item pointers of a heap are in both of its packets. The timestamp is before or
// behind the samples.
BOOST_AUTO_TEST_CASE(item_pointers_may_be_in_several_packets)
{
    for (const bool is_behind : { false, true })
        for (const bool is_time_first : { false, true }) {
            receive_stream stream;
            for (std::uint64_t i = 0; i < 5; ++i) {
                auto packets = heap_with_time_in_payload(1 + i,
                                                         i * heap_samples,
                                                         is_behind,
                                                         true,
                                                         std::byte{ 1 },
                                                         heap_samples / 2 + 4);
                // the pointers are the words after header, counter, length, offset,
                // length
                for (std::size_t k : { 0, 1 }) {
                    const bool keeps_time = (k == 0) == is_time_first;
                    const auto pointer = packets[k].begin() + 8 * (keeps_time ? 6 : 5);
                    packets[k].erase(pointer, pointer + 8);
                    packets[k][7] = std::byte{ 5 }; // number of items
                }
                stream.receive(packets);
            }
            stream.end();
            const auto& out = stream.out[0];
            BOOST_TEST_CONTEXT("behind " << is_behind << ", first " << is_time_first)
            {
                BOOST_TEST(out.size() == 5 * heap_samples);
                BOOST_TEST(std::count(out.begin(), out.end(), std::byte{ 1 }) ==
                           5 * static_cast<std::ptrdiff_t>(heap_samples));
            }
        }
}

// A late duplicate of a packet opens a slot that is never completed.
BOOST_AUTO_TEST_CASE(a_late_duplicate_does_not_take_the_packets_of_a_restart)
{
    for (const bool has_other_length : { false, true })
        for (const int pause : { 120, 300, 800 }) {
            receive_stream stream;
            for (std::uint64_t i = 0; i < 10; ++i)
                stream.receive(heap_with_items_in_first_packet(1 + i, i * heap_samples));
            stream.pass_time(milliseconds(120));
            stream.receive(heap_with_items_in_first_packet(1, 0)[3]);
            stream.pass_time(milliseconds(pause));
            const auto length = heap_samples + (has_other_length ? 100 : 0);
            for (std::uint64_t i = 0; i < 10; ++i)
                stream.receive(
                    heap_without_length(1 + i, first_tick + i * length, length, 100));
            stream.end();
            BOOST_TEST_CONTEXT("other length " << has_other_length << ", " << pause
                                               << " ms")
            BOOST_TEST(stream.counters[0].samples_received.get() ==
                       10 * heap_samples + 10 * length);
        }
}

// A restarted sender sends the same times with another value. The samples are those of
// the first heaps, and so is the value.
BOOST_AUTO_TEST_CASE(a_heap_of_duplicates_does_not_change_an_item)
{
    auto options = with_item();
    options.max_read = milliseconds(1);
    receive_stream stream(options);
    for (const std::uint64_t run : { 0, 1 })
        for (std::uint64_t i = 0; i < 5; ++i)
            stream.receive(heap(1 + 10 * run + i, i * heap_samples, 5 + run));
    stream.end();
    const auto values = stream.tags_of(sample_tag::kind::item);
    BOOST_REQUIRE(values.size() == 1);
    BOOST_TEST(values[0].second == 5u);
}

// Each run describes its samples once, in its first heap. It may begin before the sender
// of the previous one counts as silent, or soon after the previous change.
BOOST_AUTO_TEST_CASE(samples_are_decoded_in_the_format_of_their_run)
{
    for (const bool is_same_sender : { false, true })
        for (const int pause : { 30, 120, 300, 700, 1100 }) {
            receive_stream::options options;
            options.type = sample_type::int16;
            options.format = nullptr;
            receive_stream stream(options);
            constexpr std::uint64_t heaps = 40, runs = 3;
            for (std::uint64_t run = 0; run < runs; ++run) {
                const bool is_big = run % 2 == 0;
                const sample_format format{
                    sample_type::int16,
                    { 'i', 16, is_big ? byte_order::big : byte_order::little }
                };
                for (std::uint64_t i = 0; i < heaps; ++i) {
                    auto content = i ? heap_content() : descriptors(format);
                    add_samples(
                        content, run * first_tick + i * 500, 1000, std::byte{ 1 });
                    for (std::size_t k = is_big ? 1 : 2; k <= 1000; k += 2)
                        content.payload[content.payload.size() - k] = std::byte{ 0 };
                    // the counter of the second run goes on; that of the third restarts
                    const auto counter = 1 + i + (run == 1 ? heaps : 0);
                    for (const auto& packet : heap_cutter{ flavour, 2000 }.cut(
                             counter, content.pointers, content.payload))
                        stream.receive(packet, 0, is_same_sender ? 1 : 1 + run);
                    stream.now += milliseconds(10);
                }
                stream.now += milliseconds(pause);
            }
            stream.end();
            const auto& out = stream.out[0];
            const auto* numbers = reinterpret_cast<const std::int16_t*>(out.data());
            const auto* end = numbers + out.size() / sizeof *numbers;
            BOOST_TEST_CONTEXT("same sender " << is_same_sender << ", " << pause << " ms")
            {
                const auto right = std::count(numbers, end, 0x0100);
                BOOST_TEST(std::count(numbers, end, 0x0001) == 0);
                // another sender is received once the one before is silent
                BOOST_TEST(right >= static_cast<std::ptrdiff_t>(
                                        is_same_sender ? runs * heaps * 500
                                                       : (runs * heaps - 30) * 500));
            }
        }
}

// A sender restarts from the same port with numbers in the other byte order.
BOOST_AUTO_TEST_CASE(restarted_senders_are_decoded_in_their_format)
{
    struct restart {
        const char* name;
        bool describes_all = false; // more heaps a second than are read of others
        bool is_swapped = false;    // the packets of the first heap
        bool is_repeated = false;   // counters and times of the first run
        std::size_t outputs = 1;    // with heap counters of their own
    };
    for (const restart& kind : { restart{ "descriptors in all heaps", true },
                                 restart{ "first packets swapped", false, true },
                                 restart{ "from scratch", false, false, true },
                                 restart{ "two outputs", false, false, false, 2 } })
        for (const int pause : { 120, 300, 700, 1100 }) {
            receive_stream::options options;
            options.type = sample_type::int16;
            options.format = nullptr;
            options.outputs = kind.outputs;
            options.has_own_sockets = kind.outputs > 1;
            receive_stream stream(options);
            constexpr std::uint64_t heaps = 100;
            for (const bool is_big : { true, false }) {
                const sample_format format{
                    sample_type::int16,
                    { 'i', 16, is_big ? byte_order::big : byte_order::little }
                };
                const auto tick = is_big || kind.is_repeated ? 0 : first_tick;
                for (std::uint64_t i = 0; i < heaps; ++i)
                    for (std::size_t output = 0; output < kind.outputs; ++output) {
                        auto content = i && !kind.describes_all ? heap_content()
                                                                : descriptors(format);
                        add_samples(content, tick + i * 500, 1000, std::byte{ 1 });
                        for (std::size_t k = is_big ? 1 : 2; k <= 1000; k += 2)
                            content.payload[content.payload.size() - k] = std::byte{ 0 };
                        auto packets = heap_cutter{ flavour, 1200 }.cut(
                            1 + i + 1000 * output, content.pointers, content.payload);
                        if (i == 0 && kind.is_swapped)
                            std::reverse(packets.begin(), packets.end());
                        for (const auto& packet : packets)
                            stream.receive(packet, output);
                        stream.now += milliseconds(1);
                    }
                stream.now += milliseconds(pause);
            }
            stream.end();
            for (const auto& out : stream.out) {
                const auto* numbers = reinterpret_cast<const std::int16_t*>(out.data());
                const auto* end = numbers + out.size() / sizeof *numbers;
                BOOST_TEST_CONTEXT(kind.name << ", " << pause << " ms")
                {
                    BOOST_TEST(std::count(numbers, end, 0x0001) == 0);
                    BOOST_TEST(std::count(numbers, end, 0x0100) ==
                               static_cast<std::ptrdiff_t>(2 * heaps * 500));
                }
            }
        }
}

// A sender pauses. Meanwhile, another one describes samples that cannot be received.
BOOST_AUTO_TEST_CASE(a_stray_descriptor_does_not_end_a_stream)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    for (std::uint64_t i = 0; i < 10; ++i)
        stream.receive(i ? heap_with_items_in_first_packet(1 + i, i * heap_samples)
                         : heap_with_descriptors(1, 0));
    stream.pass_time(milliseconds(300));
    const auto stray = descriptors({ sample_type::int16, { 'i', 16 } });
    for (const auto& packet :
         heap_cutter{ flavour, 2000 }.cut(1, stray.pointers, stray.payload))
        stream.receive(packet, 0, 2);
    for (std::uint64_t i = 10; i < 20; ++i)
        stream.receive(heap_with_items_in_first_packet(1 + i, i * heap_samples));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 20 * heap_samples);
}

// The timestamp and the samples have their item pointers in different packets.
BOOST_AUTO_TEST_CASE(a_pointer_to_the_samples_does_not_identify_a_heap)
{
    for (const int pause : { 150, 300, 900 }) {
        receive_stream stream;
        const auto send = [&](std::uint64_t i, std::uint64_t tick, std::byte sample) {
            const heap_cutter cutter{ flavour, heap_samples / 10, true };
            auto packets =
                cutter.cut(1 + i,
                           { flavour.immediate(0x1600, tick + i * heap_samples),
                             flavour.addressed(0x3300, 0) },
                           packet_bytes(heap_samples, sample));
            for (std::size_t k = 0; k < packets.size(); ++k) {
                const auto pointer = packets[k].begin() + 8 * (k ? 5 : 6);
                packets[k].erase(pointer, pointer + 8);
                packets[k][7] = std::byte{ 5 };
            }
            return packets;
        };
        stream.receive(send(0, 0, std::byte{ 1 }));
        auto last = send(1, 0, std::byte{ 1 });
        last.resize(4);
        stream.receive(last);
        stream.pass_time(milliseconds(pause));
        auto first = send(1, first_tick, std::byte{ 2 }); // the same counter
        first.erase(first.begin());
        stream.receive(first);
        for (std::uint64_t i = 2; i < 5; ++i)
            stream.receive(send(i, first_tick, std::byte{ 2 }));
        stream.end();
        const auto& out = stream.out[0];
        BOOST_TEST_CONTEXT(pause << " ms")
        BOOST_TEST(
            std::count(out.begin(), out.begin() + 2 * heap_samples, std::byte{ 2 }) == 0);
    }
}

// The heaps before are not decoded as the later descriptors say.
BOOST_AUTO_TEST_CASE(heaps_that_cannot_be_received_do_not_wait_for_other_descriptors)
{
    for (const std::uint64_t sender : { 1, 2 }) {
        receive_stream::options options;
        options.format = nullptr;
        receive_stream stream(options);
        const auto send = [&](std::uint64_t i, sample_format format, std::uint64_t from) {
            auto heap = i % 10 ? heap_content() : descriptors(format);
            add_samples(heap,
                        i * heap_samples,
                        heap_samples * format.wire.bits / 8,
                        std::byte(format.wire.bits));
            const heap_cutter cutter{ flavour, 4000, false };
            for (const auto& packet : cutter.cut(1 + i, heap.pointers, heap.payload))
                stream.receive(packet, 0, from);
        };
        for (std::uint64_t i = 0; i < 20; ++i)
            send(i, { sample_type::int16, { 'i', 16 } }, 1);
        stream.pass_time(milliseconds(300));
        for (std::uint64_t i = 20; i < 40; ++i)
            send(i, { sample_type::int8, { 'i', 8 } }, sender);
        stream.end();
        const auto& out = stream.out[0];
        BOOST_TEST(std::count(out.begin(), out.end(), std::byte{ 16 }) == 0);
        BOOST_TEST(stream.counters[0].samples_received.get() == 20 * heap_samples);
    }
}

BOOST_AUTO_TEST_SUITE_END()
