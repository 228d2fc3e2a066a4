/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "progress.h"
#include "send_perf.h"

#include <gnuradio/io_signature.h>
#include <gnuradio/spead/sink.h>
#include <gnuradio/sync_block.h>
#include <gnuradio/top_block.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace {

//! GNU Radio's null source with an end, and without the copy that a head block would
//! cost.
class zeros : public gr::sync_block
{
public:
    zeros(std::uint64_t n, std::size_t item_bytes)
        : gr::sync_block("zeros",
                         gr::io_signature::make(0, 0, 0),
                         gr::io_signature::make(1, 1, static_cast<int>(item_bytes))),
          d_left(n),
          d_item_bytes(item_bytes)
    {
    }

    int work(int noutput_items,
             gr_vector_const_void_star&,
             gr_vector_void_star& output_items) override
    {
        if (!d_left)
            return WORK_DONE;
        const auto n = std::min(d_left, static_cast<std::uint64_t>(noutput_items));
        std::memset(output_items[0], 0, static_cast<std::size_t>(n) * d_item_bytes);
        d_left -= n;
        return static_cast<int>(n);
    }

private:
    std::uint64_t d_left;
    const std::size_t d_item_bytes;
};

} // namespace

double measure_flow_graph(const options& chosen)
{
    gr::spead::sink_options sink_options;
    sink_options.heap_samples = chosen.heap_samples;
    sink_options.max_packet_size = chosen.packet_bytes;
    sink_options.rate = chosen.rate;
    sink_options.affinity = chosen.cpu;
    sink_options.send_stop = false; // it takes its time, whatever the speed
    const auto graph = gr::make_top_block("send_perf");
    sink_options.num_inputs = chosen.inputs;
    sink_options.input_type = chosen.type;
    const auto sink = gr::spead::sink::make(chosen.to, sink_options);
    const auto bytes = sink->input_signature()->sizeof_stream_item(0);
    const auto inputs = static_cast<std::uint64_t>(chosen.inputs);
    for (std::uint64_t i = 0; i < inputs; ++i) {
        const auto heaps = chosen.heaps / inputs + (i < chosen.heaps % inputs);
        const auto source = gnuradio::make_block_sptr<zeros>(
            heaps * chosen.heap_samples, static_cast<std::size_t>(bytes));
        graph->connect(source, 0, sink, static_cast<int>(i));
    }

    const progress shown([sink] { return sink->stats().samples_sent; }, chosen.samples());
    const auto start = steady::now();
    graph->run();
    const double elapsed = seconds_since(start);
    if (const auto lost = sink->stats().samples_dropped)
        throw std::runtime_error(std::to_string(lost) + " samples were not sent");
    return static_cast<double>(sink->stats().samples_sent) / elapsed;
}
