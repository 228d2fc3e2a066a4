/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H

#include "missing_ranges.h"
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
    void add(const packet_view& packet,
             std::uint64_t sender,
             std::size_t group,
             time_point time);

    //! Whether packets of this heap are still needed. One that has come in too many
    //! pieces may begin anew.
    bool awaits(std::uint64_t heap_counter, std::uint64_t sender, std::size_t group) const
    {
        return is_incomplete() && !d_missing.is_full() && d_heap == heap_counter &&
               d_sender == sender && d_group == group;
    }
    //! Whether a heap has been begun and not completed.
    bool is_incomplete() const { return !d_missing.empty(); }

    //! Whether next() has one.
    bool has_next() const { return !is_incomplete() && d_unread > 0; }
    //! The next descriptor of a heap whose descriptors are complete. None for one that
    //! makes no sense.
    std::optional<item_description> next();

private:
    struct descriptor {
        std::uint64_t begin, end; // in the heap
        std::size_t at;           // in d_bytes
    };

    void begin(const packet_view& packet, std::uint64_t sender, std::size_t group);

    std::uint64_t d_heap = 0;
    std::uint64_t d_sender = 0;
    std::size_t d_group = 0;
    time_point d_begun = {};
    std::vector<descriptor> d_descriptors; // the last one first
    std::size_t d_unread = 0;
    std::vector<std::byte> d_bytes;
    missing_ranges d_missing; // in d_bytes
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H */
