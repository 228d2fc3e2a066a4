/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_INPUT_PACKER_H
#define INCLUDED_SPEAD_CORE_INPUT_PACKER_H

#include "descriptor_schedule.h"
#include "heap_numbering.h"
#include "heap_writer.h"
#include "item_updates.h"
#include "ring_writer.h"
#include "sink_counters.h"
#include "stream_config.h"

#include <functional>

namespace gr::spead {

/*!
 * \brief Packs the samples of one input: heaps of samples, heaps of descriptors when they
 * are due, and end-of-stream heaps.
 *
 * Decides which heap comes next, and drops heaps for which the ring has no room. The
 * samples of a heap are the business of heap_writer, its numbers that of heap_numbering.
 *
 * One thread at a time, but for set_items().
 */
class input_packer
{
public:
    using clock = descriptor_schedule::clock;

    //! \p published is called when there are packets and the sender sleeps. \p now is
    //! called at each write if descriptors are to be repeated.
    input_packer(stream_config config,
                 packet_ring& ring,
                 sink_counter_set& counts,
                 std::function<void()> published,
                 std::function<clock::time_point()> now = clock::now);
    input_packer(const input_packer&) = delete; // parts of it refer to others
    input_packer& operator=(const input_packer&) = delete;

    const stream_config& config() const { return d_config; }

    //! A new stream begins: its first heap to each destination carries the descriptors,
    //! or follows them.
    void start_run();

    std::size_t input_bytes() const { return d_config.converter.input_bytes(); }

    //! Packs as many of \p n samples as the ring has room for, and says how many.
    //! \p samples is nullptr for zeros in place of samples that never came in.
    std::uint64_t write(const std::byte* samples, std::uint64_t n);

    //! Counts samples that came in as dropped: they have no place in any heap.
    void drop(std::uint64_t n);

    //! The largest magnitude of a float times scale so far, but for NaN. Any thread.
    double largest_sample() const { return d_heap.largest_sample(); }

    //! Whether a part of the unfinished heap may have been sent.
    bool heap_is_partly_published() const { return d_heap.is_partly_published(); }

    //! Drops an unfinished heap, whose counter stays used, and goes on with a new heap of
    //! this timestamp.
    void skip_to(std::uint64_t next_timestamp);

    //! New values of immediate items of this input, all from the next heap on. Any
    //! thread.
    void set_items(const std::vector<item_update>& updates)
    {
        d_item_updates.set(updates);
    }

    //! Ends the stream: first its unfinished heap, then the end-of-stream heaps. False
    //! means that the ring is full: call again when there is room.
    bool finish_tail();
    bool send_stop();
    //! The next send_stop() sends the same end-of-stream heaps again.
    void repeat_stop() { d_extra.insert(d_extra.end(), d_ends.begin(), d_ends.end()); }

    //! Drops what is not published yet, and counts it.
    void drop_unpublished();

private:
    bool begin_heap();
    void apply_item_updates();
    std::uint64_t drop_rest(std::uint64_t n, bool came_in);
    void drop_tail();
    void make_ends();
    bool emit_extra();
    bool emit_descriptors();

    stream_config d_config; // but for the values of items it does not change
    sink_counter_set& d_counters;
    const std::function<clock::time_point()> d_now;
    item_updates d_item_updates;
    descriptor_schedule d_descriptors;
    heap_numbering d_numbering;
    ring_writer d_ring;
    heap_writer d_heap;
    heap_numbers d_numbers;            // of the heap in d_heap
    std::uint64_t d_drop_left = 0;     // samples of a heap that is dropped
    std::vector<extra_packet> d_extra; // to be sent before the next heap
    std::size_t d_extra_sent = 0;      // of them
    bool d_stopping = false;           // d_ends are made
    std::vector<extra_packet> d_ends;  // end-of-stream heaps
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_INPUT_PACKER_H */
