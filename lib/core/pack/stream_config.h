/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_CONFIG_H
#define INCLUDED_SPEAD_CORE_STREAM_CONFIG_H

#include "protocol/heap_layout.h"
#include "protocol/sample_converter.h"

#include <limits>
#include <optional>
#include <vector>

namespace gr::spead {

enum class full_policy { block, drop };
enum class tail_policy { shorten, pad, drop };

/*!
 * \brief Everything about the heaps of one input that is known before the first sample.
 *
 * Destinations are numbers in a list that the sender has.
 */
struct stream_config {
    heap_layout regular;
    //! with descriptors, once in each stream to each destination
    std::optional<heap_layout> first = std::nullopt;
    //! the end-of-stream heap
    std::optional<heap_layout> stop = std::nullopt;
    //! descriptors in a heap of their own: at the start of a stream, unless its first
    //! heap has them, and every descriptor_interval
    std::optional<heap_layout> descriptors = std::nullopt;

    //! what comes in, and what it is in a packet
    sample_converter converter{ sample_type::int8 };

    std::uint64_t heap_id_start = 1;
    std::uint64_t heap_id_step = 1;
    std::uint64_t timestamp_start = 0;
    std::uint64_t timestamp_step = 0;
    full_policy when_full = full_policy::block;
    tail_policy tail = tail_policy::shorten;

    //! heaps of samples go to so many destinations in turn, from this one on; each of
    //! them gets a heap of descriptors
    std::uint32_t first_destination = 0;
    std::uint32_t destinations = 1;

    double descriptor_interval = 0; //!< seconds, 0 = only at the start of a stream
    //! the counters of these heaps go down, from the last there is unless told otherwise,
    //! so that they do not meet those of the others
    std::uint64_t descriptor_id_start = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t descriptor_id_step = 1;

    //! each gets the end-of-stream heap
    std::vector<std::uint32_t> stop_destinations{ 0 };

    //! samples in a heap
    std::uint64_t heap_samples() const
    {
        return regular.sample_bytes() / converter.output_bytes();
    }

    //! The most slots of the ring that a heap takes.
    std::uint64_t slots_of(const heap_layout& layout) const;
    //! Whether the sender gets a heap only when it is complete. The packets of a larger
    //! heap are sent as they fill.
    bool is_buffered(const heap_layout& layout, std::size_t ring_slots) const;
    //! The fewest slots that the ring must have.
    std::size_t min_ring_slots() const;
    //! The fewest slots that must be free to be used at a time, or the stream would stop.
    std::size_t min_slots_in_use(std::size_t ring_slots) const;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_CONFIG_H */
