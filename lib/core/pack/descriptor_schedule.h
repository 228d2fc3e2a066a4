/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_SCHEDULE_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_SCHEDULE_H

#include "stream_config.h"

#include <chrono>

namespace gr::spead {

/*!
 * \brief When heaps of descriptors are due, where they go and what their counters are.
 *
 * Has no clock of its own. A round is one heap for each destination; one that is due
 * before the last one is through is skipped.
 */
class descriptor_schedule
{
public:
    using clock = std::chrono::steady_clock;

    explicit descriptor_schedule(const stream_config& config);

    bool needs_clock() const { return d_interval > clock::duration::zero(); }

    //! A stream begins.
    void start(clock::time_point now);
    //! Finds out whether it is time for a round.
    void update(clock::time_point now);

    //! Whether there is something to send. Then the packet at offset() of a heap with
    //! the counter heap_id() is next, to destination().
    bool is_due() const { return d_at < d_end; }
    std::uint32_t destination() const { return d_first_destination + d_at; }
    std::uint64_t heap_id() const { return d_heap_id; }
    std::uint64_t offset() const { return d_offset; }

    //! So many bytes of the payload have a packet, which may end the heap.
    void sent(std::size_t payload_bytes, bool heap_end);

    //! The rest of the round is skipped, but not that of a heap that has begun.
    void end_round_early();
    //! And that is skipped too.
    void skip_all();

private:
    void begin_round();
    void end_heap();

    const std::uint32_t d_first_destination;
    const std::uint32_t d_destinations; // 0 without descriptors
    const bool d_at_start;
    const clock::duration d_interval;
    const std::uint64_t d_id_step;
    const std::uint64_t d_mask;
    std::uint64_t d_heap_id; // runs on over all streams
    clock::time_point d_next;
    // the round, in destinations
    std::uint32_t d_at = 0;
    std::uint32_t d_end = 0;
    std::uint64_t d_offset = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_SCHEDULE_H */
