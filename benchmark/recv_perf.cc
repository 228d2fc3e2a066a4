/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Measures a flow graph of the source and a null sink until the stream ends.

#include <gnuradio/io_signature.h>
#include <gnuradio/spead/source.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

double cpu_seconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) +
               1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class null_sink : public gr::sync_block
{
public:
    explicit null_sink(int bytes)
        : gr::sync_block("null",
                         gr::io_signature::make(1, 1, bytes),
                         gr::io_signature::make(0, 0, 0))
    {
    }
    int work(int n, gr_vector_const_void_star&, gr_vector_void_star&) override
    {
        return n;
    }
};

} // namespace

int main(int argc, char** argv)
try {
    gr::spead::source_options options;
    options.timeout = 5;
    if (argc < 3 || argc > 5) {
        std::fputs("usage: recv_perf HOST PORT [BUFFER_SIZE [OUTPUT_TYPE]]\n", stderr);
        return 2;
    }
    if (argc > 3)
        options.buffer_size = std::stoll(argv[3]);
    if (argc > 4)
        options.output_type = argv[4];
    const auto at = std::string(argv[1]) + ":" + argv[2];
    const auto source = gr::spead::source::make(at, options);
    const auto sink = gnuradio::make_block_sptr<null_sink>(
        source->output_signature()->sizeof_stream_item(0));
    const auto graph = gr::make_top_block("recv_perf");
    graph->connect(source, 0, sink, 0);
    graph->start();
    std::puts("ready");
    std::fflush(stdout);
    graph->wait();

    const auto stats = source->stats();
    const auto bytes = static_cast<double>(stats.bytes_received);
    std::printf("%.0f MB received, %.3f s of CPU time/GB, %llu samples missing, "
                "%llu datagrams dropped\n",
                bytes / 1e6,
                bytes > 0 ? cpu_seconds() / bytes * 1e9 : 0,
                static_cast<unsigned long long>(stats.samples_missing),
                static_cast<unsigned long long>(stats.datagrams_dropped_by_socket));
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "recv_perf: %s\n", error.what());
    return 1;
}
