/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sink_config.h"
#include "sink_impl.h"

#include <gnuradio/io_signature.h>

#include <cstring>

namespace gr {
namespace spead {

namespace {

// The scheduler makes the buffer upstream twice as large as this. With its own choice,
// 64 KiB, the two threads would hand over crumbs, and context switches set the pace.
constexpr int upstream_multiple = 1 << 20;

} // namespace

sink::sptr sink::make(const std::string& destinations, const sink_options& options)
{
    return gnuradio::make_block_sptr<sink_impl>(destinations, options);
}

sink_impl::sink_impl(const std::string& destinations, const sink_options& options)
    : gr::sync_block("spead_sink",
                     gr::io_signature::make(1, 1, sizeof(std::int8_t)),
                     gr::io_signature::make(0, 0, 0)),
      d_engine(
          checked(destinations, options),
          [this] { space_ready(); },
          [this, destinations](const std::string& line) {
              d_logger->warn("{:s}: {:s}", destinations, line);
          })
{
    set_output_multiple(upstream_multiple);
}

sink_impl::~sink_impl() { d_engine.stop(); }

// Whatever leaves start(), work() or stop() as an exception hangs the flow graph.

bool sink_impl::start()
{
    // the buffer is allocated; from here on any number of samples will do, since a
    // multiple would cost the end of the stream
    set_output_multiple(1);
    d_failed = false;
    try {
        d_engine.start();
    } catch (const std::exception& e) {
        d_failed = true;
        d_logger->error("cannot start, all samples are dropped: {:s}", e.what());
    }
    return true;
}

bool sink_impl::stop()
{
    d_engine.stop();
    // a restart allocates the buffer anew
    set_output_multiple(upstream_multiple);
    return true;
}

int sink_impl::work(int noutput_items,
                    gr_vector_const_void_star& input_items,
                    gr_vector_void_star&)
{
    if (d_failed) {
        d_unsendable.add(static_cast<std::uint64_t>(noutput_items));
        return noutput_items;
    }
    const auto* in = static_cast<const std::int8_t*>(input_items[0]);
    for (;;) {
        const auto mark = d_engine.progress();
        const auto taken = d_engine.write(in, static_cast<std::size_t>(noutput_items));
        if (taken)
            return static_cast<int>(taken);
        // returning 0 would make the scheduler call again at once, and again
        wait_for_space(mark);
    }
}

// The only thing that may leave it is boost::thread_interrupted, which the scheduler
// expects: it is how tb.stop() gets through to a sink that waits for the network.
void sink_impl::wait_for_space(std::uint64_t mark)
{
    gr::thread::scoped_lock lock(d_space_mutex);
    while (!d_engine.space_since(mark)) {
        d_engine.announce_wait();
        if (d_engine.space_since(mark))
            return;
        d_space.wait(lock);
    }
}

void sink_impl::space_ready()
{
    {
        const gr::thread::scoped_lock lock(d_space_mutex);
    }
    d_space.notify_all();
}

void sink_impl::set_rate(double rate) { d_engine.set_rate(checked_rate(rate)); }

// The order of reading matters: what is sent must never seem more than what came in.
sink_stats sink_impl::stats() const
{
    sink_stats now;
    now.samples_sent = samples_sent();
    now.samples_dropped = samples_dropped();
    now.samples_in = samples_in();
    now.samples_pending = now.samples_in - now.samples_sent - now.samples_dropped;
    now.heaps_sent = heaps_sent();
    now.heaps_dropped = heaps_dropped();
    now.packets_sent = packets_sent();
    now.packets_dropped = packets_dropped();
    now.bytes_sent = bytes_sent();
    now.icmp_errors = icmp_errors();
    now.gso_refused = gso_refused();
    now.gso = gso();
    now.zero_copy = zero_copy();
    for (std::size_t i = 0; i < error_counters::causes.size(); ++i) {
        const int error = error_counters::causes[i];
        if (const auto count = d_engine.sent().errors.get(i))
            now.send_errors[error ? strerrorname_np(error) : "other"] = count;
    }
    return now;
}

std::uint64_t sink_impl::samples_in() const
{
    return d_engine.packed().samples_in.get() + d_unsendable.get();
}
std::uint64_t sink_impl::samples_sent() const
{
    return d_engine.sent().samples_sent.get();
}
std::uint64_t sink_impl::samples_dropped() const
{
    return d_engine.sent().samples_dropped.get() +
           d_engine.packed().samples_dropped.get() + d_unsendable.get();
}
std::uint64_t sink_impl::samples_pending() const { return stats().samples_pending; }
std::uint64_t sink_impl::heaps_sent() const { return d_engine.sent().heaps_sent.get(); }
std::uint64_t sink_impl::heaps_dropped() const
{
    return d_engine.sent().heaps_dropped.get() + d_engine.packed().heaps_dropped.get();
}
std::uint64_t sink_impl::packets_sent() const
{
    return d_engine.sent().packets_sent.get();
}
std::uint64_t sink_impl::packets_dropped() const
{
    return d_engine.sent().packets_dropped.get();
}
std::uint64_t sink_impl::bytes_sent() const { return d_engine.sent().bytes_sent.get(); }
std::uint64_t sink_impl::icmp_errors() const { return d_engine.sent().icmp_errors.get(); }
std::uint64_t sink_impl::gso_refused() const { return d_engine.sent().gso_refused.get(); }

} // namespace spead
} // namespace gr
