/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_IMPL_H
#define INCLUDED_SPEAD_SINK_IMPL_H

#include "core/axes/vector_stage.h"
#include "core/items.h"
#include "core/sink_engine.h"
#include "input_progress.h"
#include <gnuradio/spead/sink.h>

#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

class sink_impl : public sink
{
public:
    sink_impl(const std::vector<std::string>& destinations, const sink_config& config);
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
    sink_stats stats() const override { return d_engine.stats(); }
    std::size_t packet_size() const override { return d_engine.packet_bytes(); }
    std::vector<std::string> destinations() const override { return d_destinations; }

private:
    void take_vectors(const gr_vector_int& ninput_items,
                      const gr_vector_const_void_star& input_items);
    void end_heaps();
    bool take_samples(const gr_vector_int& ninput_items,
                      const gr_vector_const_void_star& input_items,
                      bool& has_progressed,
                      bool& is_ring_full);
    std::size_t write_samples(std::size_t input,
                              const std::byte* samples,
                              std::size_t n,
                              std::size_t begin);
    void read_tags(std::size_t input, std::uint64_t first_sample, std::size_t n);
    template <typename function>
    void apply_message(const char* port, function&& apply);
    void publish_stats();

    const std::vector<std::string> d_destinations;
    const std::size_t d_input_bytes;          // per item
    const int d_upstream_multiple;            // items
    const std::size_t d_max_samples_per_call; // per input
    input_progress d_inputs;
    const immediate_items d_items;
    const bool d_reads_tags;

    // used by general_work()
    std::vector<gr::tag_t> d_tags;
    std::vector<rx_time_tag> d_time_tags;

    std::optional<vector_stage> d_stage; // with axes
    const bool d_pads_incomplete_heaps;  // with axes

    sink_engine d_engine;
    const bool d_publishes_stats;
    bool d_failed = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_IMPL_H */
