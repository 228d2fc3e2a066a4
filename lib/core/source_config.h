/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SOURCE_CONFIG_H
#define INCLUDED_SPEAD_CORE_SOURCE_CONFIG_H

#include "axes/heap_axes.h"
#include "network/endpoint.h"
#include "protocol/sample_format.h"
#include "receive/output_window.h"
#include "receive/stream_format.h"
#include "time/tick_clock.h"
#include <gnuradio/spead/source_options.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

//! Lower limit of buffer_size.
inline constexpr std::int64_t min_window_bytes = 256 << 10;

//! The options of a source, checked and parsed.
struct source_config {
    using duration = std::chrono::steady_clock::duration;

    //! One list per output, or one for all: addresses only, or captures only. The hosts
    //! are not resolved yet.
    std::vector<std::vector<endpoint>> endpoints;
    std::string interface;
    heap_axes axes;
    std::size_t ports = 1; //!< of the block
    //! Of the engine: as many as ports or, with axes, one per substream, with its samples
    //! in the order of the heap.
    std::size_t outputs = 1;
    sample_format format;
    std::optional<double> scale; //!< none: full scale is 1.0
    //! From items, if they are set; else nullptr, and descriptors give it.
    std::shared_ptr<const stream_format> user_format;
    std::vector<item_description> descriptions; //!< known before descriptors arrive
    std::int64_t heap_samples = 1;              //!< in timestamp_step ticks
    std::int64_t timestamp_step = 1;
    std::int64_t max_gap = 0; //!< samples
    missing_policy on_missing = missing_policy::zero_fill;
    duration max_delay{};
    bool end_on_stop = true;
    duration timeout{}; //!< 0: none
    bool realtime = false;
    bool repeat = false;
    std::size_t window_bytes = 0;    //!< per output
    std::optional<tick_clock> clock; //!< with sample_rate
    //! The tick of the first output sample; none: the first one that arrives.
    std::optional<std::uint64_t> start_tick;
    duration stats_interval{}; //!< 0: no messages

    //! Maximum number of samples in a packet.
    static constexpr std::size_t max_packet_samples = 65536;
    //! Samples in the window of an output: at least four of the largest packets.
    std::size_t window_samples() const
    {
        return std::max(window_bytes / sample_bytes(), 4 * max_packet_samples);
    }
    //! Bytes of a sample in the flow graph.
    std::size_t sample_bytes() const
    {
        return components_of(format.type) * bits_of(format.type) / 8;
    }
};

//! Needs no network. Throws parameter_error for an invalid option.
source_config parse_options(const std::vector<std::string>& endpoints,
                            const source_options& options);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOURCE_CONFIG_H */
