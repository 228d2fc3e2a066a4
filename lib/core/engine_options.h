/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ENGINE_OPTIONS_H
#define INCLUDED_SPEAD_CORE_ENGINE_OPTIONS_H

#include "network/endpoint.h"
#include "network/udp_transport.h"
#include "pack/stream_plan.h"
#include "protocol/sample_converter.h"
#include "send/sender.h"
#include "time/timeline.h"
#include <gnuradio/spead/item.h>

#include <vector>

namespace gr::spead {

enum class descriptor_policy { none, first_heap, separate };
enum class timestamp_source { count, rx_time };

//! Checked options; what depends on the path is checked by the engine.
struct engine_options {
    //! one list for each input, or one for all
    std::vector<std::vector<endpoint>> destinations;
    socket_options socket;
    std::size_t inputs = 1;
    sample_type type = sample_type::int8;
    byte_order order = byte_order::big;
    float scale = 1;
    std::vector<item> items;
    wire::flavour flavour{ 40 };
    std::uint64_t heap_samples = 8192;
    std::size_t max_packet_bytes = 1472; //!< 0 = from the path MTU
    descriptor_policy descriptors = descriptor_policy::first_heap;
    double descriptor_interval = 0; //!< seconds, 0 = once
    bool pad_packets = true;
    std::uint64_t heap_id_start = 1;
    std::uint64_t heap_id_step = 1;
    std::uint64_t timestamp_start = 0;
    std::uint64_t timestamp_step = 8192;
    timestamp_source timestamps = timestamp_source::count;
    exact_rate sample_rate{ 1 }; //!< and what follows: of rx_time only
    exact_time sync_time;
    gap_policy on_gap = gap_policy::realign;
    start_policy on_start = start_policy::drop;
    full_policy when_full = full_policy::block;
    tail_policy tail = tail_policy::shorten;
    std::size_t buffer_bytes = 0; //!< of each ring, 0 = our choice
    bool send_stop = true;
    double stop_timeout = 1; //!< seconds
    sender_options sending;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ENGINE_OPTIONS_H */
