/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_NUMBERING_H
#define INCLUDED_SPEAD_CORE_HEAP_NUMBERING_H

#include "packer_config.h"

#include <algorithm>
#include <vector>

namespace gr::spead {

//! What differs from one heap of samples to the next.
struct heap_numbers {
    std::uint64_t counter = 0;
    std::uint64_t timestamp = 0;
    std::uint16_t destination = 0;
    bool is_first = false; //!< no heap to this destination was completed in this run
};

/*!
 * \brief Assigns heap counters, timestamps and destinations to the heaps of an input.
 *
 * Destinations are used in round-robin order. This order, the heap counters and the
 * timestamps continue when the flow graph restarts.
 */
class heap_numbering
{
public:
    explicit heap_numbering(const packer_config& config)
        : d_mask(config.regular.contents().flavour.address_mask()),
          d_counter_step(config.heap_id_step),
          d_timestamp_step(config.timestamp_step),
          d_first_destination(config.first_destination),
          d_counter(config.heap_id_start),
          d_timestamp(config.timestamp_start),
          d_has_complete_heap(config.destinations)
    {
    }

    void start_run()
    {
        std::fill(d_has_complete_heap.begin(), d_has_complete_heap.end(), false);
    }

    //! Assigns numbers to the next heap of samples.
    heap_numbers next_heap()
    {
        const heap_numbers numbers{ d_counter,
                                    d_timestamp,
                                    static_cast<std::uint16_t>(d_first_destination +
                                                               d_next_destination),
                                    !d_has_complete_heap[d_next_destination] };
        d_counter = (d_counter + d_counter_step) & d_mask;
        d_timestamp = (d_timestamp + d_timestamp_step) & d_mask;
        d_next_destination = (d_next_destination + 1) % destinations();
        return numbers;
    }

    //! Undoes next_heap() for a heap that got no samples. No other member may have been
    //! called in between.
    void undo_next_heap()
    {
        d_counter = (d_counter - d_counter_step) & d_mask;
        d_timestamp = (d_timestamp - d_timestamp_step) & d_mask;
        d_next_destination = (d_next_destination + destinations() - 1) % destinations();
    }

    //! Records that a heap is complete, so that later ones to its destination are not the
    //! first.
    void record_complete(const heap_numbers& heap)
    {
        d_has_complete_heap[heap.destination - d_first_destination] = true;
    }

    //! Assigns a heap counter to an end-of-stream heap.
    std::uint64_t next_end_of_stream_counter()
    {
        const auto counter = d_counter;
        d_counter = (d_counter + d_counter_step) & d_mask;
        return counter;
    }

    void set_timestamp(std::uint64_t timestamp) { d_timestamp = timestamp & d_mask; }

private:
    std::uint32_t destinations() const
    {
        return static_cast<std::uint32_t>(d_has_complete_heap.size());
    }

    const std::uint64_t d_mask; // of the bits of heap counters and timestamps
    const std::uint64_t d_counter_step;
    const std::uint64_t d_timestamp_step;
    const std::uint32_t d_first_destination;
    std::uint64_t d_counter;
    std::uint64_t d_timestamp;
    std::uint32_t d_next_destination = 0;
    std::vector<bool> d_has_complete_heap; // in this run, by destination
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_NUMBERING_H */
