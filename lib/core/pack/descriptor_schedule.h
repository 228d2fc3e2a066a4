/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_SCHEDULE_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_SCHEDULE_H

#include "packer_config.h"

#include <chrono>

namespace gr::spead {

/*!
 * \brief Schedules descriptor heaps: due times, destinations and heap counters.
 *
 * The caller passes the time. A round sends one heap to each destination. A round that
 * becomes due before the previous one is complete is skipped.
 */
class descriptor_schedule
{
public:
    using clock = std::chrono::steady_clock;

    explicit descriptor_schedule(const packer_config& config);

    bool needs_clock() const { return d_interval > clock::duration::zero(); }

    //! Begins a run.
    void start(clock::time_point now);
    //! Begins a round if one is due.
    void update(clock::time_point now);

    //! Whether a packet is due: the one at offset() in the heap with the heap counter
    //! heap_counter(), to destination().
    bool is_due() const { return d_next_destination < d_end_destination; }
    std::uint32_t destination() const { return d_first_destination + d_next_destination; }
    std::uint64_t heap_counter() const { return d_counter; }
    std::uint64_t offset() const { return d_offset; }

    //! Records that the due packet was written to the ring, with this much payload.
    //! \p heap_end: it is the last packet of its heap.
    void packet_written(std::size_t payload_bytes, bool heap_end);

    //! Skips the rest of the round, but not the rest of a partly written heap.
    void end_round_early();
    //! Skips the rest of the round, including that of a partly written heap.
    void skip_all();

private:
    void begin_round();
    void end_heap();

    const std::uint32_t d_first_destination;
    const std::uint32_t d_destinations; // 0 without descriptors
    const bool d_starts_with_round;
    const clock::duration d_interval;
    const std::uint64_t d_counter_step;
    const std::uint64_t d_mask;
    std::uint64_t d_counter; // continues across runs
    clock::time_point d_next_round;
    // the current round: destinations [d_next_destination, d_end_destination) are still
    // due
    std::uint32_t d_next_destination = 0;
    std::uint32_t d_end_destination = 0;
    std::uint64_t d_offset = 0; // in the payload of the heap to d_next_destination
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_SCHEDULE_H */
