/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Random streams over a network that loses, duplicates, reorders and injects packets. The
// senders skip times, send other items, and restart. Each output sample must be the one
// sent for its timestamp, or a zero in a range tagged as missing. SPEAD_TRUTH_SEED
// selects a single seed, SPEAD_TRUTH_RUNS the number of seeds.

#include "helpers/random_stream.h"
#include "helpers/replayed_stream.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

using namespace gr::spead;

namespace {

// Three hundred seeds cover every kind of fault. Sanitizers slow them down.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t default_runs = 15;
#else
constexpr std::uint64_t default_runs = 300;
#endif

// The offset of the first wrong sample of an output.
template <typename received_stream>
std::optional<std::size_t> first_wrong_sample(const random_stream& sender,
                                              const received_stream& stream,
                                              std::size_t output)
{
    const std::size_t sample_bytes = sender.is_packed() ? sizeof(std::int16_t) : 1;
    const auto& out = stream.out[output];
    const auto samples = out.size() / sample_bytes;
    const auto received = [&](std::size_t i) {
        std::int16_t packed;
        if (!sender.is_packed())
            return static_cast<int>(out[i]);
        std::memcpy(&packed, out.data() + i * sample_bytes, sample_bytes);
        return static_cast<int>(packed);
    };
    const auto sent = [&](std::uint64_t tick) {
        return sender.is_packed() ? packed_sample_at(output, tick)
                                  : static_cast<int>(sample_at(output, tick));
    };
    std::vector<char> is_missing(samples);
    for (const auto& [at, n] : stream.tags_of(sample_tag::kind::missing, output))
        for (std::size_t i = at; i < at + n; ++i)
            is_missing.at(i) = received(i) == 0;
    const auto times = stream.tags_of(sample_tag::kind::timestamp, output);
    std::size_t time = 0;
    for (std::size_t i = 0; i < samples; ++i) {
        while (time + 1 < times.size() && times[time + 1].first <= i)
            ++time;
        if (times.empty() || times[0].first > i)
            return i;
        const auto tick = times[time].second + (i - times[time].first);
        if (is_missing[i] || received(i) == sent(tick))
            continue;
        if (received(i) != 0 || !sender.is_spoofed(tick))
            return i;
    }
    return std::nullopt;
}

void run_stream(std::uint64_t seed)
{
    random_stream sender(seed);
    receive_stream stream(sender.choose_options());
    for (const auto& arrival : sender.events()) {
        if (arrival.packet.empty()) {
            stream.pass_time(arrival.pause);
            continue;
        }
        stream.now += std::chrono::microseconds(10);
        stream.receive(arrival.packet, arrival.socket, arrival.sender);
    }
    stream.pass_time(std::chrono::seconds(2));
    stream.end();
    BOOST_TEST_CONTEXT("SPEAD_TRUTH_SEED=" << seed)
    for (std::size_t output = 0; output < stream.settings.outputs; ++output) {
        const auto wrong = first_wrong_sample(sender, stream, output);
        BOOST_CHECK_MESSAGE(
            !wrong, "output " << output << ": wrong sample " << wrong.value_or(0));
        const auto& counters = stream.counters[output];
        BOOST_TEST(stream.out[output].size() / stream.output_bytes() ==
                   counters.samples_received.get() + counters.samples_missing.get());
        // outputs that are too far apart for the window lose samples
        const bool is_lossless = !sender.is_faulty() && sender.fits(stream.settings);
        if (is_lossless) {
            BOOST_TEST(counters.samples_received.get() == sender.sent_samples());
            BOOST_TEST(counters.samples_missing.get() == 0);
        }
    }
}

// The same packets in captures, with the time of their arrival.
void replay_stream(std::uint64_t seed)
{
    random_stream sender(seed);
    auto settings = sender.choose_options();
    settings.max_read = std::chrono::milliseconds(1);
    const auto lists = settings.has_own_sockets ? settings.outputs : 1;
    capture_writer_of_tests captures(lists * settings.sockets);
    receive_stream live(settings);
    std::chrono::nanoseconds time = std::chrono::seconds(1000000);
    for (const auto& arrival : sender.events()) {
        if (arrival.packet.empty()) {
            live.now += arrival.pause;
            time += arrival.pause;
            continue;
        }
        live.now += std::chrono::microseconds(10);
        time += std::chrono::microseconds(10);
        live.receive(arrival.packet, arrival.socket, arrival.sender);
        captures.add(arrival, time);
    }
    live.retry_until([&] { return live.router.resume(live.now); });
    live.window.flush(live.router.stream_end());
    live.produce(false);
    live.end();
    captures.flush();
    std::vector<std::string> endpoints;
    for (std::size_t i = 0; i < lists; ++i) {
        std::string list;
        for (std::size_t j = 0; j < settings.sockets; ++j)
            list += (j ? "," : "") + captures.path(i * settings.sockets + j);
        endpoints.push_back(list);
    }
    source_options options;
    options.num_outputs = static_cast<std::int64_t>(settings.outputs);
    options.max_gap = settings.max_gap;
    options.heap_samples = 1;
    if (sender.is_packed())
        options.output_type = "int16";
    if (settings.format) {
        if (sender.is_packed())
            options.wire_type = "i" + std::to_string(sender.bits());
        options.items = { timestamp(), samples() };
        for (const auto& selector : settings.format->immediates)
            options.items->push_back(
                immediate(selector.id, selector.name, selector.values));
    }
    const replayed_stream replay(endpoints, options, settings.window_samples);
    BOOST_TEST_CONTEXT("SPEAD_TRUTH_SEED=" << seed)
    for (std::size_t output = 0; output < settings.outputs; ++output) {
        const auto wrong = first_wrong_sample(sender, replay, output);
        BOOST_CHECK_MESSAGE(
            !wrong, "output " << output << ": wrong sample " << wrong.value_or(0));
        const auto& stats = replay.stats[output];
        BOOST_TEST(replay.out[output].size() / live.output_bytes() == stats.samples_out);
        BOOST_TEST(stats.samples_received ==
                   live.counters[output].samples_received.get());
        BOOST_CHECK(replay.out[output] == live.out[output]);
    }
}

std::uint64_t from_environment(const char* name, std::uint64_t default_value)
{
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : default_value;
}

} // namespace

BOOST_AUTO_TEST_SUITE(truth)

BOOST_AUTO_TEST_CASE(every_sample_is_correct_or_tagged_as_missing)
{
    if (const auto seed = from_environment("SPEAD_TRUTH_SEED", 0)) {
        run_stream(seed);
        return;
    }
    const auto runs = from_environment("SPEAD_TRUTH_RUNS", default_runs);
    for (std::uint64_t seed = 1; seed <= runs; ++seed)
        run_stream(seed);
}

BOOST_AUTO_TEST_CASE(captures_give_what_the_network_gave)
{
    if (const auto seed = from_environment("SPEAD_TRUTH_SEED", 0)) {
        replay_stream(seed);
        return;
    }
    const auto runs = from_environment("SPEAD_TRUTH_RUNS", default_runs);
    for (std::uint64_t seed = 1; seed <= runs; ++seed)
        replay_stream(seed);
}

BOOST_AUTO_TEST_SUITE_END()
