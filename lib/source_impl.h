/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SOURCE_IMPL_H
#define INCLUDED_SPEAD_SOURCE_IMPL_H

#include "core/axes/heap_stage.h"
#include "core/source_engine.h"
#include "core/time/tick_clock.h"
#include <gnuradio/spead/source.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

class source_impl : public source
{
public:
    source_impl(const std::vector<std::string>& endpoints, const source_config& config);

    bool start() override;
    bool stop() override;
    int general_work(int noutput_items,
                     gr_vector_int& ninput_items,
                     gr_vector_const_void_star& input_items,
                     gr_vector_void_star& output_items) override;

    source_stats stats(std::int64_t output) const override;
    std::vector<int> ports() const override { return d_engine.ports(); }
    std::vector<std::string> endpoints() const override { return d_endpoints; }

private:
    using clock = std::chrono::steady_clock;

    bool find_room(std::int64_t& room);
    bool is_at_end() const;
    std::size_t produce_samples(std::int64_t room);
    std::size_t produce_vectors(std::int64_t room);
    bool advance_front(std::size_t offset);
    void add_heap_tags(std::size_t offset);
    void add_tag(const sample_tag& tag);
    pmt::pmt_t item_key(const std::string& name);
    void publish_stats();

    const std::vector<std::string> d_endpoints;
    const std::int64_t d_num_outputs;
    const int d_multiple;                    // items
    const std::optional<tick_clock> d_clock; // with sample_rate

    // used by general_work()
    std::vector<std::byte*> d_port_items;
    std::vector<sample_tag> d_tags;
    std::map<std::string, pmt::pmt_t> d_item_keys; // keys of tags, by item name

    std::optional<heap_stage> d_stage; // with axes
    const std::size_t d_item_bytes;
    const std::int64_t d_heap_samples; // with axes

    source_engine d_engine;
    bool d_failed = false;
    const clock::duration d_stats_interval; // 0: no messages
    clock::time_point d_next_stats{};
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SOURCE_IMPL_H */
