/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The fuzz target of the packer tests types, items, destinations, gaps and ends of
// streams.

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(packer)

BOOST_AUTO_TEST_CASE(packets_do_not_depend_on_chunk_sizes)
{
    std::mt19937 random(2);
    for (const std::uint64_t heap : { 1, 7, 1000, 8192 })
        for (const std::size_t limit : { 104u, 1472u, 65507u }) {
            packing p;
            p.heap_samples = heap;
            p.max_packet = limit;
            const auto samples = noise(2 * heap + heap / 3 + 1);
            const auto expected = pack(p, samples);
            for (const std::size_t largest : { std::size_t{ 3 }, limit, 4 * heap }) {
                packed_stream stream(p);
                std::uniform_int_distribution<std::size_t> size(1, largest);
                for (std::size_t at = 0; at < samples.size();)
                    at +=
                        stream.packer.write(raw(samples.data() + at),
                                            std::min(size(random), samples.size() - at));
                stream.end();
                BOOST_CHECK(stream.datagrams == expected);
            }
        }
}

BOOST_AUTO_TEST_CASE(counters_and_timestamps_wrap_at_the_address_width)
{
    for (const unsigned bits : { 40u, 48u }) {
        packing p;
        p.descriptors = false;
        p.heap_samples = 8;
        p.address_bits = bits;
        auto config = p.config();
        const auto last = (std::uint64_t{ 1 } << bits) - 1;
        config.heap_id_start = last;
        config.timestamp_start = last;
        config.timestamp_step = 3;
        packet_ring ring(64, config.regular.packet_bytes());
        sink_counter_set counters;
        input_packer packer(config, ring, counters, [] {});
        const auto samples = noise(16);
        BOOST_REQUIRE_EQUAL(packer.write(raw(samples.data()), 16), 16u);
        for (const std::uint64_t i : { 0, 1 }) {
            const auto* at = reinterpret_cast<std::uint8_t*>(ring.data(i));
            const auto decoded = decode({ at, at + ring.info(i).bytes });
            BOOST_CHECK_EQUAL(decoded.get(1), i ? 0 : last);
            BOOST_CHECK_EQUAL(decoded.get(0x1600), i ? 2 : last);
        }
    }
}

BOOST_AUTO_TEST_CASE(clipping_is_counted_once_per_split_sample)
{
    for (const auto* name : { "n", "nn" }) {
        packing p;
        p.type = sample_type::complex64;
        p.max_packet = 104;
        p.heap_samples = 300;
        // with one of the names, packets end in the middle of a sample
        p.items = { timestamp(0x1600, "t", "t"), samples(0x3300, name, "d") };
        packed_stream stream(p);
        stream.write_all(std::vector<float>(2 * 1000, 1000.0f));
        stream.end();
        BOOST_CHECK_EQUAL(stream.counters.samples_clipped.get(), 1000u);
    }
}

BOOST_AUTO_TEST_CASE(full_ring_drops_whole_heaps)
{
    packing p;
    p.heap_samples = 100;
    p.when_full = full_policy::drop;
    p.descriptors = false;
    p.slots = 16;
    packed_stream stream(p);
    const auto samples = noise(100 * 50);
    BOOST_CHECK_EQUAL(stream.packer.write(raw(samples.data()), samples.size()),
                      samples.size());
    stream.send();
    BOOST_CHECK_EQUAL(stream.packer.write(raw(samples.data()), 100), 100u);
    stream.end();

    auto heaps = reassemble(stream.datagrams);
    heaps.pop_back();
    const auto dropped = stream.counters.heaps_dropped.get();
    BOOST_CHECK_GT(dropped, 30u);
    BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(), 100 * dropped);
    BOOST_CHECK_EQUAL(heaps.size() + dropped, 51u);
    // dropped heaps use up their counters and timestamps
    BOOST_CHECK_EQUAL(heaps.back().counter, 51u);
    BOOST_CHECK_EQUAL(heaps.back().immediate(0x1600), 1000u + 50 * 100);
}

BOOST_AUTO_TEST_SUITE_END()
