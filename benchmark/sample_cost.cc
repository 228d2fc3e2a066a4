/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Measures conversions of floats, packed integers, and the transposition of heaps to
// vectors, in ns per number and per byte. The peers are Volk's conversion followed by a
// copy into the packet, and a copy of the heap.

#include "axes/transposer.h"
#include "protocol/sample_converter.h"
#include "protocol/sample_decoder.h"

#include <volk/volk.h>
#include <volk/volk_alloc.hh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <string>
#include <vector>

using namespace gr::spead;

namespace {

constexpr unsigned numbers = 1 << 18;

// The fastest of several repetitions, in ns for each of \p n.
template <typename function>
double cost(std::size_t n, function measured)
{
    using clock = std::chrono::steady_clock;
    auto fastest = clock::duration::max();
    for (int i = 0; i < 20; ++i) {
        const auto start = clock::now();
        measured();
        fastest = std::min(fastest, clock::now() - start);
    }
    return std::chrono::duration<double, std::nano>(fastest).count() /
           static_cast<double>(n);
}

void volk_encode(void* out, const float* in, const number_format& wire, float scale)
{
    if (wire.type == 'f' && wire.bits == 32)
        std::memcpy(out, in, numbers * sizeof(float));
    else if (wire.type == 'f')
        volk_32f_convert_64f(static_cast<double*>(out), in, numbers);
    else if (wire.bits == 8)
        volk_32f_s32f_convert_8i(static_cast<std::int8_t*>(out), in, scale, numbers);
    else if (wire.bits == 16)
        volk_32f_s32f_convert_16i(static_cast<std::int16_t*>(out), in, scale, numbers);
    else
        volk_32f_s32f_convert_32i(static_cast<std::int32_t*>(out), in, scale, numbers);
}

void volk_decode(float* out, const void* in, const number_format& wire, float scale)
{
    if (wire.type == 'f' && wire.bits == 32)
        std::memcpy(out, in, numbers * sizeof(float));
    else if (wire.type == 'f')
        volk_64f_convert_32f(out, static_cast<const double*>(in), numbers);
    else if (wire.bits == 8)
        volk_8i_s32f_convert_32f(
            out, static_cast<const std::int8_t*>(in), scale, numbers);
    else if (wire.bits == 16)
        volk_16i_s32f_convert_32f(
            out, static_cast<const std::int16_t*>(in), scale, numbers);
    else
        volk_32i_s32f_convert_32f(
            out, static_cast<const std::int32_t*>(in), scale, numbers);
}

void volk_swap(void* in_place, const number_format& wire)
{
    if (wire.order == host_order || wire.bits == 8)
        return;
    if (wire.bits == 16)
        volk_16u_byteswap(static_cast<std::uint16_t*>(in_place), numbers);
    else if (wire.bits == 32)
        volk_32u_byteswap(static_cast<std::uint32_t*>(in_place), numbers);
    else
        volk_64u_byteswap(static_cast<std::uint64_t*>(in_place), numbers);
}

void measure_conversions()
{
    std::mt19937 random(1);
    std::uniform_real_distribution<float> values(0, 0.9f); // in range of all integers
    volk::vector<float> floats(numbers), decoded(numbers);
    std::generate(floats.begin(), floats.end(), [&] { return values(random); });
    volk::vector<std::byte> packet(numbers * 8 + 64), block(numbers * 8);
    auto* const payload = packet.data() + 2; // items leave it unaligned
    std::printf("%-5s %8s %8s %6s  %8s %8s %6s\n",
                "wire",
                "encode",
                "peer",
                "ratio",
                "decode",
                "peer",
                "ratio");
    for (const auto order : { byte_order::big, byte_order::little })
        for (const auto& [type, bits] : { std::pair{ 'i', 8u },
                                          { 'u', 8u },
                                          { 'i', 16u },
                                          { 'u', 16u },
                                          { 'i', 32u },
                                          { 'u', 32u },
                                          { 'f', 32u },
                                          { 'f', 64u } }) {
            const number_format wire{ type, bits, order };
            const sample_format format{ sample_type::float32, wire };
            const auto scale = static_cast<float>(wire.full_scale());
            const sample_converter converter(format, scale);
            const sample_decoder decoder(format, scale);
            const auto* in = reinterpret_cast<const std::byte*>(floats.data());
            auto* out = reinterpret_cast<std::byte*>(decoded.data());
            const double encode =
                cost(numbers, [&] { converter.convert(payload, in, numbers); });
            const double decode =
                cost(numbers, [&] { decoder.decode(out, payload, 0, numbers); });
            const double encode_peer = cost(numbers, [&] {
                volk_encode(block.data(), floats.data(), wire, scale);
                volk_swap(block.data(), wire);
                std::memcpy(payload, block.data(), numbers * wire.bytes());
            });
            const double decode_peer = cost(numbers, [&] {
                std::memcpy(block.data(), payload, numbers * wire.bytes());
                volk_swap(block.data(), wire);
                volk_decode(decoded.data(), block.data(), wire, scale);
            });
            std::printf("%-5s %8.3f %8.3f %6.2f  %8.3f %8.3f %6.2f\n",
                        wire.dtype().c_str(),
                        encode,
                        encode_peer,
                        encode_peer / encode,
                        decode,
                        decode_peer,
                        decode_peer / decode);
        }
}

void measure_packing()
{
    constexpr std::size_t n = 4096; // stay in the cache
    std::mt19937 random(1);
    volk::vector<std::int16_t> integers(n), decoded(n);
    for (auto& number : integers)
        number = static_cast<std::int16_t>(random() % 1024) - 512;
    std::vector<std::byte> packet(n * sizeof(std::int16_t) + 64);
    auto* const payload = packet.data() + 2;
    const auto* in = reinterpret_cast<const std::byte*>(integers.data());
    auto* out = reinterpret_cast<std::byte*>(decoded.data());
    for (const unsigned bits : { 10u, 12u }) {
        const sample_format format{ sample_type::int16, { 'i', bits } };
        const sample_converter converter(format);
        const sample_decoder decoder(format);
        const double copy =
            cost(n, [&] { std::memcpy(out, in, n * sizeof(std::int16_t)); });
        const double pack = cost(n, [&] { converter.convert(payload, in, n); });
        const double unpack = cost(n, [&] { decoder.decode(out, payload, 0, n); });
        std::printf("i%u in Gsamples/s: pack %.1f, unpack %.1f, copy %.1f\n",
                    bits,
                    1 / pack,
                    1 / unpack,
                    1 / copy);
    }
}

void measure_transposition(const std::string& list, std::size_t sample_bytes)
{
    const heap_axes axes("axes", list);
    const transposer tested(axes, sample_bytes);
    const auto bytes = axes.samples() * sample_bytes * axes.substreams();
    std::vector<std::byte> heaps(bytes, std::byte{ 1 }), vectors(bytes);
    std::vector<std::byte*> to;
    std::vector<const std::byte*> from;
    for (std::size_t i = 0; i < axes.ports(); ++i) {
        to.push_back(vectors.data() + i * (bytes / axes.ports()));
        from.push_back(to.back());
    }
    const auto at = [&](std::size_t i) {
        return heaps.data() + i * axes.samples() * sample_bytes;
    };
    const double copy =
        cost(bytes, [&] { std::memcpy(vectors.data(), heaps.data(), bytes); });
    const double to_ports = cost(bytes, [&] {
        for (std::size_t i = 0; i < axes.substreams(); ++i)
            tested.to_ports(to, at(i), i, 0, axes.times());
    });
    const double to_heap = cost(bytes, [&] {
        for (std::size_t i = 0; i < axes.substreams(); ++i)
            tested.to_heap(at(i), from, i, 0, axes.times());
    });
    std::printf("%-36s %zu bytes: copy %.3f, to vectors %.3f, to heaps %.3f\n",
                list.c_str(),
                sample_bytes,
                copy,
                to_ports,
                to_heap);
}

} // namespace

int main()
{
    try {
        std::printf("conversions of floats, ns per number\n");
        measure_conversions();
        std::printf("\npacked integers, from and to 16 bits\n");
        measure_packing();
        std::printf("\ntranspositions, ns per byte\n");
        measure_transposition("frequency=64/1024, time=256, pol=2", 2);
        measure_transposition("frequency=64/1024, time=256", 2);
        measure_transposition("frequency=512/32768, time=256, pol=2", 2);
        measure_transposition("channel=1024, baseline=40", 8);
        measure_transposition("time=256, channel=1024", 2);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "sample_cost: %s\n", e.what());
        return 1;
    }
}
