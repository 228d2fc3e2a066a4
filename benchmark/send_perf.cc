/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Measures the throughput of a flow graph of a noise source and the sink. The options
// follow spead2's tutorial programs.

#include "noise.h"
#include "number.h"

#include <gnuradio/io_signature.h>
#include <gnuradio/spead/sink.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t noise_bytes = 1 << 15; // fits into the cache

struct options {
    std::int64_t heaps = 1000; // total of all inputs
    std::string destinations;
    gr::spead::sink_options sink;
};

//! Noise for an input_type of the sink: random bytes for integers; for floats, Gaussian
//! noise that is not clipped.
std::vector<char> make_noise(const std::string& type)
{
    std::vector<char> noise(noise_bytes);
    if (type == "float" || type == "complex") {
        auto numbers = gaussian_noise(noise_bytes / sizeof(float));
        for (auto& number : numbers)
            number /= 8;
        std::memcpy(noise.data(), numbers.data(), noise_bytes);
    } else {
        std::mt19937 generator;
        std::generate(noise.begin(), noise.end(), std::ref(generator));
    }
    return noise;
}

//! Repeats the noise.
class noise_source : public gr::sync_block
{
public:
    noise_source(const std::vector<char>& noise, std::int64_t samples, int item_bytes)
        : gr::sync_block("noise_source",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, item_bytes)),
          d_noise(noise),
          d_left(samples),
          d_item_bytes(static_cast<std::size_t>(item_bytes))
    {
    }

    int work(int noutput_items,
             gr_vector_const_void_star&,
             gr_vector_void_star& output_items) override
    {
        if (!d_left)
            return WORK_DONE;
        const auto n = std::min<std::int64_t>(d_left, noutput_items);
        auto* out = static_cast<char*>(output_items[0]);
        for (auto bytes = static_cast<std::size_t>(n) * d_item_bytes; bytes;) {
            const auto piece = std::min(bytes, d_noise.size() - d_read_index);
            out = std::copy_n(&d_noise[d_read_index], piece, out);
            d_read_index = (d_read_index + piece) % d_noise.size();
            bytes -= piece;
        }
        d_left -= n;
        return static_cast<int>(n);
    }

private:
    const std::vector<char>& d_noise;
    std::size_t d_read_index = 0;
    std::int64_t d_left;
    const std::size_t d_item_bytes;
};

//! Bytes per sample on the wire.
double sample_bytes(const std::string& type, const std::string& wire)
{
    const bool is_complex = type == "sc8" || type == "sc16" || type == "complex";
    const double number_bytes = wire == "i10"                       ? 1.25
                                : wire == "i12"                     ? 1.5
                                : type == "int16" || type == "sc16" ? 2
                                                                    : 1;
    return number_bytes * (is_complex ? 2 : 1);
}

//! Sends the heaps and returns the speed in bytes of samples per second.
double measure(const options& chosen)
{
    const auto sink = gr::spead::sink::make(chosen.destinations, chosen.sink);
    const auto graph = gr::make_top_block("send_perf");
    const int item_bytes = sink->input_signature()->sizeof_stream_item(0);
    const auto noise = make_noise(chosen.sink.input_type);
    const auto inputs = chosen.sink.num_inputs;
    for (std::int64_t i = 0; i < inputs; ++i) {
        const auto heaps = chosen.heaps / inputs + (i < chosen.heaps % inputs);
        const auto source = gnuradio::make_block_sptr<noise_source>(
            noise, heaps * chosen.sink.heap_samples, item_bytes);
        graph->connect(source, 0, sink, static_cast<int>(i));
    }

    const auto start = std::chrono::steady_clock::now();
    graph->run();
    const std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    if (const auto dropped = sink->stats().samples_dropped)
        throw std::runtime_error(std::to_string(dropped) + " samples were dropped");
    const auto samples = static_cast<double>(sink->stats().samples_sent);
    return samples * sample_bytes(chosen.sink.input_type, chosen.sink.wire_type) /
           elapsed.count();
}

int usage(const char* name)
{
    std::fprintf(
        stderr,
        "Usage: %s [-n heaps] [-H heap-samples] [-p packet-size] [-r rate-MB/s]\n"
        "       [-i inputs] [-d destinations] [-t type] [-w i10|i12] host port\n"
        "Sends heaps of noise at the rate (default: as fast as possible) and prints\n"
        "the speed in MB/s of samples. The heaps are divided among the inputs. Each\n"
        "input sends its heaps to the destinations, on consecutive ports, round-robin.\n"
        "-t sets the input_type of the sink, -w packs the samples.\n",
        name);
    return 2;
}

//! Returns options without destinations if the arguments are invalid.
options parse(int argc, char** argv)
{
    options chosen;
    chosen.sink.heap_samples = 1 << 20;
    chosen.sink.send_stop = false; // repeating the stop heap takes a fixed time
    int destinations = 1;
    for (int option; (option = getopt(argc, argv, "n:H:p:r:i:d:t:w:")) != -1;)
        switch (option) {
        case 'n':
            chosen.heaps = number<std::int64_t>("-n", optarg, 1, 1000000000);
            break;
        case 'H':
            chosen.sink.heap_samples = number<std::int64_t>("-H", optarg, 1, 1ll << 32);
            break;
        case 'p':
            chosen.sink.max_packet_size = number("-p", optarg, 0, 65507);
            break;
        case 'r':
            chosen.sink.rate = number("-r", optarg, 0.0, 1e6) * 1e6;
            break;
        case 'i':
            chosen.sink.num_inputs = number("-i", optarg, 1, 64);
            break;
        case 'd':
            destinations = number("-d", optarg, 1, 4096);
            break;
        case 't':
            chosen.sink.input_type = optarg;
            break;
        case 'w':
            chosen.sink.wire_type = optarg;
            break;
        default:
            return chosen;
        }
    if (argc - optind != 2)
        return chosen;
    const std::string host = argv[optind];
    const bool v6 = host.find(':') != std::string::npos;
    const int port = number("port", argv[optind + 1], 1, 65536 - destinations);
    for (int i = 0; i < destinations; ++i)
        chosen.destinations += (i ? "," : "") + (v6 ? "[" + host + "]" : host) + ":" +
                               std::to_string(port + i);
    return chosen;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const auto chosen = parse(argc, argv);
        if (chosen.destinations.empty())
            return usage(argv[0]);
        std::printf("%.2f MB/s\n", measure(chosen) / 1e6);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 1;
    }
}
