/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_PLACER_H
#define INCLUDED_SPEAD_CORE_SAMPLE_PLACER_H

#include "heap_slot.h"
#include "no_output_reason.h"
#include "output_window.h"
#include "protocol/sample_decoder.h"
#include "receive_counters.h"
#include "split_groups.h"
#include "stream_follower.h"

#include <chrono>
#include <vector>

namespace gr::spead {

//! Places the samples of packets in the window, and their items beside them.
class sample_placer
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    //! The arguments must outlive this object.
    sample_placer(const sample_decoder& decoder,
                  stream_follower& follower,
                  output_window& window,
                  std::vector<source_counter_set>& counters, //!< per output
                  no_output_reason& reason)
        : d_decoder(decoder),
          d_follower(follower),
          d_window(window),
          d_counters(counters),
          d_no_output_reason(reason)
    {
    }

    enum class placement {
        done,
        ignored, //!< the packet holds no samples
        full     //!< samples must be produced before: nothing has been placed
    };
    //! Places the samples of a packet, which has arrived at \p arrival, of a heap that
    //! has entered the stream.
    placement
    place(heap_slot& slot, const packet_view& packet, time_point arrival, time_point now);

private:
    bool set_values(heap_slot& slot);

    const sample_decoder& d_decoder;
    stream_follower& d_follower;
    output_window& d_window;
    std::vector<source_counter_set>& d_counters;
    no_output_reason& d_no_output_reason;
    split_groups d_split_groups;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_PLACER_H */
