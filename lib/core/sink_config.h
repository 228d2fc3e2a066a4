/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SINK_CONFIG_H
#define INCLUDED_SPEAD_CORE_SINK_CONFIG_H

#include "axes/heap_axes.h"
#include "network/endpoint.h"
#include "pack/packer_config.h"
#include "time/tick_clock.h"
#include "time/timestamp_aligner.h"
#include <gnuradio/spead/sink_options.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

enum class descriptor_policy { none, first_heap, separate };

//! The options of a sink, checked and parsed.
struct sink_config {
    //! One list per input, or one for all: addresses only, or the same capture
    //! everywhere. The hosts are not resolved yet.
    std::vector<std::vector<endpoint>> destinations;
    std::string interface;
    int ttl = 1; //!< hops
    heap_axes axes;
    std::size_t ports = 1; //!< of the block
    //! Of the engine: as many as ports or, with axes, one per substream, with its samples
    //! in the order of the heap.
    std::size_t inputs = 1;

    // heaps
    sample_format format;
    sample_converter converter{ sample_format() };
    std::vector<item> items; //!< of heaps
    wire::flavour flavour{ 40 };
    descriptor_policy descriptors = descriptor_policy::first_heap;
    double descriptor_interval = 0; //!< s; 0: only at the start of a stream
    tail_policy tail = tail_policy::shorten;
    bool has_single_packets = false;
    bool has_end = true; //!< an end-of-stream heap
    std::uint64_t heap_id_start = 1;
    std::uint64_t heap_id_step = 1;
    std::uint64_t timestamp_start = 0; //!< ticks
    std::uint64_t timestamp_step = 0;  //!< ticks

    // times
    std::optional<tick_clock> clock;                 //!< with sample_rate
    std::optional<timestamp_aligner_config> aligner; //!< with sample_rate

    // packets
    std::size_t max_packet_bytes = 0; //!< 0: the maximum of the path
    bool is_default_packet = false;   //!< max_packet_bytes has not been set
    bool pads_packets = true;
    std::size_t ring_bytes = 0;  //!< per input; larger if a heap needs more
    bool has_fixed_ring = false; //!< ring_bytes has been set
    full_policy when_full = full_policy::block;
    double rate = 0; //!< bytes per second; 0: unlimited
    std::size_t burst_bytes = 0;
    int cpu = -1;                              //!< of the sending thread; -1: any
    std::chrono::nanoseconds stats_interval{}; //!< 0: no messages

    bool is_capture() const { return !destinations.front().front().capture.empty(); }
    //! The largest value of a heap counter, a timestamp and an immediate item.
    std::int64_t largest_value() const
    {
        return static_cast<std::int64_t>(flavour.address_mask());
    }
    std::size_t heap_bytes() const
    {
        return converter.group().bytes_of(format.heap_samples);
    }
    //! Lower limit of max_packet_bytes: a header with the items, and with their
    //! descriptors if the first heap has them, and 8 bytes of samples; or the
    //! end-of-stream packet.
    std::size_t smallest_packet_bytes() const;
    //! Number of heaps that an input may be ahead of the slowest one, 0: no limit.
    std::uint64_t heaps_ahead() const;
};

//! Needs no network. Throws parameter_error for an invalid option.
sink_config parse_options(const std::vector<std::string>& destinations,
                          const sink_options& options);

//! Throws parameter_error for an invalid rate.
double checked_rate(double rate);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SINK_CONFIG_H */
