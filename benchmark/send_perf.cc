/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// How fast the sink is: a source of zeros, the sink, and nothing else in a flow graph.
// With --engine, the part below GNU Radio: a thread fills heaps with their index and
// hands them over. The options are those of spead2's tutorial programs.

#include "number.h"
#include "send_perf.h"

#include <getopt.h>

#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

namespace {

int usage(const char* name)
{
    std::fprintf(stderr,
                 "Usage: %s [-n heaps] [-H heap-size] [-p packet-size] [-r rate-MB/s]\n"
                 "       [-a cpu] [-i inputs] [-d destinations] [-t type] [--engine] "
                 "host port\n"
                 "Sends heaps as fast as it can, or at the rate, and says how fast that "
                 "was in\nMB/s of samples. -a pins the thread that sends. Inputs share "
                 "the heaps; heaps of\n"
                 "each go to the destinations in turn, ports from that one on; -t is the "
                 "input_type\nof the sink.\n",
                 name);
    return 2;
}

options parse(int argc, char** argv)
{
    options chosen;
    int destinations = 1;
    const option long_options[] = { { "engine", no_argument, nullptr, 'e' },
                                    { nullptr, 0, nullptr, 0 } };
    int option;
    while ((option =
                getopt_long(argc, argv, "n:H:p:r:a:i:d:t:", long_options, nullptr)) != -1)
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
        case 'i':
            chosen.inputs = number("-i", optarg, 1, 64);
            break;
        case 'd':
            destinations = number("-d", optarg, 1, 4096);
            break;
        case 't':
            chosen.type = optarg;
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
    const int port = number("port", argv[optind + 1], 1, 65536 - destinations);
    for (int i = 0; i < destinations; ++i)
        chosen.to += (i ? "," : "") + (v6 ? "[" + host + "]" : host) + ":" +
                     std::to_string(port + i);
    if (chosen.engine && (chosen.inputs > 1 || chosen.type != "int8"))
        throw std::invalid_argument("--engine measures one input of int8");
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
