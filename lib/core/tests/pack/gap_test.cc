/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Gaps that rx_time tags show. The fuzz target of the packer tests zeros in place of
// missing samples, and dropped unfinished heaps.

#include "helpers/packing.h"
#include "pack/rx_time_packer.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

packing heaps_of(std::uint64_t samples, std::size_t slots = 0)
{
    packing p;
    p.heap_samples = samples;
    p.max_packet = 200;
    p.descriptors = false;
    p.slots = slots;
    return p;
}

std::vector<heap> data_heaps(const packed_stream& stream)
{
    auto heaps = reassemble(stream.datagrams);
    while (!heaps.empty() && heaps.back().is_stop())
        heaps.pop_back();
    return heaps;
}

} // namespace

BOOST_AUTO_TEST_SUITE(gaps)

// A flow graph cannot stop during a call, so each call fills only part of a long gap.
BOOST_AUTO_TEST_CASE(long_gap_is_filled_in_several_calls)
{
    constexpr std::uint64_t max_fill = 1 << 20, size = 64, gap = 4 * max_fill;
    constexpr std::uint64_t rate = 1000000000;
    const auto in = noise(2 * size);
    for (const auto when_full : { full_policy::block, full_policy::drop }) {
        auto p = heaps_of(size, when_full == full_policy::drop ? 64 : 2 * gap / size);
        p.when_full = when_full;
        const auto heaps_packed = [&](packed_stream& stream) {
            return stream.counters.heaps_dropped.get() + stream.ring.published();
        };

        packed_stream stream(p);
        timestamp_aligner_config config{};
        config.heap_samples = config.timestamp_step = size;
        config.sample_rate = { rate };
        config.on_gap = gap_policy::zero_fill;
        rx_time_packer input(
            stream.packer, stream.counters, tick_clock(config.sample_rate, {}), config);
        const std::vector<rx_time_tag> tags{
            { 0, 0, 0 },
            // two gaps: the limit per call applies to their sum
            { size / 2, 0, static_cast<double>(gap / 2) / rate },
            { size, 0, static_cast<double>(gap) / rate },
        };
        std::size_t accepted = 0;
        for (std::uint64_t calls = 0; accepted < in.size(); ++calls) {
            BOOST_REQUIRE_LE(calls, 2 * gap / max_fill);
            const auto before = heaps_packed(stream);
            accepted += input.write(
                raw(in.data() + accepted), in.size() - accepted, accepted, tags);
            BOOST_REQUIRE_LE(heaps_packed(stream) - before, max_fill / size + 3);
            BOOST_REQUIRE_EQUAL(input.is_filling(), accepted < in.size());
        }

        // the same samples and zeros without a limit per call
        packed_stream whole(p);
        whole.packer.skip_to(0);
        const auto write_samples = [&](std::uint64_t begin, std::uint64_t end) {
            whole.packer.write(raw(in.data() + begin), end - begin);
        };
        write_samples(0, size / 2);
        whole.packer.write(nullptr, gap / 2 - size / 2);
        write_samples(size / 2, size);
        whole.packer.write(nullptr, gap - gap / 2 - size / 2);
        write_samples(size, 2 * size);
        BOOST_CHECK_EQUAL(stream.ring.published(), whole.ring.published());
        for (const auto member : { &sink_counter_set::samples_in,
                                   &sink_counter_set::samples_dropped,
                                   &sink_counter_set::samples_zero_filled,
                                   &sink_counter_set::heaps_dropped })
            BOOST_CHECK_EQUAL((stream.counters.*member).get(),
                              (whole.counters.*member).get());
        // later heaps do not differ either
        for (auto* const packed : { &stream, &whole }) {
            packed->send();
            packed->write_all(in);
            packed->end();
        }
        BOOST_CHECK(stream.datagrams == whole.datagrams);
    }
}

struct first_tag {
    unsigned address_bits;
    std::uint64_t seconds;
    std::vector<std::string> warnings;
};

const char* const wraps_40 =
    "the first rx_time tag is 1099512000000 ticks after sync_time, but timestamps have "
    "40 "
    "bits and wrap, so receivers see an earlier time: set sync_time, here and at the "
    "receivers, to less than 1099511 s before the tag, or heap_address_bits=48";
const char* const wraps_48 =
    "the first rx_time tag is 1600000000000000 ticks after sync_time, but timestamps "
    "have "
    "48 bits and wrap, so receivers see an earlier time: set sync_time, here and at the "
    "receivers, to less than 281474976 s before the tag";

BOOST_AUTO_TEST_CASE(first_tag_beyond_the_timestamps_raises_one_warning)
{
    constexpr std::uint64_t size = 1000;
    for (const auto& row : { first_tag{ 40, 1099510, {} },
                             first_tag{ 40, 1099512, { wraps_40 } },
                             first_tag{ 48, 1099512, {} },
                             first_tag{ 48, 281474975, {} },
                             first_tag{ 48, 1600000000, { wraps_48 } } }) {
        auto p = heaps_of(size);
        p.address_bits = row.address_bits;
        packed_stream stream(p);
        timestamp_aligner_config config{};
        config.heap_samples = config.timestamp_step = size;
        config.sample_rate = { 1000000 };
        rx_time_packer input(
            stream.packer, stream.counters, tick_clock(config.sample_rate, {}), config);
        const auto in = noise(size);
        const auto write = [&](std::uint64_t first, std::uint64_t seconds) {
            input.write(raw(in.data()), size, first, { { first, seconds, 0 } });
        };
        write(0, row.seconds);
        BOOST_TEST(input.take_warnings() == row.warnings,
                   boost::test_tools::per_element());
        // the timestamps may pass the largest one during a run
        write(size, row.seconds);
        write(2 * size, row.seconds + 2);
        const auto later = input.take_warnings();
        for (const auto& warning : later)
            BOOST_CHECK(warning.find("the first rx_time tag") == std::string::npos);
        stream.end();
        const auto heaps = data_heaps(stream);
        BOOST_REQUIRE_EQUAL(heaps.size(), 2u);
        const auto mask = (std::uint64_t{ 1 } << row.address_bits) - 1;
        BOOST_CHECK_EQUAL(heaps[0].immediate(0x1600), row.seconds * 1000000 & mask);
        BOOST_CHECK_EQUAL(heaps[1].immediate(0x1600), (row.seconds + 2) * 1000000 & mask);
    }
}

BOOST_AUTO_TEST_SUITE_END()
