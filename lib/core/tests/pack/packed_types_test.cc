/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Samples of all types, in packets that may end in the middle of one.

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

struct kind {
    sample_type type;
    byte_order order;
    unsigned float_bits = 8;
};

const kind kinds[] = {
    { sample_type::int8, byte_order::big },
    { sample_type::sc8, byte_order::big },
    { sample_type::int16, byte_order::big },
    { sample_type::int16, byte_order::little },
    { sample_type::sc16, byte_order::big },
    { sample_type::sc16, byte_order::little },
    { sample_type::float32, byte_order::big },
    { sample_type::complex64, byte_order::big },
    { sample_type::float32, byte_order::big, 16 },
    { sample_type::complex64, byte_order::little, 16 },
};

// So many samples as they come in; those of floats are whole numbers in the range.
std::vector<std::byte> input(const kind& k, std::size_t samples)
{
    const auto size = sample_converter(k.type).input_bytes();
    const auto random = noise(samples * size);
    std::vector<std::byte> in(raw(random.data()), raw(random.data()) + random.size());
    if (is_float(k.type))
        for (std::size_t i = 0; i < in.size() / sizeof(float); ++i) {
            const float number = random[i];
            std::memcpy(&in[i * sizeof(float)], &number, sizeof(float));
        }
    return in;
}

bytes on_the_wire(const kind& k, const std::vector<std::byte>& in)
{
    bytes out;
    const bool words = bits_of(k.type, k.float_bits) == 16;
    if (is_float(k.type)) {
        for (std::size_t i = 0; i < in.size(); i += sizeof(float)) {
            float number;
            std::memcpy(&number, &in[i], sizeof number);
            const auto integer = static_cast<int>(number);
            out.push_back(static_cast<std::uint8_t>(integer));
            if (words)
                out.push_back(static_cast<std::uint8_t>(integer >> 8));
        }
    } else {
        const auto* at = reinterpret_cast<const std::uint8_t*>(in.data());
        out.assign(at, at + in.size());
    }
    if (words && k.order == byte_order::big)
        for (std::size_t i = 0; i < out.size(); i += 2)
            std::swap(out[i], out[i + 1]); // these tests run on little machines
    return out;
}

// Packets whose prefix of descriptors is so long that samples are cut in two.
packing cutting(const kind& k, std::size_t name_bytes)
{
    packing p;
    p.type = k.type;
    p.order = k.order;
    p.float_bits = k.float_bits;
    p.max_packet = 104;
    p.items = { timestamp(0x1600, "t", "t"),
                samples(0x3300, std::string(name_bytes, 'n'), "d") };
    return p;
}

bytes content(const std::vector<heap>& heaps)
{
    bytes all;
    for (const auto& h : heaps)
        if (const auto part = h.content(0x3300))
            all.insert(all.end(), part->begin(), part->end());
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(types_in_packets)

BOOST_AUTO_TEST_CASE(every_type_arrives_as_it_is_wherever_packets_end)
{
    for (const auto& k : kinds)
        for (std::size_t name = 1; name <= 4; ++name)
            for (const auto tail : { tail_policy::shorten, tail_policy::pad })
                // held as a whole, and sent as it fills
                for (const std::size_t slots : { std::size_t{ 4096 }, std::size_t{ 0 } })
                    for (const std::size_t n : { 40u, 41u, 100u, 103u }) {
                        auto p = cutting(k, name);
                        p.heap_samples = 41;
                        p.tail = tail;
                        p.slots = std::max(slots, p.config().min_ring_slots());
                        packed_stream stream(p);
                        const auto in = input(k, n);
                        stream.write_all(in);
                        stream.end();
                        auto expected = on_the_wire(k, in);
                        const auto sample = expected.size() / n;
                        const auto zeros = stream.counters.samples_zero_filled.get();
                        if (tail == tail_policy::pad)
                            BOOST_CHECK_EQUAL(zeros, (n + 40) / 41 * 41 - n);
                        else if (slots)
                            BOOST_CHECK_EQUAL(zeros, 0u);
                        expected.resize((n + zeros) * sample);
                        BOOST_CHECK(content(reassemble(stream.datagrams)) == expected);
                        BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), n);
                        BOOST_CHECK_EQUAL(stream.ended, n);
                        BOOST_CHECK_EQUAL(stream.counters.samples_clipped.get(), 0u);
                    }
}

BOOST_AUTO_TEST_CASE(any_chunking_gives_identical_packets_of_every_type)
{
    std::mt19937 random(3);
    for (const auto& k : kinds)
        for (std::size_t name = 1; name <= 4; ++name) {
            auto p = cutting(k, name);
            p.heap_samples = 100;
            const auto in = input(k, 250);
            packed_stream whole(p);
            whole.write_all(in);
            whole.end();

            p.slots = p.config().min_ring_slots() + 1; // the same, but often full
            packed_stream held_back(p);
            p.slots = 0;
            packed_stream stream(p);
            for (std::size_t at = 0; at < 250;) {
                const auto n = std::min<std::size_t>(1 + random() % 30, 250 - at);
                const auto size = stream.input_bytes;
                const auto* from = in.data() + at * size;
                BOOST_REQUIRE_EQUAL(stream.packer.write(from, n), n);
                held_back.write_all(std::vector<std::byte>(from, from + n * size));
                at += n;
            }
            stream.end();
            held_back.end();
            BOOST_CHECK(stream.datagrams == whole.datagrams);
            // heaps are as whole here, but the last one may be padded
            auto expected = on_the_wire(k, in);
            const auto zeros = held_back.counters.samples_zero_filled.get();
            expected.resize(expected.size() + zeros * (expected.size() / 250));
            BOOST_CHECK(content(reassemble(held_back.datagrams)) == expected);
        }
}

BOOST_AUTO_TEST_CASE(a_sample_that_is_cut_by_a_full_ring_is_taken_once)
{
    std::size_t times = 0;
    for (std::size_t name = 1; name <= 4; ++name)
        for (const auto tail :
             { tail_policy::shorten, tail_policy::pad, tail_policy::drop })
            for (std::size_t packets = 1; packets < 30; ++packets) {
                const kind k{ sample_type::sc16, byte_order::big };
                auto p = cutting(k, name);
                p.heap_samples = 2000;
                p.tail = tail;
                p.slots = 64;
                packed_stream stream(p);
                stream.ring.set_limit(packets);
                const auto in = input(k, 2000);
                const auto taken = stream.packer.write(in.data(), 2000);
                BOOST_REQUIRE_LT(taken, 2000u);
                // again, without room: nothing changes
                BOOST_CHECK_EQUAL(stream.packer.write(in.data() + 4 * taken, 1), 0u);
                BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), taken);
                stream.ring.set_limit(64);
                stream.end();
                BOOST_CHECK(stream.is_balanced());
                if (!taken)
                    continue;
                ++times;
                BOOST_CHECK_EQUAL(stream.ended, tail == tail_policy::drop ? 0 : taken);
                auto expected = on_the_wire(k, in);
                std::fill(expected.begin() + static_cast<long>(4 * taken),
                          expected.end(),
                          std::uint8_t{ 0 });
                if (tail != tail_policy::pad &&
                    !stream.counters.samples_zero_filled.get())
                    expected.resize(tail == tail_policy::drop ? 0 : 4 * taken);
                BOOST_CHECK(content(reassemble(stream.datagrams)) == expected);
            }
    BOOST_CHECK_GT(times, 100u);
}

// Its second half finds no room until the stream ends.
BOOST_AUTO_TEST_CASE(a_heap_that_lacks_half_a_sample_is_no_tail)
{
    const kind k{ sample_type::sc16, byte_order::big };
    bool found = false;
    for (std::uint64_t heap = 50; heap < 80; ++heap)
        for (std::size_t name = 1; name <= 4; ++name) {
            auto p = cutting(k, name);
            p.heap_samples = heap;
            p.tail = tail_policy::drop;
            p.slots = 64;
            packed_stream stream(p);
            const auto packets = p.config().first->packets();
            stream.ring.set_limit(static_cast<std::size_t>(packets) - 1);
            const auto in = input(k, heap);
            if (stream.packer.write(in.data(), heap) < heap)
                continue;
            found = true;
            BOOST_CHECK(!end_stream(stream.packer));
            stream.ring.set_limit(64);
            stream.end();
            BOOST_CHECK_EQUAL(stream.ended, heap);
            BOOST_CHECK_EQUAL(stream.counters.samples_dropped.get(), 0u);
            BOOST_CHECK(content(reassemble(stream.datagrams)) == on_the_wire(k, in));
        }
    BOOST_CHECK(found);
}

BOOST_AUTO_TEST_CASE(a_heap_leaves_with_its_last_sample_cut_or_not)
{
    const kind k{ sample_type::sc16, byte_order::big };
    for (std::uint64_t heap = 50; heap < 80; ++heap)
        for (std::size_t name = 1; name <= 4; ++name) {
            auto p = cutting(k, name);
            p.heap_samples = heap;
            packed_stream stream(p);
            BOOST_REQUIRE_EQUAL(stream.packer.write(input(k, heap).data(), heap), heap);
            stream.send();
            BOOST_CHECK_EQUAL(stream.ended, heap);
        }
}

BOOST_AUTO_TEST_CASE(clipped_samples_are_counted_where_they_are_cut_too)
{
    for (std::size_t name = 1; name <= 2; ++name) {
        auto p = cutting({ sample_type::complex64, byte_order::big }, name);
        p.heap_samples = 300;
        packed_stream stream(p);
        std::vector<float> in(2 * 1000, 1.0f);
        for (std::size_t i = 0; i < 1000; i += 2)
            in[2 * i + 1] = 1000;
        stream.write_all(in);
        stream.end();
        BOOST_CHECK_EQUAL(stream.counters.samples_clipped.get(), 500u);
    }
}

BOOST_AUTO_TEST_CASE(a_heap_counts_samples_and_not_bytes)
{
    packing p;
    p.type = sample_type::sc16;
    p.heap_samples = 1000;
    p.descriptors = false;
    packed_stream stream(p);
    const auto in = noise(4 * 2500);
    stream.write_all(in);
    stream.end();
    const auto heaps = reassemble(stream.datagrams);
    BOOST_REQUIRE_EQUAL(heaps.size(), 4u);
    BOOST_CHECK_EQUAL(heaps[0].payload.size(), 4000u);
    BOOST_CHECK_EQUAL(heaps[1].immediate(0x1600), 2000u);
    BOOST_CHECK_EQUAL(heaps[2].payload.size(), 2000u);
    BOOST_CHECK_EQUAL(stream.ended, 2500u);
}

BOOST_AUTO_TEST_SUITE_END()
