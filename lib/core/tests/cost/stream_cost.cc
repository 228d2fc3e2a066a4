/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Sends samples through an engine, to count its system calls:
// stream-cost <heap samples> <packet bytes> <bytes per second> <MiB>
// Prints the number of packets, and whether zero copy was still active at the end.

#include "cost_stream.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv)
{
    using namespace gr::spead;
    if (argc != 5)
        return EXIT_FAILURE;
    const unread_socket receiver;
    sink_options o;
    o.heap_samples = std::strtoll(argv[1], nullptr, 10);
    o.max_packet_size = std::strtoll(argv[2], nullptr, 10);
    o.rate = std::strtod(argv[3], nullptr);
    const auto total = std::strtoull(argv[4], nullptr, 10) << 20;

    sink_engine stream(
        parse_options({ receiver.destination() }, o),
        [](const auto& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
    const auto samples = noise(1 << 20);
    stream.start();
    const bool done = write_samples(stream, samples, total, samples.size());
    stream.stop();
    const auto stats = stream.stats();
    std::printf("%llu %d\n",
                static_cast<unsigned long long>(stats.packets_sent),
                stats.zero_copy);
    return done && stats.samples_sent == total ? EXIT_SUCCESS : EXIT_FAILURE;
}
