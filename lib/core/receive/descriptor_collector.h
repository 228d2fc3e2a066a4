/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H

#include "missing_ranges.h"
#include "packet_store.h"
#include "protocol/descriptor_reader.h"
#include "protocol/packet_parser.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Collects the descriptors of one heap at a time, from its packets in any order.
 *
 * Does not allocate after its construction, but in next().
 */
class descriptor_collector
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    descriptor_collector();

    //! Takes what a packet holds of descriptors. A packet that points to descriptors of
    //! another heap begins with that heap.
    void add(const packet_view& packet, const heap_id& heap, time_point time);

    //! Whether packets of this heap are still needed. One that has come in too many
    //! pieces may begin anew.
    bool awaits(const heap_id& heap) const
    {
        return is_incomplete() && !d_missing.is_full() && d_heap == heap;
    }
    //! Whether a heap has been begun and not completed.
    bool is_incomplete() const { return !d_missing.empty(); }

    //! Whether next() has one.
    bool has_next() const { return !is_incomplete() && !d_descriptors.empty(); }
    //! The next descriptor of a heap whose descriptors are complete. None for one that
    //! makes no sense.
    std::optional<item_description> next();

private:
    struct descriptor {
        std::uint64_t begin, end; // in the heap
        std::size_t at;           // in d_bytes
    };

    void begin(const packet_view& packet);

    heap_id d_heap{};
    time_point d_begun{};
    std::vector<descriptor> d_descriptors; // the last one first
    std::vector<std::byte> d_bytes;
    missing_ranges d_missing; // in d_bytes
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H */
