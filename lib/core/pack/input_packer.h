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
#include "packer_config.h"
#include "ring_writer.h"
#include "support/sink_counters.h"

#include <functional>

namespace gr::spead {

/*!
 * \brief Packs one input: heaps of samples, descriptor heaps and end-of-stream heaps.
 *
 * Decides which heap comes next. With full_policy::drop, drops heaps for which the ring
 * has no room. heap_writer packs the samples of a heap, heap_numbering assigns its
 * numbers.
 *
 * Not thread-safe, except for set_items().
 */
class input_packer
{
public:
    using clock = descriptor_schedule::clock;

    //! \p wake_sender is called after packets are published, if the sender sleeps.
    //! \p read_clock is called at each write if descriptors are repeated.
    input_packer(packer_config config,
                 packet_ring& ring,
                 sink_counter_set& counters,
                 std::function<void()> wake_sender,
                 std::function<clock::time_point()> read_clock = clock::now);
    input_packer(const input_packer&) = delete; // members refer to each other
    input_packer& operator=(const input_packer&) = delete;

    const packer_config& config() const { return d_config; }

    //! Begins a stream. Its first heap to each destination carries the descriptors or
    //! follows them.
    void start_run();

    std::size_t input_bytes() const { return d_config.converter.input_bytes(); }

    //! Packs up to \p n samples, until the ring is full. With full_policy::drop, drops
    //! those of a heap without room instead. Returns how many were packed or dropped. If
    //! \p samples is nullptr, packs zeros for missing samples.
    std::uint64_t write(const std::byte* samples, std::uint64_t n);

    //! Counts \p n input samples as dropped. They belong to no heap.
    void drop(std::uint64_t n);

    //! Largest magnitude of a scaled float so far, ignoring NaN. Any thread.
    double largest_sample() const { return d_heap.largest_sample(); }

    //! Whether packets of the unfinished heap may have been sent. Unspecified if there is
    //! none.
    bool heap_is_partly_published() const { return d_heap.is_partly_published(); }

    //! Drops the unfinished heap, if any, and sets the timestamp of the next one. Reuses
    //! the heap counter of the dropped heap only if that heap was empty.
    void skip_to(std::uint64_t next_timestamp);

    //! Sets immediate items of this input. They change together, in the next heap.
    //! Any thread.
    void set_items(const std::vector<item_update>& updates)
    {
        d_item_updates.set(updates);
    }

    //! \name End of stream
    //! finish_tail() ends the unfinished heap; then pack_stop_heaps() packs the
    //! end-of-stream heaps. False: the ring is full; call again when it has room.
    //! \{
    bool finish_tail();
    bool pack_stop_heaps();
    //! \}
    //! Makes the next pack_stop_heaps() pack the same end-of-stream heaps again.
    void repeat_stop_heaps()
    {
        d_prebuilt.insert(d_prebuilt.end(), d_stop_packets.begin(), d_stop_packets.end());
    }

    //! Drops everything that is not published yet, and counts it.
    void drop_unpublished();

private:
    bool begin_heap();
    void apply_item_updates();
    std::uint64_t drop_rest(std::uint64_t n, bool is_input);
    void drop_tail();
    void make_stop_packets();
    bool pack_prebuilt();
    bool pack_descriptors();

    packer_config d_config; // constant, except for the values of items
    sink_counter_set& d_counters;
    const std::function<clock::time_point()> d_read_clock;
    item_updates d_item_updates;
    descriptor_schedule d_descriptors;
    heap_numbering d_numbering;
    ring_writer d_ring;
    heap_writer d_heap;
    heap_numbers d_numbers;              // of the heap in d_heap
    std::uint64_t d_samples_to_drop = 0; // remaining samples of a heap that is dropped
    std::vector<prebuilt_packet> d_prebuilt; // to be packed before the next heap
    std::size_t d_prebuilt_written = 0;      // number of d_prebuilt that are in the ring
    bool d_has_stop_packets = false;
    std::vector<prebuilt_packet> d_stop_packets; // end-of-stream heaps
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_INPUT_PACKER_H */
