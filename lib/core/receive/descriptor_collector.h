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

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::spead {

/*!
 * \brief Collects the descriptors of a heap from its packets, in any order, one heap at a
 * time.
 */
class descriptor_collector
{
public:
    descriptor_collector();

    //! Whether a packet has descriptors among its item pointers.
    static bool has_descriptors(const packet_view& packet);

    //! Whether packets of this heap are still needed. A heap that has come in too many
    //! pieces may begin anew.
    bool is_collecting(std::uint64_t heap_counter) const
    {
        return !d_missing.empty() && !d_missing.is_full() && d_heap == heap_counter;
    }

    //! Begins with the heap of a packet that has descriptors.
    void begin(const packet_view& packet);

    //! Takes a packet of that heap. True if it was the last one that was needed.
    bool take(const packet_view& packet);

    //! What the collected descriptors say, without those that make no sense.
    std::vector<item_description> read() const;

    //! A hash of what was collected.
    std::uint64_t hash() const;

private:
    std::uint64_t d_heap = 0;
    std::vector<position_range> d_descriptors; // in the payload of the heap
    missing_ranges d_missing;
    std::vector<std::byte> d_payload;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H */
