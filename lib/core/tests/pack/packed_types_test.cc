/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Samples of all types, in packets that may end in the middle of a sample.

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

struct kind {
    sample_type type;
    number_format wire;
};

const kind kinds[] = {
    { sample_type::int8, { 'i', 8 } },
    { sample_type::sc8, { 'i', 8 } },
    { sample_type::int16, { 'i', 16 } },
    { sample_type::int16, { 'i', 16, byte_order::little } },
    { sample_type::sc16, { 'i', 16 } },
    { sample_type::sc16, { 'i', 16, byte_order::little } },
    { sample_type::int32, { 'i', 32 } },
    { sample_type::float32, { 'i', 8 } },
    { sample_type::complex64, { 'i', 8 } },
    { sample_type::float32, { 'i', 16 } },
    { sample_type::complex64, { 'i', 16, byte_order::little } },
    { sample_type::float32, { 'f', 32 } },
    { sample_type::float32, { 'f', 64 } },
    { sample_type::complex64, { 'c', 128, byte_order::little } },
};

// Random input samples. Floats are integers that need no clipping.
std::vector<std::byte> input(const kind& k, std::size_t samples)
{
    const auto size = sample_converter({ k.type, k.wire }).input_bytes();
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
    const sample_converter converter({ k.type, k.wire });
    const auto samples = in.size() / converter.input_bytes();
    bytes out(samples * converter.output_bytes());
    converter.convert(reinterpret_cast<std::byte*>(out.data()), in.data(), samples);
    return out;
}

// Descriptors whose length makes packets end in the middle of a sample.
packing splitting_samples(const kind& k, std::size_t name_bytes)
{
    packing p;
    p.type = k.type;
    p.wire = k.wire;
    p.max_packet = 104;
    p.items = { timestamp(0x1600, "t", "t"),
                samples(0x3300, std::string(name_bytes, 'n'), "d") };
    return p;
}

bytes sample_content(const std::vector<heap>& heaps)
{
    bytes all;
    for (const auto& h : heaps)
        if (const auto part = h.content(0x3300))
            all.insert(all.end(), part->begin(), part->end());
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(types_in_packets)

BOOST_AUTO_TEST_CASE(every_type_survives_any_packet_boundary)
{
    for (const auto& k : kinds)
        for (std::size_t name = 1; name <= 4; ++name)
            for (const auto tail : { tail_policy::shorten, tail_policy::pad })
                // buffered whole, and sent as it fills
                for (const std::size_t slots : { std::size_t{ 4096 }, std::size_t{ 0 } })
                    for (const std::size_t n : { 40u, 41u, 100u, 103u }) {
                        auto p = splitting_samples(k, name);
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
                        BOOST_CHECK(sample_content(reassemble(stream.datagrams)) ==
                                    expected);
                        BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), n);
                        BOOST_CHECK_EQUAL(stream.samples_completed, n);
                        BOOST_CHECK_EQUAL(stream.counters.samples_clipped.get(), 0u);
                    }
}

BOOST_AUTO_TEST_CASE(clipping_is_counted_once_per_split_sample)
{
    for (std::size_t name = 1; name <= 2; ++name) {
        auto p = splitting_samples({ sample_type::complex64, { 'i', 8 } }, name);
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

BOOST_AUTO_TEST_SUITE_END()
