/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The first output sample has the time timestamp_start.

#include "helpers/random_stream.h"
#include "helpers/receive_stream.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>

using namespace gr::spead;
using std::chrono::milliseconds;

namespace {

constexpr wire::flavour flavour{ 48 };
constexpr std::int64_t heap_samples = 1000;
constexpr std::uint64_t start = 50'000;

std::vector<packet_bytes> heap_at(std::uint64_t tick,
                                  std::size_t output = 0,
                                  std::size_t samples = heap_samples,
                                  std::uint64_t timestamp_error = 0)
{
    packet_bytes content(samples);
    for (std::size_t i = 0; i < content.size(); ++i)
        content[i] = sample_at(output, tick + i);
    const auto timestamp = (tick + timestamp_error) & flavour.address_mask();
    return heap_cutter{ flavour, 100, true }.cut(
        1 + tick / samples,
        { flavour.immediate(0x1600, timestamp), flavour.addressed(0x3300, 0) },
        content);
}

receive_stream::options starting(std::uint64_t tick, std::size_t outputs = 1)
{
    receive_stream::options options;
    options.outputs = outputs;
    options.has_own_sockets = outputs > 1;
    options.start_tick = tick;
    return options;
}

// Checks the samples from \p first_tick on, of which those before \p begin are missing.
void check_output(const receive_stream& stream,
                  std::uint64_t first_tick,
                  std::uint64_t begin,
                  std::uint64_t end,
                  std::size_t output = 0)
{
    using tags = std::vector<std::pair<std::size_t, std::uint64_t>>;
    const auto& out = stream.out[output];
    BOOST_REQUIRE_EQUAL(out.size(), end - first_tick);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < out.size(); ++i)
        wrong += out[i] != (first_tick + i < begin ? std::byte{ 0 }
                                                   : sample_at(output, first_tick + i));
    BOOST_TEST(wrong == 0u);
    BOOST_CHECK((stream.tags_of(sample_tag::kind::timestamp, output) ==
                 tags{ { 0, first_tick } }));
    BOOST_TEST(stream.counters[output].samples_missing.get() == begin - first_tick);
}

} // namespace

BOOST_AUTO_TEST_SUITE(start_of_the_output)

BOOST_AUTO_TEST_CASE(earlier_samples_are_discarded_and_counted)
{
    for (const auto first_tick : { start, start - 1, start + 99, start + 100 }) {
        receive_stream stream(starting(first_tick));
        for (std::uint64_t tick = 20'000; tick < 60'000; tick += heap_samples)
            stream.receive(heap_at(tick));
        stream.end();
        check_output(stream, first_tick, first_tick, 60'000);
        BOOST_TEST(stream.counters[0].samples_early.get() == first_tick - 20'000);
        BOOST_TEST(stream.counters[0].samples_late.get() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(a_stream_that_begins_later_has_its_samples_missing)
{
    for (const std::uint64_t first : { 51'000, 60'000, 3'000'000 }) {
        receive_stream stream(starting(start));
        for (auto tick = first; tick < first + 20'000; tick += heap_samples)
            stream.receive(heap_at(tick));
        stream.end();
        check_output(stream, start, first, first + 20'000);
    }
}

BOOST_AUTO_TEST_CASE(a_stream_that_begins_much_later_begins_the_output)
{
    auto options = starting(start);
    options.max_gap = 9'999;
    receive_stream stream(options);
    for (std::uint64_t tick = 60'000; tick < 70'000; tick += heap_samples)
        stream.receive(heap_at(tick));
    stream.end();
    check_output(stream, 60'000, 60'000, 70'000);
}

BOOST_AUTO_TEST_CASE(the_status_names_the_tick_it_waits_for)
{
    receive_stream stream(starting(std::uint64_t{ 1 } << 40));
    for (std::uint64_t tick = 20'000; tick < 40'000; tick += heap_samples)
        stream.receive(heap_at(tick));
    BOOST_TEST(stream.router.latest_reason() ==
               "the output begins at timestamp_start: the source waits for tick "
               "1099511627776, and the stream was 1099511607676 samples before it when "
               "this began");
    BOOST_TEST(stream.counters[0].samples_early.get() == 20'000u);
}

BOOST_AUTO_TEST_CASE(timestamps_may_wrap_before_the_start)
{
    const auto wrap = flavour.address_mask() + 1;
    receive_stream stream(starting(500));
    for (auto tick = wrap - 3 * heap_samples; tick < wrap + 5 * heap_samples;
         tick += heap_samples)
        for (auto packet : heap_at(tick))
            stream.receive(packet);
    stream.end();
    BOOST_TEST(stream.counters[0].samples_early.get() == 3'500u);
    BOOST_TEST(stream.out[0].size() == 4'500u);
    BOOST_TEST(stream.tags_of(sample_tag::kind::timestamp).at(0).second == 500u);
}

BOOST_AUTO_TEST_CASE(outputs_that_lag_begin_at_the_same_time)
{
    receive_stream stream(starting(start + 10, 2));
    for (std::uint64_t tick = 40'000; tick < 70'000; tick += heap_samples) {
        for (const auto& packet : heap_at(tick))
            stream.receive(packet, 0);
        if (tick >= 45'000)
            for (const auto& packet : heap_at(tick - 5'000, 1))
                stream.receive(packet, 1);
    }
    for (std::uint64_t tick = 65'000; tick < 70'000; tick += heap_samples)
        for (const auto& packet : heap_at(tick, 1))
            stream.receive(packet, 1);
    stream.end();
    for (const std::size_t output : { 0, 1 }) {
        check_output(stream, start + 10, start + 10, 70'000, output);
        BOOST_TEST(stream.counters[output].samples_early.get() == 10'010u);
        BOOST_TEST(stream.counters[output].samples_late.get() == 0u);
    }
}

// The first packet of a heap may hold only samples before the start.
BOOST_AUTO_TEST_CASE(packets_of_the_first_heap_may_be_early)
{
    for (const auto first_tick : { start + 100, start + 700, start + 999 }) {
        receive_stream stream(starting(first_tick, 2));
        for (std::uint64_t tick = 40'000; tick < 70'000; tick += heap_samples) {
            for (const auto& packet : heap_at(tick))
                stream.receive(packet, 0);
            for (const auto& packet : heap_at(tick - heap_samples, 1))
                stream.receive(packet, 1);
        }
        for (const auto& packet : heap_at(69'000, 1))
            stream.receive(packet, 1);
        stream.end();
        for (const std::size_t output : { 0, 1 })
            check_output(stream, first_tick, first_tick, 70'000, output);
    }
}

BOOST_AUTO_TEST_CASE(a_wrong_time_before_the_start_is_ignored)
{
    for (const std::uint64_t wrong : { 10'000'000, 1 << 30 }) {
        receive_stream stream(starting(start));
        for (std::uint64_t tick = 40'000; tick < 60'000; tick += heap_samples) {
            stream.now += milliseconds(1);
            stream.receive(heap_at(tick, 0, heap_samples, tick == 45'000 ? wrong : 0));
        }
        stream.end();
        check_output(stream, start, start, 60'000);
    }
}

BOOST_AUTO_TEST_CASE(the_first_sender_is_received_also_before_the_start)
{
    receive_stream stream(starting(start));
    for (std::uint64_t tick = 40'000; tick < 60'000; tick += heap_samples) {
        stream.now += milliseconds(1);
        for (const auto& packet : heap_at(tick))
            stream.receive(packet, 0, 1);
        for (const auto& packet : heap_at(tick + 5'000'000))
            stream.receive(packet, 0, 2);
    }
    stream.end();
    check_output(stream, start, start, 60'000);
}

BOOST_AUTO_TEST_CASE(heaps_without_length_count_as_early)
{
    receive_stream stream(starting(start + 250));
    for (std::uint64_t tick = 45'000; tick < 55'000; tick += heap_samples) {
        packet_bytes content(heap_samples);
        for (std::size_t i = 0; i < content.size(); ++i)
            content[i] = sample_at(0, tick + i);
        const heap_cutter cutter{ flavour, 100, true, false };
        stream.receive(
            cutter.cut(tick / heap_samples,
                       { flavour.immediate(0x1600, tick), flavour.addressed(0x3300, 0) },
                       content));
    }
    stream.end();
    check_output(stream, start + 250, start + 250, 55'000);
    BOOST_TEST(stream.counters[0].samples_early.get() == 5'250u);
}

BOOST_AUTO_TEST_CASE(nothing_before_the_start_is_output_if_the_stream_begins_late)
{
    auto options = starting(start);
    options.max_gap = 100;
    receive_stream stream(options);
    for (const std::uint64_t tick : { 52'000, 51'000, 50'000, 49'000, 53'000, 54'000 })
        stream.receive(heap_at(tick));
    stream.pass_time(milliseconds(320));
    stream.end();
    BOOST_TEST(stream.tags_of(sample_tag::kind::timestamp).at(0).second >= start);
}

// A restart is a new stream, also if its times are before the start of the first one.
BOOST_AUTO_TEST_CASE(a_sender_may_restart_after_the_start)
{
    receive_stream stream(starting(start));
    for (std::uint64_t tick = 40'000; tick < 60'000; tick += heap_samples)
        stream.receive(heap_at(tick));
    stream.pass_time(milliseconds(3200));
    for (std::uint64_t tick = 0; tick < 20'000; tick += heap_samples)
        stream.receive(heap_at(tick));
    stream.end();
    BOOST_REQUIRE_EQUAL(stream.out[0].size(), 30'000u);
    for (std::size_t i = 0; i < 20'000; ++i)
        BOOST_REQUIRE(stream.out[0][10'000 + i] == sample_at(0, i));
    BOOST_TEST(stream.counters[0].samples_early.get() == 10'000u);
}

// Ten receivers of a stream, each with its own beginning, losses and disorder.
BOOST_AUTO_TEST_CASE(every_receiver_has_the_same_time_at_the_same_offset)
{
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::uint64_t n) { return random() % n; };
        const std::size_t samples = 100 + below(2000);
        const auto first_tick = 100 * samples + below(5 * samples);
        const auto end = 200 * samples;
        for (int receiver = 0; receiver < 10; ++receiver) {
            auto options = starting(first_tick);
            options.max_delay = milliseconds(below(2) ? 100 : 0);
            receive_stream stream(options);
            // some begin after the start
            const auto begin = below(120) * samples;
            std::vector<std::pair<std::uint64_t, packet_bytes>> arrivals;
            std::uint64_t order = 0;
            const auto loss = below(3) * 10;
            for (auto tick = begin; tick < end; tick += samples)
                for (auto& packet : heap_at(tick, 0, samples)) {
                    ++order;
                    if (below(1000) < loss)
                        continue;
                    const bool is_delayed = below(20) == 0;
                    const bool is_repeated = below(50) == 0;
                    if (is_repeated)
                        arrivals.emplace_back(order + below(60), packet);
                    arrivals.emplace_back(is_delayed ? order + below(60) : order,
                                          std::move(packet));
                }
            std::stable_sort(arrivals.begin(), arrivals.end(), [](auto& a, auto& b) {
                return a.first < b.first;
            });
            for (const auto& [place, packet] : arrivals) {
                stream.now += std::chrono::microseconds(10);
                stream.receive(packet);
            }
            stream.end();
            BOOST_TEST_CONTEXT("seed " << seed << ", receiver " << receiver)
            {
                const auto& out = stream.out[0];
                BOOST_REQUIRE(!out.empty());
                const auto times = stream.tags_of(sample_tag::kind::timestamp);
                BOOST_TEST(times.size() == 1u);
                BOOST_TEST(times.at(0).first == 0u);
                BOOST_TEST(times.at(0).second == first_tick);
                std::size_t wrong = 0, missing = 0;
                for (std::size_t i = 0; i < out.size(); ++i) {
                    missing += out[i] == std::byte{ 0 };
                    wrong += out[i] != std::byte{ 0 } &&
                             out[i] != sample_at(0, first_tick + i);
                }
                const auto& counters = stream.counters[0];
                BOOST_TEST(wrong == 0u);
                BOOST_TEST(missing == counters.samples_missing.get());
                if (begin <= first_tick && !loss)
                    BOOST_TEST(counters.samples_received.get() +
                                   counters.samples_late.get() >=
                               end - first_tick);
            }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
