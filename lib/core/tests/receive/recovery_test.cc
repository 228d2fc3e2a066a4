/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Sequences of packets that once gave wrong samples, or none any more.

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

// Its samples are 127.
std::vector<packet_bytes> marked_heap(std::uint64_t counter, std::uint64_t tick)
{
    const heap_cutter cutter{ flavour, heap_samples / 10, false };
    return cutter.cut(counter,
                      { flavour.immediate(0x1600, tick), flavour.addressed(0x3300, 0) },
                      packet_bytes(heap_samples, std::byte{ 127 }));
}

// Of the sender and the counter of the sixth heap.
packet_bytes intruder(std::uint64_t tick) { return marked_heap(6, tick)[0]; }

// Ten heaps. The intruder arrives after four packets of the sixth one.
void take_heaps_with_intruder(receive_stream& stream,
                              const packet_bytes& intruding,
                              bool repeats_pointers = false)
{
    for (std::uint64_t i = 0; i < 10; ++i) {
        const auto packets =
            heap(1 + i, first_tick + i * heap_samples, 0, repeats_pointers);
        for (std::size_t k = 0; k < packets.size(); ++k) {
            if (i == 5 && k == 4)
                stream.take(intruding);
            stream.take(packets[k]);
            stream.now += std::chrono::microseconds(100);
        }
    }
    stream.pass(milliseconds(2000));
    stream.end();
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

BOOST_AUTO_TEST_CASE(a_jump_whose_first_two_heaps_are_swapped_is_one_discontinuity)
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

BOOST_AUTO_TEST_CASE(two_heaps_of_unknown_length_are_received)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 2; ++i) {
        stream.take(heap_without_length(
            1 + i, i * heap_samples, heap_samples, heap_samples / 10));
        stream.now += milliseconds(1);
    }
    stream.pass(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 2 * heap_samples);
}

BOOST_AUTO_TEST_CASE(packets_of_heaps_of_unknown_length_may_cut_samples)
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
    for (std::uint64_t i = 0; i < 6; ++i)
        for (const auto& each : heap_without_length(1 + i, i * samples, samples, 1000)) {
            stream.take(each);
            stream.now += std::chrono::microseconds(10);
        }
    stream.pass(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 6 * samples);
    BOOST_TEST(stream.counters[0].samples_missing.get() == 0);
}

BOOST_AUTO_TEST_CASE(without_timestamps_a_longer_first_heap_does_not_set_the_heap_length)
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

BOOST_AUTO_TEST_CASE(without_timestamps_a_heap_that_comes_late_fills_its_place)
{
    receive_stream stream(without_timestamps());
    for (const std::uint64_t counter : { 1, 2, 4, 3, 5 })
        stream.take(heap_without_timestamp(counter, heap_samples));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 5 * heap_samples);
    BOOST_TEST(stream.common.discontinuities.get() == 0);
}

BOOST_AUTO_TEST_CASE(without_timestamps_times_are_those_of_large_counters)
{
    receive_stream stream(without_timestamps());
    constexpr std::uint64_t counter = std::uint64_t{ 1 } << 45;
    stream.take(heap_without_timestamp(counter, 1 << 10));
    stream.end();
    BOOST_TEST(stream.tags_of(sample_tag::kind::timestamp)[0].second == counter << 10);
}

BOOST_AUTO_TEST_CASE(the_log_names_the_timestamp_step_of_heaps_that_overlap)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        stream.take(heap_with_items_in_first_packet(1 + i, i * 900));
        stream.now += milliseconds(1);
    }
    stream.end();
    stream.log.flush();
    const auto has_both = [](const std::string& line) {
        return line.find("heap_samples=1000") != line.npos &&
               line.find("timestamp_step=900") != line.npos;
    };
    BOOST_TEST(std::any_of(stream.log_lines.begin(), stream.log_lines.end(), has_both));
}

BOOST_AUTO_TEST_CASE(the_log_does_not_take_lost_heaps_for_another_timestamp_step)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 30; i += (i > 10 ? 1 : 2))
        stream.take(heap_with_items_in_first_packet(1 + i, i * heap_samples));
    stream.end();
    stream.log.flush();
    BOOST_TEST(stream.log_lines.empty());
}

BOOST_AUTO_TEST_CASE(packets_with_items_survive_a_packet_of_a_past_time_in_their_heap)
{
    receive_stream stream;
    take_heaps_with_intruder(stream, intruder(first_tick - 5 * heap_samples), true);
    BOOST_TEST(stream.counters[0].samples_received.get() == 10 * heap_samples);
}

BOOST_AUTO_TEST_CASE(the_counter_of_the_open_heap_does_not_take_the_place_of_the_next_one)
{
    receive_stream stream;
    take_heaps_with_intruder(stream, intruder(first_tick + 6 * heap_samples));
    const auto& out = stream.out[0];
    BOOST_TEST(std::count(out.begin(), out.end(), std::byte{ 127 }) == 0);
}

BOOST_AUTO_TEST_CASE(samples_of_a_restarted_sender_do_not_complete_its_old_descriptors)
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

BOOST_AUTO_TEST_CASE(packets_without_items_do_not_complete_a_heap_from_before_a_silence)
{
    receive_stream stream;
    auto before = heap_with_items_in_first_packet(1, 0);
    before.resize(5);
    stream.take(before);
    stream.pass(milliseconds(3000));
    auto again = marked_heap(1, first_tick);
    again.erase(again.begin());
    stream.take(again);
    for (std::uint64_t i = 1; i < 10; ++i)
        stream.take(
            heap_with_items_in_first_packet(1 + i, first_tick + i * heap_samples));
    stream.pass(milliseconds(2000));
    stream.end();
    const auto& out = stream.out[0];
    BOOST_TEST(std::count(out.begin(), out.end(), std::byte{ 127 }) == 0);
    BOOST_TEST(std::count(out.begin(), out.end(), std::byte{ 1 }) == heap_samples / 2);
}

BOOST_AUTO_TEST_CASE(without_timestamps_a_heap_is_not_of_two_runs_of_its_sender)
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

BOOST_AUTO_TEST_CASE(a_sender_that_starts_again_is_received_on_all_sockets)
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

BOOST_AUTO_TEST_CASE(packets_of_a_heap_may_be_seconds_apart)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 3; ++i)
        for (const auto& each : heap(1 + i, i * heap_samples, 0)) {
            stream.take(each);
            stream.pass(milliseconds(1500));
        }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 3 * heap_samples);
}

BOOST_AUTO_TEST_CASE(what_waited_for_descriptors_is_received_on_all_outputs)
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

BOOST_AUTO_TEST_CASE(an_item_may_be_described_while_its_heap_arrives)
{
    receive_stream::options how;
    how.format = nullptr;
    receive_stream stream(how);
    stream.take(heap_with_descriptors(1, 0));
    const auto part = [&](std::uint64_t offset, std::vector<std::uint64_t> items) {
        items.insert(items.begin(),
                     { flavour.immediate(wire::heap_counter, 2),
                       flavour.immediate(wire::heap_length, heap_samples),
                       flavour.immediate(wire::payload_offset, offset),
                       flavour.immediate(wire::payload_length, heap_samples / 2) });
        return packet_of(items, packet_bytes(heap_samples / 2, std::byte{ 2 }), flavour);
    };
    stream.take(part(0, { flavour.addressed(0x3300, 0) }));
    const auto description =
        descriptor_packet(immediate(item_id, "item", { 0 }), flavour);
    heap_cutter cutter{ flavour, 1000, false };
    stream.take(cutter.cut(3, { flavour.addressed(wire::descriptor, 0) }, description));
    stream.take(
        part(heap_samples / 2,
             { flavour.immediate(0x1600, heap_samples), flavour.immediate(item_id, 5) }));
    stream.end();
    BOOST_TEST(std::any_of(stream.tags.begin(), stream.tags.end(), [](auto& tag) {
        return tag.what == sample_tag::kind::item && tag.value == 5;
    }));
}

// Two that are more than a second apart do not release each other for ever.
BOOST_AUTO_TEST_CASE(packets_of_an_incomplete_heap_may_wait_for_seconds)
{
    receive_stream::options how;
    how.format = nullptr;
    receive_stream stream(how);
    for (int i = 0; i < 3; ++i) {
        stream.take(heap_without_timestamp(1, heap_samples)[0]);
        stream.now += milliseconds(1200);
    }
    stream.take(heap_with_descriptors(2, 0));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == heap_samples);
}

BOOST_AUTO_TEST_CASE(descriptors_of_another_sender_do_not_change_the_stream)
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

BOOST_AUTO_TEST_CASE(an_item_that_varies_does_not_tell_senders_apart)
{
    receive_stream stream(with_item());
    for (std::uint64_t i = 0; i < 100; ++i) {
        const auto wrong = i == 51 ? heap_samples : 0; // the item has just changed
        stream.take(heap(1 + i, first_tick + i * heap_samples - wrong, i / 3 % 2));
        stream.now += milliseconds(1);
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 99 * heap_samples);
}

BOOST_AUTO_TEST_CASE(a_sender_may_start_its_counters_again_after_a_pause)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 100; ++i) {
        stream.take(heap_with_items_in_first_packet(1 + i, i * heap_samples));
        stream.now += milliseconds(1);
    }
    stream.pass(milliseconds(3000));
    for (std::uint64_t i = 0; i < 100; ++i) {
        stream.take(heap_with_items_in_first_packet(1 + i, 150000 + i * heap_samples));
        stream.now += milliseconds(1);
    }
    stream.pass(milliseconds(2000));
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == 200 * heap_samples);
}

BOOST_AUTO_TEST_CASE(a_heap_that_is_repeated_behind_the_end_does_not_begin_a_stream)
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

BOOST_AUTO_TEST_CASE(descriptors_are_not_mixed_with_a_heap_of_another_endpoint)
{
    receive_stream::options how;
    how.format = nullptr;
    how.outputs = 2;
    how.has_own_sockets = true;
    receive_stream stream(how);
    const auto with_descriptors = heap_with_descriptors(1, 0);
    const auto other = heap_with_items_in_first_packet(1, 0);
    for (std::size_t i = 0; i < with_descriptors.size(); ++i) {
        stream.take(with_descriptors[i], 0);
        if (i < other.size())
            stream.take(other[i], 1);
    }
    stream.pass(milliseconds(2000));
    stream.end();
    for (const auto& counters : stream.counters)
        BOOST_TEST(counters.samples_received.get() == heap_samples);
}

BOOST_AUTO_TEST_CASE(a_sample_is_not_made_of_the_bytes_of_two_senders)
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

BOOST_AUTO_TEST_CASE(the_packet_with_the_timestamp_may_overtake_the_first_one)
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

BOOST_AUTO_TEST_CASE(packets_may_have_other_items_in_front_of_those_of_their_heap)
{
    receive_stream stream;
    for (std::uint64_t at = 0; at < heap_samples; at += 100) {
        std::vector<std::uint64_t> pointers{
            flavour.immediate(wire::heap_counter, 1),
            flavour.immediate(wire::heap_length, heap_samples),
            flavour.immediate(wire::payload_offset, at),
            flavour.immediate(wire::payload_length, 100)
        };
        if (at == 0)
            pointers.push_back(flavour.immediate(0x4000, 1));
        pointers.push_back(flavour.immediate(0x1600, first_tick));
        pointers.push_back(flavour.addressed(0x3300, 0));
        stream.take(packet_of(pointers, packet_bytes(100, std::byte{ 1 }), flavour));
    }
    stream.end();
    BOOST_TEST(stream.counters[0].samples_received.get() == heap_samples);
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
