/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Each allocation of a sink and of a source fails in turn, on each side of their threads:
// once, or until the engine is stopped. No thread dies and nothing hangs, counters
// balance, nothing leaks, and afterwards the engine does its work.

#include "failing_memory.h"
#include "helpers/packing.h"
#include "helpers/spead_packets.h"
#include "helpers/stress.h"
#include "items.h"
#include "sink_engine.h"

#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>

using namespace gr::spead;

namespace {

using udp = boost::asio::ip::udp;
using where = memory_shortage::where;

// How many allocations fail in a row.
constexpr std::uint64_t one = 1;
constexpr auto lasting = std::numeric_limits<std::uint64_t>::max() / 2;

// An engine whose memory is short is called again, so often.
constexpr int calls_in_vain = 3;

struct local_socket {
    boost::asio::io_context io;
    udp::socket socket{ io, { boost::asio::ip::address_v4::loopback(), 0 } };

    std::string address() const
    {
        return "127.0.0.1:" + std::to_string(socket.local_endpoint().port());
    }
};

// Nobody listens there.
std::string closed_port() { return local_socket().address(); }

// False if there was no memory for it.
template <typename function>
bool done(function&& call)
{
    try {
        call();
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

// Goes on as long as shortages strike. So each allocation fails in turn. An engine lives
// while its memory is short, and then in plenty.
template <typename life>
void fail_each_allocation(where on, std::uint64_t failures, life&& live)
{
    live({ on, lasting, failures }); // what stays in memory from now on
    std::uint64_t first = 0;
    for (bool has_struck = true; has_struck; ++first) {
        BOOST_TEST_CONTEXT((on == where::here ? "the caller's" : "another thread's")
                           << " allocation number " << first)
        {
            const auto before = objects_in_memory();
            has_struck = live({ on, first, failures });
            BOOST_REQUIRE_EQUAL(objects_in_memory(), before);
        }
    }
    BOOST_TEST_MESSAGE(first << " allocations");
}

struct sink_case {
    const char* name;
    void (*change)(sink_options&);
    std::size_t inputs = 1;
    bool is_heard = true;
};
std::ostream& operator<<(std::ostream& out, const sink_case& c) { return out << c.name; }

const sink_case sink_cases[] = {
    { "a listener", [](sink_options&) {} },
    { "nobody listens", [](sink_options&) {}, 1, false },
    { "ends of two streams",
      [](sink_options& o) {
          o.send_stop = true;
          o.stop_timeout = 0.02;
          o.num_inputs = 2;
      },
      2 },
    { "large heaps",
      [](sink_options& o) {
          o.heap_samples = 1 << 20;
          o.descriptors = "separate";
      } },
    { "large heaps that are padded",
      [](sink_options& o) {
          o.heap_samples = 1 << 20;
          o.tail = "pad";
      } },
    { "floats that are clipped, and a CPU",
      [](sink_options& o) {
          o.input_type = "float";
          o.affinity = 0;
          o.tail = "drop";
      } },
    { "times",
      [](sink_options& o) {
          o.timestamp_source = "rx_time";
          o.sample_rate = { 1000000, 1 };
          o.on_gap = "zero_fill";
      } },
    { "gaps in large heaps",
      [](sink_options& o) {
          o.timestamp_source = "rx_time";
          o.sample_rate = { 1000000, 1 };
          o.heap_samples = 1 << 16;
          o.buffer_size = 1 << 18;
      } },
    { "samples that do not fit",
      [](sink_options& o) {
          o.when_full = "drop";
          o.rate = 1e6;
          o.stop_timeout = 0.01;
      } },
};

constexpr std::size_t samples_in_run = 200'500;

// As the block does: a call that found no memory comes again, with the same samples.
void write(sink_engine& to, const std::byte* samples, std::chrono::milliseconds patience)
{
    static const auto tags = [] {
        std::vector<time_tag> all;
        for (std::uint64_t i = 0; i < 20; ++i) // each after a gap
            all.push_back({ i * 10'000, 1, 0.02 * static_cast<double>(i) });
        all.back().seconds = 0;
        return all;
    }();
    int in_vain = 0;
    for (std::size_t input = 0; input < to.inputs(); ++input)
        for (std::size_t written = 0; written < samples_in_run;) {
            std::size_t n = 0;
            const bool has_room = done([&] {
                n = to.write(input, samples, samples_in_run - written, written, tags);
            });
            written += n;
            if (n || (has_room &&
                      to.wait_for_space(std::chrono::steady_clock::now() + patience)))
                continue;
            if (++in_vain == calls_in_vain)
                return;
        }
}

// Says whether the shortage struck.
bool live_as_sink(const sink_case& c, const memory_shortage::plan& plan)
{
    static const std::vector<std::byte> samples(samples_in_run * sizeof(float),
                                                std::byte{ 0x7f });
    static const local_socket listener;
    static const auto nobody = closed_port();
    const auto to = c.is_heard ? listener.address() : nobody;
    const std::vector<std::string> destinations(c.inputs, to);
    sink_options options;
    options.heap_samples = 1000;
    options.items = default_items();
    options.items.push_back(immediate(0x1234, "level", { 0 }));
    options.buffer_size = 1 << 17;
    options.send_stop = false;
    options.stop_timeout = plan.failures == one ? 1 : 0.02;
    c.change(options);
    const immediate_items items(options);
    const auto level = items.update(items.find(0x1234), 7, -1);
    const auto patience = plan.failures == one ? std::chrono::milliseconds(bound)
                                               : std::chrono::milliseconds(5);

    std::unique_ptr<sink_engine> engine;
    std::optional<memory_shortage> shortage(plan);
    if (done([&] {
            engine =
                std::make_unique<sink_engine>(destinations, options, [](const auto&) {});
        }) &&
        done([&] { engine->start(); })) {
        write(*engine, samples.data(), patience);
        done([&] { engine->set_items(level); });
        engine->stop();
    }
    const bool has_struck = shortage->has_struck();
    shortage.reset();
    if (!engine)
        return has_struck;

    const auto first = engine->counts();
    BOOST_CHECK_EQUAL(first.samples_in, first.samples_sent + first.samples_dropped);
    if (plan.failures == one && first.samples_in)
        BOOST_CHECK_EQUAL(first.samples_in, samples_in_run * c.inputs);

    engine->start();
    write(*engine, samples.data(), bound);
    engine->stop();
    const auto second = engine->counts();
    BOOST_CHECK_EQUAL(second.samples_in, second.samples_sent + second.samples_dropped);
    BOOST_CHECK_EQUAL(second.samples_in, first.samples_in + samples_in_run * c.inputs);
    return has_struck;
}

} // namespace

BOOST_AUTO_TEST_SUITE(exhausted_memory)

BOOST_AUTO_TEST_CASE(a_sink_survives_each_allocation_that_fails)
{
    for (const auto& c : sink_cases)
        for (const auto on : { where::here, where::elsewhere })
            for (const auto failures : { one, lasting })
                BOOST_TEST_CONTEXT(c)
                {
                    fail_each_allocation(
                        on, failures, [&](const memory_shortage::plan& plan) {
                            return live_as_sink(c, plan);
                        });
                }
}

BOOST_AUTO_TEST_SUITE_END()
