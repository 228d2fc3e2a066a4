/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Zeros in place of samples that never came, and samples that have no place.

#include "helpers/gap_stream.h"
#include "pack/rx_time_packer.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

bytes as_bytes(const std::vector<std::int8_t>& samples)
{
    return { samples.begin(), samples.end() };
}

} // namespace

BOOST_AUTO_TEST_SUITE(zeros)

BOOST_AUTO_TEST_CASE(zeros_stand_where_they_were_written_and_are_not_counted)
{
    for (const auto size : { std::uint64_t{ 1000 }, large }) {
        packed_stream stream(heaps_of(size, small_ring));
        const auto part = noise(size / 4);
        bytes expected;
        const auto samples = [&](int times) {
            for (int i = 0; i < times; ++i) {
                stream.write_all(part);
                const auto as = as_bytes(part);
                expected.insert(expected.end(), as.begin(), as.end());
            }
        };
        const auto zeros = [&](std::uint64_t n) {
            stream.write_all_zeros(n);
            expected.resize(expected.size() + n);
        };
        samples(1);
        zeros(size / 4); // within a heap
        samples(1);
        zeros(3 * size); // over several
        samples(3);
        zeros(size / 2 + 1); // and at the end
        stream.end();
        bytes received;
        std::uint64_t n = 0;
        for (const auto& h : data_heaps(stream)) {
            BOOST_CHECK_EQUAL(h.counter, n + 1);
            BOOST_CHECK_EQUAL(h.immediate(0x1600), 1000 + n * size);
            const auto content = *h.content(0x3300);
            received.insert(received.end(), content.begin(), content.end());
            ++n;
        }
        BOOST_CHECK(received == expected);
        BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), 5 * (size / 4));
        BOOST_CHECK_EQUAL(stream.ended, 5 * (size / 4));
        BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(), 0u);
        BOOST_CHECK_EQUAL(stream.counters.samples_zero_filled.get(),
                          expected.size() - 5 * (size / 4));
        BOOST_CHECK_EQUAL(stream.heaps_ended, n);
    }
}

BOOST_AUTO_TEST_CASE(a_recycled_slot_counts_anew_what_came_in)
{
    auto p = heaps_of(100);
    p.slots = 16;
    packed_stream stream(p);
    const auto in = noise(100);
    for (std::uint64_t i = 0; i < 100; ++i) {
        const auto before = stream.ended;
        const auto zeros = i % 7 * 10;
        stream.write_all(std::vector<std::int8_t>(in.begin() + long(zeros), in.end()));
        stream.write_all_zeros(zeros);
        stream.send();
        BOOST_REQUIRE_EQUAL(stream.ended - before, 100 - zeros);
    }
}

BOOST_AUTO_TEST_CASE(zeros_wait_for_room)
{
    packed_stream stream(heaps_of(large, small_ring));
    const auto taken = stream.packer.write(nullptr, 10 * large);
    BOOST_CHECK_GT(taken, 0u);
    BOOST_CHECK_LT(taken, large);
    BOOST_CHECK_EQUAL(stream.packer.write(nullptr, 10 * large), 0u);
    stream.send();
    BOOST_CHECK_GT(stream.packer.write(nullptr, 10 * large), 0u);
}

BOOST_AUTO_TEST_CASE(zeros_of_every_type_are_zeros)
{
    for (const auto type : { sample_type::sc16, sample_type::complex64 }) {
        auto p = heaps_of(99);
        p.type = type;
        p.descriptors = true; // which cut samples in two
        packed_stream stream(p);
        stream.write_all_zeros(2 * 99 + 50);
        stream.end();
        const auto heaps = data_heaps(stream);
        BOOST_REQUIRE_EQUAL(heaps.size(), 3u);
        const auto sample = p.config().converter.output_bytes();
        BOOST_CHECK(*heaps[0].content(0x3300) == bytes(99 * sample));
        BOOST_CHECK(*heaps[2].content(0x3300) == bytes(50 * sample));
        BOOST_CHECK_EQUAL(stream.heaps_ended, 3u);
        BOOST_CHECK_EQUAL(stream.ended, 0u);
    }
}

BOOST_AUTO_TEST_CASE(tails_with_zeros_count_what_came_in)
{
    for (const auto size : { std::uint64_t{ 1000 }, large })
        for (const auto tail :
             { tail_policy::shorten, tail_policy::pad, tail_policy::drop })
            for (const std::uint64_t n : { 0u, 300u }) {
                auto p = heaps_of(size, small_ring);
                p.tail = tail;
                packed_stream stream(p);
                stream.write_all(noise(n));
                stream.write_all_zeros(200);
                stream.end();
                const bool drop = tail == tail_policy::drop;
                BOOST_CHECK_EQUAL(stream.ended, drop ? 0 : n);
                BOOST_CHECK_EQUAL(stream.heaps_ended, drop ? 0u : 1u);
                BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), n);
                BOOST_CHECK(stream.is_balanced());
                const auto heaps = data_heaps(stream);
                BOOST_REQUIRE_EQUAL(heaps.size(), drop ? 0u : 1u);
                if (!drop) {
                    const bool pads = tail == tail_policy::pad || size == large;
                    BOOST_CHECK_EQUAL(heaps[0].content(0x3300)->size(),
                                      pads ? size : n + 200);
                }
            }
}

BOOST_AUTO_TEST_CASE(zeros_of_a_heap_that_is_left_out_are_gone)
{
    auto p = heaps_of(1000, 16);
    p.when_full = full_policy::drop;
    p.slots = p.config().min_ring_slots();
    packed_stream stream(p);
    for (int i = 0; i < 10; ++i)
        BOOST_CHECK_EQUAL(stream.packer.write(raw(noise(1000).data()), 1000), 1000u);
    const auto samples = stream.counters.samples_dropped.get();
    const auto heaps = stream.counters.heaps_dropped.get();
    BOOST_CHECK_GT(samples, 0u);
    BOOST_CHECK_EQUAL(stream.packer.write(nullptr, 700), 700u);
    BOOST_CHECK_EQUAL(stream.packer.write(raw(noise(300).data()), 300), 300u);
    BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(), samples + 300);
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), heaps + 1);
    BOOST_CHECK_EQUAL(stream.counters.samples_zero_filled.get(), 0u);
    stream.send();
    // the next heap is the next one
    stream.write_all(noise(1000));
    stream.end();
    BOOST_CHECK_EQUAL(data_heaps(stream).back().immediate(0x1600), 1000u + 11 * 1000);
    BOOST_CHECK(stream.is_balanced());
}

BOOST_AUTO_TEST_CASE(samples_without_a_place_come_in_and_are_dropped)
{
    packed_stream stream(heaps_of(1000));
    stream.write_all(noise(500));
    stream.packer.drop(123);
    stream.write_all(noise(500));
    stream.end();
    BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), 1123u);
    BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(), 123u);
    BOOST_CHECK_EQUAL(stream.counters.heaps_dropped.get(), 0u);
    BOOST_CHECK_EQUAL(stream.ended, 1000u);
}

// While it fills a gap nobody can stop it. A call takes about as many samples.
BOOST_AUTO_TEST_CASE(a_long_gap_is_filled_in_several_calls)
{
    constexpr std::uint64_t most = 1 << 20, size = 64, gap = 4 * most;
    constexpr std::uint64_t rate = 1000000000;
    const auto in = noise(2 * size);
    for (const auto when_full : { full_policy::block, full_policy::drop }) {
        auto p = heaps_of(size, when_full == full_policy::drop ? 64 : 2 * gap / size);
        p.when_full = when_full;
        const auto packed = [&](packed_stream& stream) {
            return stream.counters.heaps_dropped.get() + stream.ring.published();
        };

        packed_stream stream(p);
        timeline_config config{};
        config.heap_samples = config.timestamp_step = size;
        config.sample_rate = { rate };
        config.on_gap = gap_policy::zero_fill;
        rx_time_packer input(
            stream.packer, stream.counters, tick_clock(config.sample_rate, {}), config);
        const std::vector<time_tag> tags{
            { 0, 0, 0 },
            // two of them: what counts is the sum
            { size / 2, 0, static_cast<double>(gap / 2) / rate },
            { size, 0, static_cast<double>(gap) / rate },
        };
        std::size_t taken = 0;
        for (std::uint64_t calls = 0; taken < in.size(); ++calls) {
            BOOST_REQUIRE_LE(calls, 2 * gap / most);
            const auto before = packed(stream);
            taken += input.write(raw(in.data() + taken), in.size() - taken, taken, tags);
            BOOST_REQUIRE_LE(packed(stream) - before, most / size + 3);
            BOOST_REQUIRE_EQUAL(input.is_filling(), taken < in.size());
        }

        // the same in one go
        packed_stream whole(p);
        whole.packer.skip_to(0);
        const auto samples = [&](std::uint64_t from, std::uint64_t to) {
            whole.packer.write(raw(in.data() + from), to - from);
        };
        samples(0, size / 2);
        whole.packer.write(nullptr, gap / 2 - size / 2);
        samples(size / 2, size);
        whole.packer.write(nullptr, gap - gap / 2 - size / 2);
        samples(size, 2 * size);
        BOOST_CHECK_EQUAL(stream.ring.published(), whole.ring.published());
        for (const auto which : { &sink_counter_set::samples_in,
                                  &sink_counter_set::samples_dropped,
                                  &sink_counter_set::samples_zero_filled,
                                  &sink_counter_set::heaps_dropped })
            BOOST_CHECK_EQUAL((stream.counters.*which).get(),
                              (whole.counters.*which).get());
        // and the heaps that come next
        for (auto* const one : { &stream, &whole }) {
            one->send();
            one->write_all(in);
            one->end();
        }
        BOOST_CHECK(stream.datagrams == whole.datagrams);
    }
}

BOOST_AUTO_TEST_SUITE_END()
