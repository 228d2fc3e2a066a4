/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_IMPL_H
#define INCLUDED_SPEAD_SINK_IMPL_H

#include "core/engine.h"
#include "input_progress.h"
#include "item_checks.h"
#include "periodic_call.h"
#include "sink_config.h"
#include <gnuradio/spead/sink.h>
#include <gnuradio/thread/thread.h>

#include <vector>

namespace gr::spead {

class sink_impl : public sink
{
public:
    explicit sink_impl(const sink_config& config);
    ~sink_impl() override;

    bool start() override;
    bool stop() override;
    void forecast(int noutput_items, gr_vector_int& ninput_items_required) override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    void set_rate(double rate) override;
    double rate() const override { return d_engine.rate(); }
    void set_item(std::int64_t id, std::int64_t value, std::int64_t input) override;
    void
    set_item(const std::string& name, std::int64_t value, std::int64_t input) override;
    void set_items(const std::vector<item>& items) override;
    sink_stats stats() const override;
    std::uint64_t samples_in() const override { return stats().samples_in; }
    std::uint64_t samples_sent() const override { return stats().samples_sent; }
    std::uint64_t samples_dropped() const override { return stats().samples_dropped; }
    std::uint64_t samples_pending() const override { return stats().samples_pending; }
    std::uint64_t heaps_sent() const override { return stats().heaps_sent; }
    std::uint64_t heaps_dropped() const override { return stats().heaps_dropped; }
    std::uint64_t packets_sent() const override { return stats().packets_sent; }
    std::uint64_t packets_dropped() const override { return stats().packets_dropped; }
    std::uint64_t bytes_sent() const override { return stats().bytes_sent; }
    std::uint64_t icmp_errors() const override { return stats().icmp_errors; }
    std::uint64_t gso_refused() const override { return stats().gso_refused; }
    std::uint64_t samples_clipped() const override { return stats().samples_clipped; }
    std::uint64_t gaps() const override { return stats().gaps; }
    std::uint64_t samples_missing() const override { return stats().samples_missing; }
    std::uint64_t samples_zero_filled() const override
    {
        return stats().samples_zero_filled;
    }
    std::uint64_t steps_back() const override { return stats().steps_back; }
    bool gso() const override { return d_engine.gso(); }
    bool zero_copy() const override { return d_engine.zero_copy(); }
    std::size_t packet_size() const override { return d_engine.packet_bytes(); }

private:
    std::size_t
    take(std::size_t input, const std::byte* samples, std::size_t n, std::size_t begin);
    void read_tags(std::size_t input, std::uint64_t first, std::size_t n);
    bool wait_for_space();
    bool any_space() const;
    void space_ready();
    void apply(const std::vector<item_change>& changes);
    void handle_items(const pmt::pmt_t& message);
    void publish_stats() noexcept;

    const std::size_t d_input_bytes;  // of a sample
    const int d_upstream_multiple;    // samples
    const std::size_t d_most_at_once; // samples in a call, of each input
    input_progress d_inputs;
    const item_catalogue d_items;
    const bool d_reads_tags;

    // of general_work()
    struct obstacle {
        std::size_t input;
        std::uint64_t mark; // of the ring, before it was found full
    };
    std::vector<obstacle> d_obstacles;
    std::vector<gr::tag_t> d_tags;
    std::vector<time_tag> d_times;

    // boost's kind: tb.stop() interrupts a wait of this one
    gr::thread::mutex d_space_mutex;
    gr::thread::condition_variable d_space;
    engine d_engine;
    bool d_failed = false;
    counter d_unsendable; // samples that came after a failed start
    // the last member: its thread uses the others
    periodic_call d_stats_timer;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_IMPL_H */
