/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Heaps whose packets are lost, repeated and out of order at random, against a model that
// knows all samples in advance.

#include "helpers/receive_stream.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>

using namespace gr::spead;

namespace {

constexpr std::uint64_t selector_id = 0x3101;

struct sent_packet {
    packet_bytes bytes;
    std::size_t output;
    std::int64_t begin; // of its bytes of samples, in those of the output
    std::int64_t end;
};

struct random_stream {
    std::mt19937 random;
    std::size_t outputs;
    sample_type type;
    std::int64_t size; // bytes of a sample
    std::vector<packet_bytes> content;
    std::vector<sent_packet> packets;

    explicit random_stream(unsigned seed)
        : random(seed),
          outputs(1 + upto(2)),
          type(std::array{
              sample_type::int8, sample_type::sc8, sample_type::sc16 }[upto(2)]),
          size(static_cast<std::int64_t>(
              sample_decoder(type, byte_order::little).wire_bytes()))
    {
        const std::int64_t samples = 20000 + static_cast<std::int64_t>(upto(20000));
        for (std::size_t i = 0; i < outputs; ++i) {
            packet_bytes bytes;
            for (std::int64_t k = 0; k < samples * size; ++k)
                bytes.push_back(static_cast<std::byte>(1 + upto(254)));
            content.push_back(bytes);
            cut(i, samples);
        }
        // the heaps of all outputs in turn
        std::stable_sort(packets.begin(),
                         packets.end(),
                         [](const auto& a, const auto& b) { return a.begin < b.begin; });
    }

    std::size_t upto(std::size_t most)
    {
        return std::uniform_int_distribution<std::size_t>(0, most)(random);
    }

    // Heaps of any sizes, with something in front of the samples or not.
    void cut(std::size_t output, std::int64_t samples)
    {
        heap_cutter cutter;
        std::uint64_t counter = output;
        for (std::int64_t at = 0; at < samples;) {
            const auto n = std::min<std::int64_t>(
                samples - at, 1 + static_cast<std::int64_t>(upto(900)));
            cutter.payload = 8 * (1 + upto(60));
            const std::uint64_t before = upto(1) ? 0 : upto(50);
            packet_bytes payload(before);
            const auto begin = content[output].begin() + at * size;
            payload.insert(payload.end(), begin, begin + n * size);
            const auto& flavour = cutter.flavour;
            std::vector<std::uint64_t> pointers{
                flavour.immediate(0x1600, static_cast<std::uint64_t>(1000 + at)),
                flavour.immediate(selector_id, 7 + output),
                flavour.addressed(0x3300, before)
            };
            if (before)
                pointers.push_back(flavour.addressed(0x4000, 0));
            std::int64_t offset = -static_cast<std::int64_t>(before);
            for (const auto& bytes : cutter.cut(counter, pointers, payload)) {
                const auto next = std::min(
                    offset + static_cast<std::int64_t>(cutter.payload), n * size);
                packets.push_back({ bytes,
                                    output,
                                    at * size + std::max<std::int64_t>(offset, 0),
                                    at * size + std::max<std::int64_t>(next, 0) });
                offset = next;
            }
            counter += outputs;
            at += n;
        }
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(stream_random_test)

BOOST_AUTO_TEST_CASE(samples_are_right_or_zero_and_counted)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            random_stream sent(seed);
            auto format = std::make_shared<stream_format>();
            stream_format::immediate selector{ selector_id, "id", {} };
            for (std::size_t i = 0; i < sent.outputs; ++i)
                selector.values.push_back(static_cast<std::int64_t>(7 + i));
            format->immediates.push_back(selector);
            format->bits = sent.type == sample_type::sc16 ? 16 : 8;
            format->order = byte_order::little;
            receive_stream::options options;
            options.outputs = sent.outputs;
            options.type = sent.type;
            options.format = format;
            options.on_missing =
                seed % 2 ? missing_policy::skip : missing_policy::zero_fill;
            receive_stream receiving(options);

            // the first and the last packet come, so that the ends are known
            std::vector<sent_packet> arriving;
            for (std::size_t i = 0; i < sent.packets.size(); ++i) {
                const bool is_end = i == 0 || i + 1 == sent.packets.size();
                const auto dice = is_end ? 99 : sent.upto(99);
                if (dice < 5)
                    continue;
                arriving.push_back(sent.packets[i]);
                if (dice < 10)
                    arriving.push_back(sent.packets[i]);
            }
            for (std::size_t i = 1; i + 8 < arriving.size(); ++i)
                if (sent.upto(99) < 5)
                    std::swap(arriving[i], arriving[i + sent.upto(6)]);

            std::vector<packet_bytes> expected(sent.outputs);
            std::vector<std::vector<char>> has_come(sent.outputs);
            std::int64_t end = 0;
            for (const auto& each : arriving)
                end = std::max(end, each.end);
            end = end / sent.size * sent.size;
            std::uint64_t bytes = 0;
            for (std::size_t i = 0; i < sent.outputs; ++i)
                has_come[i].resize(static_cast<std::size_t>(end));
            for (const auto& each : arriving) {
                bytes += static_cast<std::uint64_t>(each.end - each.begin);
                for (auto k = each.begin; k < std::min(each.end, end); ++k)
                    has_come[each.output][static_cast<std::size_t>(k)] = 1;
            }
            std::vector<std::uint64_t> missing(sent.outputs);
            for (std::size_t i = 0; i < sent.outputs; ++i)
                for (std::int64_t k = 0; k < end; k += sent.size) {
                    const auto begin = has_come[i].begin() + k;
                    const bool is_whole =
                        std::count(begin, begin + sent.size, 1) == sent.size;
                    missing[i] += !is_whole;
                    if (!is_whole && options.on_missing == missing_policy::skip)
                        continue;
                    for (auto b = k; b < k + sent.size; ++b)
                        expected[i].push_back(
                            is_whole ? sent.content[i][static_cast<std::size_t>(b)]
                                     : std::byte{ 0 });
                }

            for (const auto& each : arriving) {
                receiving.take(each.bytes);
                if (sent.upto(20) == 0)
                    receiving.read(1 + sent.upto(2000));
            }
            receiving.end();

            for (std::size_t i = 0; i < sent.outputs; ++i) {
                BOOST_TEST((receiving.out[i] == expected[i]));
                BOOST_TEST(receiving.counters[i].samples_missing.get() == missing[i]);
                BOOST_TEST(receiving.counters[i].samples_received.get() ==
                           static_cast<std::uint64_t>(end / sent.size) - missing[i]);
                std::uint64_t tagged = 0;
                for (const auto& [at, n] :
                     receiving.tags_of(sample_tag::kind::missing, i))
                    tagged += n;
                BOOST_TEST(tagged == missing[i]);
            }
            BOOST_TEST(receiving.common.discontinuities.get() == 0);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
