/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKER_CONFIG_H
#define INCLUDED_SPEAD_CORE_PACKER_CONFIG_H

#include "protocol/heap_layout.h"
#include "protocol/sample_converter.h"

#include <limits>
#include <optional>
#include <vector>

namespace gr::spead {

enum class full_policy { block, drop };
enum class tail_policy { shorten, pad, drop };

/*!
 * \brief Configuration of the heaps of one input.
 *
 * Destinations are indices into the sender's list of destinations.
 */
struct packer_config {
    heap_layout regular;
    //! heap with descriptors: the first one of each stream to each destination
    std::optional<heap_layout> first = std::nullopt;
    //! end-of-stream heap
    std::optional<heap_layout> stop = std::nullopt;
    //! descriptor heap: sent every descriptor_interval, and at the start of a stream
    //! unless the first heap carries the descriptors
    std::optional<heap_layout> descriptors = std::nullopt;

    //! from samples of the input to samples in a packet
    sample_converter converter{ sample_format() };

    std::uint64_t heap_id_start = 1;
    std::uint64_t heap_id_step = 1;
    std::uint64_t timestamp_start = 0;
    std::uint64_t timestamp_step = 0;
    full_policy when_full = full_policy::block;
    tail_policy tail = tail_policy::shorten;

    std::uint32_t first_destination = 0;
    //! destinations of heaps of samples, used round robin; each gets descriptor heaps
    std::uint32_t destinations = 1;

    double descriptor_interval = 0; //!< seconds; 0: only at the start of a stream
    //! heap counter of the first descriptor heap. The counters of descriptor heaps
    //! decrease, to avoid a collision with those of other heaps.
    std::uint64_t descriptor_id_start = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t descriptor_id_step = 1;

    //! destinations of the end-of-stream heap
    std::vector<std::uint32_t> stop_destinations{ 0 };

    std::uint64_t heap_samples() const
    {
        return converter.group().samples_of(regular.total_sample_bytes());
    }

    //! Maximum number of slots that a heap takes in the ring.
    std::uint64_t slots_of(const heap_layout& layout) const;
    //! Whether a heap is published only when it is complete. The packets of a larger heap
    //! are published as they fill.
    bool is_buffered(const heap_layout& layout, std::size_t ring_slots) const;
    //! Minimum number of slots of the ring.
    std::size_t min_ring_slots() const;
    //! Minimum for packet_ring::set_limit(): with a lower limit, the stream would stall.
    std::size_t min_slots_in_use(std::size_t ring_slots) const;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKER_CONFIG_H */
