/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_IMPL_H
#define INCLUDED_SPEAD_SINK_IMPL_H

#include "core/engine.h"
#include <gnuradio/spead/sink.h>
#include <gnuradio/thread/thread.h>

namespace gr {
namespace spead {

class sink_impl : public sink
{
public:
    sink_impl(const std::string& destinations, const sink_options& options);
    ~sink_impl() override;

    bool start() override;
    bool stop() override;
    int work(int noutput_items,
             gr_vector_const_void_star& input_items,
             gr_vector_void_star& output_items) override;

    void set_rate(double rate) override;
    double rate() const override { return d_engine.rate(); }
    sink_stats stats() const override;
    std::uint64_t samples_in() const override;
    std::uint64_t samples_sent() const override;
    std::uint64_t samples_dropped() const override;
    std::uint64_t samples_pending() const override;
    std::uint64_t heaps_sent() const override;
    std::uint64_t heaps_dropped() const override;
    std::uint64_t packets_sent() const override;
    std::uint64_t packets_dropped() const override;
    std::uint64_t bytes_sent() const override;
    std::uint64_t icmp_errors() const override;
    std::uint64_t gso_refused() const override;
    bool gso() const override { return d_engine.gso(); }
    bool zero_copy() const override { return d_engine.zero_copy(); }
    std::size_t packet_size() const override { return d_engine.packet_bytes(); }

private:
    void wait_for_space(std::uint64_t mark);
    void space_ready();

    // boost's kind: tb.stop() interrupts a wait of this one
    gr::thread::mutex d_space_mutex;
    gr::thread::condition_variable d_space;
    engine d_engine;
    bool d_failed = false;
    counter d_unsendable; // samples that came after a failed start
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_SINK_IMPL_H */
