/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// How fast the sink is: a source of zeros, the sink, and nothing else in a flow graph.
// With --engine, the part below GNU Radio: a thread fills heaps with their index and
// hands them over. The options are those of spead2's tutorial programs.

#include "engine.h"
#include "number.h"

#include <gnuradio/io_signature.h>
#include <gnuradio/spead/sink.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

#include <getopt.h>

#include <condition_variable>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

struct options {
    std::uint64_t heaps = 1000;
    std::size_t heap_samples = 1 << 20;
    int packet_bytes = 1472;
    double rate = 0; // bytes per second
    int cpu = -1;
    bool engine = false;
    std::string to;

    std::uint64_t samples() const { return heaps * heap_samples; }
};

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start)
{
    return std::chrono::duration<double>(clock::now() - start).count();
}

//! Says every half second how far it is, while it lives.
class progress
{
public:
    progress(std::function<std::uint64_t()> samples_sent, std::uint64_t samples)
        : d_samples_sent(std::move(samples_sent)),
          d_samples(samples),
          d_thread(&progress::run, this)
    {
    }
    ~progress()
    {
        {
            const std::lock_guard<std::mutex> lock(d_mutex);
            d_done = true;
        }
        d_changed.notify_all();
        d_thread.join();
    }

private:
    void run()
    {
        std::unique_lock<std::mutex> lock(d_mutex);
        while (!d_changed.wait_for(
            lock, std::chrono::milliseconds(500), [this] { return d_done; })) {
            const auto sent = static_cast<double>(d_samples_sent());
            std::printf("%5.1f %%  %.0f MB\n",
                        100 * sent / static_cast<double>(d_samples),
                        sent / 1e6);
            std::fflush(stdout);
        }
    }

    const std::function<std::uint64_t()> d_samples_sent;
    const std::uint64_t d_samples;
    std::mutex d_mutex;
    std::condition_variable d_changed;
    bool d_done = false;
    std::thread d_thread;
};

//! GNU Radio's null source with an end, and without the copy that a head block would
//! cost.
class zeros : public gr::sync_block
{
public:
    explicit zeros(std::uint64_t n)
        : gr::sync_block(
              "zeros", gr::io_signature::make(0, 0, 0), gr::io_signature::make(1, 1, 1)),
          d_left(n)
    {
    }

    int work(int noutput_items,
             gr_vector_const_void_star&,
             gr_vector_void_star& output_items) override
    {
        if (!d_left)
            return WORK_DONE;
        const auto n = std::min(d_left, static_cast<std::uint64_t>(noutput_items));
        std::memset(output_items[0], 0, static_cast<std::size_t>(n));
        d_left -= n;
        return static_cast<int>(n);
    }

private:
    std::uint64_t d_left;
};

double measure_flow_graph(const options& chosen)
{
    gr::spead::sink_options sink_options;
    sink_options.heap_samples = chosen.heap_samples;
    sink_options.max_packet_size = chosen.packet_bytes;
    sink_options.rate = chosen.rate;
    sink_options.affinity = chosen.cpu;
    const auto graph = gr::make_top_block("send_perf");
    const auto source = gnuradio::make_block_sptr<zeros>(chosen.samples());
    const auto sink = gr::spead::sink::make(chosen.to, sink_options);
    graph->connect(source, 0, sink, 0);

    const progress shown([sink] { return sink->samples_sent(); }, chosen.samples());
    const auto start = clock::now();
    graph->run();
    const double elapsed = seconds_since(start);
    if (const auto lost = sink->samples_dropped())
        throw std::runtime_error(std::to_string(lost) + " samples were not sent");
    return static_cast<double>(sink->samples_sent()) / elapsed;
}

double measure_engine(const options& chosen)
{
    std::mutex mutex;
    std::condition_variable space;
    gr::spead::engine_options engine_options;
    engine_options.destinations = { { gr::spead::parse_endpoint(chosen.to) } };
    engine_options.items = { gr::spead::timestamp(), gr::spead::samples() };
    engine_options.heap_samples = chosen.heap_samples;
    engine_options.timestamp_step = chosen.heap_samples;
    engine_options.max_packet_bytes = static_cast<std::size_t>(chosen.packet_bytes);
    engine_options.sending.rate = chosen.rate;
    engine_options.sending.cpu = chosen.cpu;
    gr::spead::engine engine(
        engine_options,
        [&] {
            {
                const std::lock_guard<std::mutex> lock(mutex);
            }
            space.notify_all();
        },
        [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });

    const auto write = [&](const std::vector<std::int8_t>& samples) {
        for (std::size_t at = 0; at < samples.size();) {
            const auto mark = engine.progress();
            const auto taken = engine.write(samples.data() + at, samples.size() - at);
            at += taken;
            if (taken)
                continue;
            std::unique_lock<std::mutex> lock(mutex);
            while (!engine.space_since(mark)) {
                engine.announce_wait();
                if (engine.space_since(mark))
                    break;
                space.wait(lock);
            }
        }
    };

    const progress shown([&] { return engine.sent().samples_sent.get(); },
                         chosen.samples());
    // a piece of a heap that stays in the cache, as samples from a device would
    std::vector<std::int8_t> piece;
    const auto start = clock::now();
    engine.start();
    for (std::uint64_t heap = 0; heap < chosen.heaps; ++heap)
        for (std::size_t left = chosen.heap_samples; left; left -= piece.size()) {
            piece.assign(std::min<std::size_t>(left, 1 << 18),
                         static_cast<std::int8_t>(heap));
            write(piece);
        }
    engine.stop();
    const double elapsed = seconds_since(start);
    if (engine.sent().samples_sent.get() != chosen.samples())
        throw std::runtime_error("not all samples were sent");
    return static_cast<double>(chosen.samples()) / elapsed;
}

int usage(const char* name)
{
    std::fprintf(stderr,
                 "Usage: %s [-n heaps] [-H heap-size] [-p packet-size] [-r rate-MB/s]\n"
                 "       [-a cpu] [--engine] host port\n"
                 "Sends heaps as fast as it can, or at the rate, and says how fast that "
                 "was in\nMB/s of samples. -a pins the thread that sends.\n",
                 name);
    return 2;
}

options parse(int argc, char** argv)
{
    options chosen;
    const option long_options[] = { { "engine", no_argument, nullptr, 'e' },
                                    { nullptr, 0, nullptr, 0 } };
    int option;
    while ((option = getopt_long(argc, argv, "n:H:p:r:a:", long_options, nullptr)) != -1)
        switch (option) {
        case 'n':
            chosen.heaps = number<std::uint64_t>("-n", optarg, 1, 1ull << 40);
            break;
        case 'H':
            chosen.heap_samples = number<std::size_t>("-H", optarg, 1, 0xffffffff);
            break;
        case 'p':
            chosen.packet_bytes = number("-p", optarg, 0, 65507);
            break;
        case 'r':
            chosen.rate = number("-r", optarg, 0.0, 1e6) * 1e6;
            break;
        case 'a':
            chosen.cpu = number("-a", optarg, 0, 1 << 20);
            break;
        case 'e':
            chosen.engine = true;
            break;
        default:
            return {};
        }
    if (chosen.heaps > std::numeric_limits<std::uint64_t>::max() / chosen.heap_samples)
        throw std::invalid_argument("-n " + std::to_string(chosen.heaps) + " -H " +
                                    std::to_string(chosen.heap_samples) +
                                    ": less than 2^64 samples in all are possible");
    if (argc - optind != 2)
        return {};
    const std::string host = argv[optind];
    const bool v6 = host.find(':') != std::string::npos;
    chosen.to = (v6 ? "[" + host + "]" : host) + ":" + argv[optind + 1];
    return chosen;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const auto chosen = parse(argc, argv);
        if (chosen.to.empty())
            return usage(argv[0]);
        const double speed =
            chosen.engine ? measure_engine(chosen) : measure_flow_graph(chosen);
        std::printf("%.2f MB/s\n", speed / 1e6);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 1;
    }
}
