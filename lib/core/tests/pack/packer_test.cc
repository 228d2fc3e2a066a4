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

bytes as_bytes(const std::vector<std::int8_t>& samples)
{
    return { samples.begin(), samples.end() };
}

// Checks the samples, timestamps and heap counters of a complete stream.
void check_stream(const packing& p,
                  const std::vector<bytes>& datagrams,
                  const std::vector<std::int8_t>& samples)
{
    auto heaps = reassemble(datagrams);
    const std::uint64_t whole = samples.size() / p.heap_samples;
    const std::uint64_t rest = samples.size() % p.heap_samples;
    if (p.stop) {
        BOOST_REQUIRE(!heaps.empty());
        BOOST_CHECK(heaps.back().is_stop());
        BOOST_CHECK_EQUAL(heaps.back().counter, whole + (rest ? 2 : 1));
        heaps.pop_back();
    }
    BOOST_REQUIRE_EQUAL(heaps.size(), whole + (rest && p.tail != tail_policy::drop));

    bytes received;
    for (std::size_t i = 0; i < heaps.size(); ++i) {
        BOOST_CHECK_EQUAL(heaps[i].counter, i + 1);
        BOOST_CHECK_EQUAL(heaps[i].immediate(0x1600), 1000 + i * p.heap_samples);
        const auto content = heaps[i].content(0x3300);
        BOOST_REQUIRE(content);
        received.insert(received.end(), content->begin(), content->end());
    }
    auto expected = as_bytes(samples);
    const auto config = p.config();
    const bool is_buffered =
        config.is_buffered(config.regular, p.slots) &&
        config.is_buffered(config.first.value_or(config.regular), p.slots);
    if (p.tail != tail_policy::shorten ||
        (!is_buffered && received.size() > expected.size()))
        expected.resize(heaps.size() * p.heap_samples);
    BOOST_CHECK(received == expected);
}

const auto policies = { tail_policy::shorten, tail_policy::pad, tail_policy::drop };

} // namespace

BOOST_AUTO_TEST_SUITE(packer)

BOOST_AUTO_TEST_CASE(packets_do_not_depend_on_chunk_sizes)
{
    std::mt19937 random(2);
    for (const std::uint64_t heap : { 1, 7, 1000, 8192 })
        for (const std::size_t limit : { 104u, 1472u, 65507u })
            for (const auto tail : policies) {
                packing p;
                p.heap_samples = heap;
                p.max_packet = limit;
                p.tail = tail;
                const auto samples = noise(2 * heap + heap / 3 + 1);
                const auto expected = pack(p, samples);
                for (const std::size_t largest : { std::size_t{ 3 }, limit, 4 * heap }) {
                    if (samples.size() / largest > 20000)
                        continue;
                    // a small ring as well, which makes writes incomplete
                    for (const std::size_t slots :
                         { std::size_t{ 4096 }, std::size_t{ 0 } }) {
                        packing q = p;
                        q.slots = std::max(slots, p.config().min_ring_slots());
                        packed_stream stream(q);
                        std::uniform_int_distribution<std::size_t> size(1, largest);
                        stream.write(samples, [&] { return size(random); });
                        stream.end();
                        if (slots) {
                            BOOST_CHECK(stream.datagrams == expected);
                        } else {
                            check_stream(q, stream.datagrams, samples);
                        }
                    }
                }
            }
}

BOOST_AUTO_TEST_CASE(streams_may_end_at_any_sample)
{
    for (const auto tail : policies)
        for (const bool descriptors : { false, true })
            for (const std::uint64_t heap : { 1, 8, 50 })
                for (const std::size_t limit : { 104u, 200u })
                    // buffered whole, and sent as it fills
                    for (const std::size_t slots :
                         { std::size_t{ 4096 }, std::size_t{ 0 } }) {
                        packing p;
                        p.heap_samples = heap;
                        p.max_packet = limit;
                        p.tail = tail;
                        p.descriptors = descriptors;
                        p.slots = std::max(slots, p.config().min_ring_slots());
                        for (std::uint64_t n = 0; n <= 3 * heap; ++n) {
                            const auto samples = noise(n);
                            packed_stream stream(p);
                            stream.write(samples, [&] { return n; });
                            stream.end();
                            check_stream(p, stream.datagrams, samples);
                            const auto tail_size = n % heap;
                            const auto dropped = stream.samples_abandoned +
                                                 stream.counters.samples_dropped.get();
                            BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), n);
                            BOOST_CHECK_EQUAL(dropped,
                                              tail == tail_policy::drop ? tail_size : 0);
                            BOOST_CHECK_EQUAL(stream.samples_completed + dropped, n);
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
