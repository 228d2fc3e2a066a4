/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Where the packets of a heap belong, by its items, or by its counter alone.

#include "helpers/receive_stream.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

constexpr std::size_t heap_samples = 256;
constexpr std::uint64_t timestamp_id = 0x1600;
constexpr std::uint64_t selector_id = 0x3101;
constexpr std::uint64_t samples_id = 0x3300;
constexpr std::uint64_t packets_in_heap = 4;

//! Never 0, which stands for a missing sample.
std::byte sample_at(std::size_t output, std::uint64_t time)
{
    return static_cast<std::byte>(1 + (time * 37 + 101 * output) % 251);
}

packet_bytes samples_at(std::size_t output, std::uint64_t time, std::size_t n)
{
    packet_bytes samples;
    for (std::size_t i = 0; i < n; ++i)
        samples.push_back(sample_at(output, time + i));
    return samples;
}

//! As spead2 sends it: items in the first packet only.
std::vector<packet_bytes> heap_of(std::uint64_t counter,
                                  std::uint64_t time,
                                  std::size_t output = 0,
                                  bool repeats_pointers = false)
{
    heap_cutter cutter;
    cutter.repeats_pointers = repeats_pointers;
    const auto& flavour = cutter.flavour;
    return cutter.cut(counter,
                      { flavour.immediate(timestamp_id, time),
                        flavour.immediate(selector_id, output),
                        flavour.addressed(samples_id, 0) },
                      samples_at(output, time, heap_samples));
}

packet_bytes end_of_stream(std::uint64_t counter)
{
    constexpr wire::flavour flavour{ 48 };
    return packet_of(
        { flavour.immediate(wire::heap_counter, counter),
          flavour.immediate(wire::heap_length, 0),
          flavour.immediate(wire::payload_offset, 0),
          flavour.immediate(wire::payload_length, 0),
          flavour.immediate(wire::stream_control, wire::stream_control_stop) },
        {});
}

receive_stream::options two_outputs()
{
    auto format = std::make_shared<stream_format>();
    format->immediates = { { selector_id, "selector", { 0, 1 } } };
    receive_stream::options options;
    options.outputs = 2;
    options.format = format;
    return options;
}

//! Each sample is that of its time, or a zero. Returns the number of zeros.
std::size_t zeros_in(const receive_stream& stream)
{
    std::size_t zeros = 0;
    for (std::size_t output = 0; output < stream.out.size(); ++output) {
        const auto tags = stream.tags_of(sample_tag::kind::timestamp, output);
        BOOST_REQUIRE(!tags.empty());
        auto next = tags.begin();
        std::uint64_t time = 0;
        for (std::size_t i = 0; i < stream.out[output].size(); ++i, ++time) {
            if (next != tags.end() && next->first == i)
                time = (next++)->second;
            const auto sample = stream.out[output][i];
            if (sample == std::byte{})
                ++zeros;
            else
                BOOST_REQUIRE_EQUAL(std::to_integer<int>(sample),
                                    std::to_integer<int>(sample_at(output, time)));
        }
    }
    return zeros;
}

} // namespace

BOOST_AUTO_TEST_SUITE(heap_places_test)

// A heap without samples takes a counter: by its counter, the next heap of one output
// could be that of the other one.
BOOST_AUTO_TEST_CASE(a_heap_is_not_taken_for_one_of_the_other_output)
{
    for (const bool is_lost : { true, false }) {
        receive_stream stream(two_outputs());
        std::uint64_t counter = 0;
        for (std::uint64_t i = 0; i < 12; ++i)
            for (const std::size_t output : { 0, 1 }) {
                const bool is_late = i == 6 && output == 0;
                counter += is_late ? 2 : 1;
                auto heap = heap_of(counter, i * heap_samples, output);
                if (is_late && is_lost)
                    heap.erase(heap.begin());
                else if (is_late)
                    std::swap(heap[0], heap[1]);
                stream.take(heap);
            }
        stream.end();
        BOOST_TEST(zeros_in(stream) == (is_lost ? heap_samples : 0));
    }
}

BOOST_AUTO_TEST_CASE(outputs_may_have_several_heaps_in_turn)
{
    receive_stream stream(two_outputs());
    std::uint64_t counter = 0;
    for (std::uint64_t turn = 0; turn < 4; ++turn)
        for (const std::size_t output : { 0, 1 })
            for (std::uint64_t i = 4 * turn; i < 4 * turn + 4; ++i) {
                auto heap = heap_of(++counter, i * heap_samples, output);
                if (output == 1 && i == 4)
                    heap.erase(heap.begin());
                stream.take(heap);
            }
    stream.end();
    BOOST_TEST(zeros_in(stream) == heap_samples);
}

BOOST_AUTO_TEST_CASE(senders_with_the_same_counters_are_told_apart_by_their_items)
{
    receive_stream stream(two_outputs());
    for (std::uint64_t i = 0; i < 12; ++i) {
        const auto first = heap_of(1 + i, i * heap_samples, 0, true);
        const auto second = heap_of(1 + i, i * heap_samples, 1, true);
        for (std::size_t packet = 0; packet < packets_in_heap; ++packet) {
            if (i != 5 || packet != 2)
                stream.take(first[packet]);
            stream.take(second[packet]);
        }
    }
    stream.end();
    BOOST_TEST(zeros_in(stream) == heap_samples / packets_in_heap);
}

// Its counters are those of heaps that the first sender did not finish.
BOOST_AUTO_TEST_CASE(a_sender_that_starts_again_fills_no_heap_of_the_one_before)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 3; ++i) {
        auto heap = heap_of(1 + i, i * heap_samples);
        if (i == 2)
            heap.resize(1);
        stream.take(heap);
    }
    constexpr std::uint64_t later = 10;
    for (std::uint64_t i = 0; i < 6; ++i) {
        auto heap = heap_of(1 + i, (later + i) * heap_samples);
        if (i == 2)
            heap.erase(heap.begin());
        stream.take(heap);
    }
    stream.end();
    zeros_in(stream);
    BOOST_TEST(stream.common.discontinuities.get() == 0);
    BOOST_TEST(stream.out[0].size() == (later + 6) * heap_samples);
}

// The first heaps, and those of which no step is known.
BOOST_AUTO_TEST_CASE(packets_that_overtake_the_first_one_of_their_heap_wait_for_it)
{
    for (const bool is_regular : { true, false }) {
        receive_stream stream;
        std::uint64_t counter = 0;
        for (std::uint64_t i = 0; i < 12; ++i) {
            counter += is_regular ? 1 : 1 + i % 3;
            auto heap = heap_of(counter, i * heap_samples);
            if (i > 0 || !is_regular)
                std::swap(heap[0], heap[2]);
            stream.take(heap);
        }
        stream.end();
        BOOST_TEST(zeros_in(stream) == 0);
        BOOST_TEST(stream.out[0].size() == 12 * heap_samples);
        BOOST_TEST(stream.common.packets_ignored.get() == 0);
    }
}

// They could be of either sender.
BOOST_AUTO_TEST_CASE(packets_that_wait_when_the_stream_jumps_are_ignored)
{
    receive_stream stream;
    stream.take(heap_of(1, 0));
    auto unfinished = heap_of(2, heap_samples);
    unfinished.erase(unfinished.begin());
    stream.take(unfinished);
    constexpr std::uint64_t later = 1'000'000'000;
    for (std::uint64_t i = 0; i < 4; ++i)
        stream.take(heap_of(1 + i, later + i * heap_samples));
    stream.end();
    BOOST_TEST(zeros_in(stream) == 0);
    BOOST_TEST(stream.out[0].size() == 5 * heap_samples);
    BOOST_TEST(stream.common.packets_ignored.get() == packets_in_heap - 1);
}

BOOST_AUTO_TEST_CASE(packets_wait_for_a_second_at_most)
{
    receive_stream stream;
    for (const bool is_late : { false, true }) {
        const auto counter = is_late ? 2 : 1;
        const auto heap = heap_of(counter, 0);
        stream.take(heap[1]);
        stream.now += std::chrono::milliseconds(is_late ? 1100 : 900);
        stream.take(heap[0]);
        BOOST_TEST(stream.common.packets_ignored.get() == (is_late ? 1 : 0));
    }
}

// Later ones would wait for its counter, too.
BOOST_AUTO_TEST_CASE(a_stray_packet_is_not_waited_for_twice)
{
    receive_stream stream;
    for (std::uint64_t i = 0; i < 60; ++i) {
        if (i == 10)
            stream.take(heap_of(500'000, 0)[1]);
        auto heap = heap_of(1 + i, i * heap_samples);
        if (i == 45)
            heap.erase(heap.begin()); // behind a gap
        if (i != 44)
            stream.take(heap);
        stream.now += std::chrono::milliseconds(40);
    }
    stream.end();
    BOOST_TEST(zeros_in(stream) == heap_samples + heap_samples / packets_in_heap);
    BOOST_TEST(stream.counters[0].samples_late.get() == 0);
}

// Too wide for an immediate item.
BOOST_AUTO_TEST_CASE(a_timestamp_of_64_bits_is_not_cut)
{
    for (const auto jump : { std::uint64_t{ 1 } << 48, std::uint64_t{ 1 } << 49 }) {
        receive_stream stream;
        std::uint64_t time = 1'700'000'000'000'000'000;
        const heap_cutter cutter;
        for (std::uint64_t i = 0; i < 8; ++i, time += heap_samples) {
            if (i == 4)
                time += jump;
            packet_bytes content;
            append_word(content, time);
            const auto samples = samples_at(0, time, heap_samples);
            content.insert(content.end(), samples.begin(), samples.end());
            stream.take(cutter.cut(1 + i,
                                   { cutter.flavour.addressed(timestamp_id, 0),
                                     cutter.flavour.addressed(samples_id, 8) },
                                   content)[0]);
        }
        stream.end();
        zeros_in(stream);
        BOOST_TEST(stream.common.discontinuities.get() == 1);
        const auto tags = stream.tags_of(sample_tag::kind::timestamp);
        BOOST_REQUIRE(tags.size() == 2);
        BOOST_TEST(tags[1].second - tags[0].second == jump + 4 * heap_samples);
    }
}

// The value is in the first packet, and all packets say so.
BOOST_AUTO_TEST_CASE(a_timestamp_in_the_payload_is_that_of_all_packets)
{
    receive_stream stream;
    const heap_cutter cutter;
    for (std::uint64_t i = 0; i < 8; ++i) {
        packet_bytes content;
        append_word(content, i * heap_samples);
        const auto samples = samples_at(0, i * heap_samples, heap_samples);
        content.insert(content.end(), samples.begin(), samples.end());
        auto packets = cutter.cut(1 + i,
                                  { cutter.flavour.addressed(timestamp_id, 0),
                                    cutter.flavour.addressed(samples_id, 8) },
                                  content);
        if (i == 4)
            std::swap(packets[0], packets[1]);
        stream.take(packets);
    }
    stream.end();
    BOOST_TEST(zeros_in(stream) == 0);
    BOOST_TEST(stream.counters[0].heaps_received.get() == 8);
}

// Without timestamps nothing else tells it from the heap of that counter.
BOOST_AUTO_TEST_CASE(an_end_of_stream_may_have_the_counter_of_a_heap)
{
    receive_stream::options options;
    auto format = std::make_shared<stream_format>();
    format->timestamp_id.reset();
    options.format = format;
    receive_stream stream(options);
    stream.take(heap_of(1, 0));
    stream.take(end_of_stream(1));
    BOOST_TEST(stream.to.has_stopped());
}

BOOST_AUTO_TEST_CASE(an_end_of_stream_needs_no_descriptors)
{
    receive_stream::options options;
    options.format = nullptr;
    receive_stream stream(options);
    stream.take(heap_of(1, 0));
    BOOST_TEST(!stream.to.has_stopped());
    stream.take(end_of_stream(2));
    BOOST_TEST(stream.to.has_stopped());
}

BOOST_AUTO_TEST_CASE(items_may_be_spread_over_the_packets_of_a_heap)
{
    receive_stream stream(two_outputs());
    const heap_cutter cutter;
    const auto& flavour = cutter.flavour;
    constexpr std::uint64_t heaps = 5;
    for (std::uint64_t i = 0; i < 2 * heaps; ++i) {
        const auto output = i % 2;
        const auto content = samples_at(output, i / 2 * heap_samples, heap_samples);
        const std::vector<std::uint64_t> first{ flavour.immediate(timestamp_id,
                                                                  i / 2 * heap_samples),
                                                flavour.immediate(selector_id, output),
                                                flavour.addressed(samples_id, 0) };
        auto packets = cutter.cut(1 + i, first, content);
        const std::vector<std::uint64_t> others{ flavour.immediate(0x3102, 7) };
        packets[1] = cutter.cut(1 + i, others, content)[1];
        stream.take(packets);
    }
    stream.end();
    BOOST_TEST(zeros_in(stream) == 0);
    BOOST_TEST(stream.counters[0].heaps_received.get() == heaps);
}

BOOST_AUTO_TEST_SUITE_END()
