/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Runs sinks and sources in flow graphs without Python, for use with sanitizers. The
// value of each sample follows from its time; samples that do not arrive must be counted.

#define BOOST_TEST_MODULE flow_graphs
#include <boost/test/unit_test.hpp>

#include <gnuradio/io_signature.h>
#include <gnuradio/spead/sink.h>
#include <gnuradio/spead/source.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using gr::spead::sink;
using gr::spead::sink_options;
using gr::spead::source;
using gr::spead::source_options;

namespace {

constexpr auto test_timeout = 60s; // of each wait; long enough for sanitizers under load

void wait_for(const std::function<bool()>& condition, const char* failure)
{
    const auto end = std::chrono::steady_clock::now() + test_timeout;
    while (!condition() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(1ms);
    BOOST_REQUIRE_MESSAGE(condition(), failure);
}

//! The value of a sample; never 0, which marks a missing sample.
std::int8_t value_at(std::uint64_t place)
{
    return static_cast<std::int8_t>(1 + place * 0x9e3779b97f4a7c15u % 251);
}

//! A source whose sample values follow from their places. With \p jump, the place jumps
//! ahead every 10,000 samples. "rx_time" tags of a 1 MHz clock mark each jump and the
//! start of each run.
class numbered_samples : public gr::sync_block
{
public:
    explicit numbered_samples(std::uint64_t jump = 0)
        : gr::sync_block("numbered_samples",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, 1)),
          d_jump(jump)
    {
    }

    bool start() override
    {
        d_until_jump = 0;
        return true;
    }

    int work(int noutput_items,
             gr_vector_const_void_star&,
             gr_vector_void_star& output_items) override
    {
        if (d_has_ended)
            return WORK_DONE;
        const auto n = static_cast<unsigned>(noutput_items);
        auto* out = static_cast<std::int8_t*>(output_items[0]);
        for (unsigned i = 0; i < n; ++i) {
            if (d_jump && d_until_jump-- == 0) {
                d_until_jump = 9999;
                d_place += d_jump;
                add_item_tag(
                    0,
                    nitems_written(0) + i,
                    pmt::mp("rx_time"),
                    pmt::make_tuple(pmt::from_uint64(d_place / 1000000),
                                    pmt::from_double(1e-6 * double(d_place % 1000000))));
            }
            out[i] = value_at(d_place++);
        }
        return noutput_items;
    }

    void end() { d_has_ended = true; }

private:
    std::atomic<bool> d_has_ended{ false };
    const std::uint64_t d_jump;
    std::uint64_t d_place = 0;
    int d_until_jump = 0; // samples
};

//! Compares samples with the values of their places, which each "timestamp" tag sets.
class checked_samples : public gr::sync_block
{
public:
    checked_samples()
        : gr::sync_block("checked_samples",
                         gr::io_signature::make(1, 1, 1),
                         gr::io_signature::make(0, 0, 0))
    {
    }

    int work(int noutput_items,
             gr_vector_const_void_star& input_items,
             gr_vector_void_star&) override
    {
        const auto* in = static_cast<const std::int8_t*>(input_items[0]);
        const auto n = static_cast<unsigned>(noutput_items);
        const auto first = nitems_read(0);
        std::vector<gr::tag_t> tags;
        get_tags_in_range(tags, 0, first, first + n, pmt::mp("timestamp"));
        auto tag = tags.begin();
        for (unsigned i = 0; i < n; ++i) {
            for (; tag != tags.end() && tag->offset == first + i; ++tag)
                d_place = pmt::to_uint64(tag->value);
            if (in[i] == 0)
                ++zeros;
            else if (in[i] == value_at(d_place))
                ++correct;
            else
                ++wrong;
            ++d_place;
        }
        return noutput_items;
    }

    std::atomic<std::uint64_t> correct{ 0 };
    std::atomic<std::uint64_t> zeros{ 0 };
    std::atomic<std::uint64_t> wrong{ 0 };

private:
    std::uint64_t d_place = 0;
};

//! Calls a function repeatedly on its own thread while it exists.
class background_loop
{
public:
    explicit background_loop(std::function<void()> function)
        : d_thread([this, function = std::move(function)] {
              while (!d_done)
                  function();
          })
    {
    }
    ~background_loop()
    {
        d_done = true;
        d_thread.join();
    }

private:
    std::atomic<bool> d_done{ false };
    std::thread d_thread;
};

bool balanced(const gr::spead::sink_stats& stats)
{
    return stats.samples_in ==
           stats.samples_sent + stats.samples_dropped + stats.samples_pending;
}

bool balanced(const gr::spead::source_stats& stats)
{
    return stats.samples_out ==
           stats.samples_received + stats.samples_missing - stats.samples_skipped;
}

//! Checks the sink of a stream that has ended.
void check_sink(const sink::sptr& out)
{
    const auto stats = out->stats();
    BOOST_CHECK(balanced(stats));
    BOOST_CHECK_EQUAL(stats.samples_pending, 0u);
}

void check_source(const source::sptr& in,
                  const std::vector<std::shared_ptr<checked_samples>>& outputs)
{
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto stats = in->stats(static_cast<std::int64_t>(i));
        BOOST_CHECK(balanced(stats));
        BOOST_CHECK_EQUAL(outputs[i]->wrong, 0u);
        BOOST_CHECK_EQUAL(outputs[i]->correct, stats.samples_received);
        BOOST_CHECK_EQUAL(outputs[i]->zeros, stats.samples_missing);
    }
}

//! A stream from a sink to a source in one flow graph.
struct loopback {
    gr::top_block_sptr graph = gr::make_top_block("loopback");
    source::sptr in;
    sink::sptr out;
    std::vector<std::shared_ptr<numbered_samples>> inputs;
    std::vector<std::shared_ptr<checked_samples>> outputs;

    loopback(source_options receive, sink_options send, int jump = 0)
    {
        in = source::make("127.0.0.1:0", receive);
        out = sink::make("127.0.0.1:" + std::to_string(in->ports()[0]), send);
        for (int i = 0; i < send.num_inputs; ++i) {
            inputs.push_back(gnuradio::make_block_sptr<numbered_samples>(jump));
            graph->connect(inputs.back(), 0, out, i);
        }
        for (int i = 0; i < receive.num_outputs; ++i) {
            outputs.push_back(gnuradio::make_block_sptr<checked_samples>());
            graph->connect(in, i, outputs.back(), 0);
        }
    }
    //! Ends the stream, which also ends the source. graph->stop() would discard samples
    //! that the source has already counted as output.
    void end()
    {
        for (const auto& input : inputs)
            input->end();
        graph->wait();
        check_sink(out);
        check_source(in, outputs);
    }
};

sink_options heaps_of(std::int64_t samples)
{
    sink_options options;
    options.heap_samples = samples;
    // a small queue, which the sink can send before its stop timeout even under load
    options.buffer_size = 1 << 18;
    return options;
}

} // namespace

BOOST_AUTO_TEST_SUITE(flow_graphs)

BOOST_AUTO_TEST_CASE(options_may_change_while_running)
{
    auto send = heaps_of(700);
    // large enough that the rate limits the length of the queue
    send.buffer_size = sink_options().buffer_size;
    send.num_inputs = 2;
    send.items = { gr::spead::timestamp(),
                   gr::spead::immediate(0x3101, "feng_id", { 0, 1 }),
                   gr::spead::immediate(0x3102, "gain", { 1 }),
                   gr::spead::samples() };
    send.stats_interval = 0.001;
    send.rate = 3e6;
    source_options receive;
    receive.stats_interval = 0.001;
    receive.num_outputs = 2;
    receive.items = send.items;
    (*receive.items)[2].values.clear(); // any value
    receive.heap_samples = send.heap_samples;
    loopback l(receive, send);
    std::mt19937 random(1);
    std::atomic<int> rounds{ 0 };
    std::atomic<int> unbalanced{ 0 };
    l.graph->start();
    {
        const background_loop changing([&] {
            l.out->set_rate(1e6 + random() % 3000000);
            l.out->set_item("gain", static_cast<std::int64_t>(random() % 1000), -1);
            auto items = send.items;
            items[2] = gr::spead::immediate(0x3102, "gain", { 5 });
            l.out->set_items(items);
            ++rounds;
        });
        const background_loop reading([&] {
            if (!balanced(l.out->stats()) || !balanced(l.in->stats(0)) ||
                !balanced(l.in->stats(1)))
                ++unbalanced;
        });
        wait_for(
            [&] {
                return rounds > 300 && l.outputs[0]->correct > 1000000 &&
                       l.outputs[1]->correct > 1000000;
            },
            "samples do not arrive");
    }
    BOOST_CHECK_EQUAL(unbalanced, 0);
    l.out->set_rate(20e6); // sends the queue before the stop timeout
    l.end();
}

BOOST_AUTO_TEST_CASE(blocks_can_be_restarted)
{
    auto send = heaps_of(1000);
    send.sample_rate = gr::spead::exact_rate{ 1000000, 1 };
    send.rate = 3e6;
    source_options receive;
    receive.end_on_stop = false;
    loopback l(receive, send, 1);
    for (int run = 0; run < 4; ++run) {
        const auto received = l.outputs[0]->correct.load();
        l.graph->start();
        wait_for([&] { return l.outputs[0]->correct > received + 20000; },
                 "samples do not arrive");
        l.graph->stop();
        l.graph->wait();
        check_sink(l.out);
        BOOST_CHECK(balanced(l.in->stats()));
        BOOST_CHECK_EQUAL(l.outputs[0]->wrong, 0u);
    }
}

BOOST_AUTO_TEST_CASE(sink_stops_with_a_full_ring)
{
    for (const auto* when_full : { "block", "drop" }) {
        auto send = heaps_of(10000);
        send.when_full = when_full;
        send.rate = 1e5;
        send.buffer_size = 1 << 16;
        const auto out = sink::make("127.0.0.1:9", send);
        const auto graph = gr::make_top_block("full");
        graph->connect(gnuradio::make_block_sptr<numbered_samples>(), 0, out, 0);
        graph->start();
        wait_for(
            [&] {
                const auto stats = out->stats();
                return stats.ring_full + stats.samples_dropped > 0;
            },
            "the ring does not fill up");
        graph->stop();
        graph->wait();
        check_sink(out);
    }
}

BOOST_AUTO_TEST_SUITE_END()
