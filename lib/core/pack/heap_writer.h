/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_WRITER_H
#define INCLUDED_SPEAD_CORE_HEAP_WRITER_H

#include "heap_numbering.h"
#include "packer_config.h"
#include "ring_writer.h"
#include "support/sink_counters.h"

#include <array>
#include <atomic>

namespace gr::spead {

/*!
 * \brief Packs the samples of one heap at a time into packets in the ring.
 *
 * A buffered heap is published when it is complete, so that it can still be shortened.
 * The packets of a larger heap are published as they fill. They carry the full heap
 * length, so the heap is filled with zeros at the end of the run instead.
 */
class heap_writer
{
public:
    //! All arguments must outlive the writer.
    heap_writer(const packer_config& config, ring_writer& ring, sink_counter_set& counts);

    void begin(const heap_layout& layout, const heap_numbers& numbers);

    bool is_open() const { return d_layout; }

    //! Packs up to \p n samples, until the heap is complete or the ring is full.
    //! Returns how many. If \p samples is nullptr, packs zeros for missing samples.
    std::uint64_t write(const std::byte* samples, std::uint64_t n);

    //! Largest magnitude of a scaled float so far, ignoring NaN. Any thread.
    double largest_sample() const { return d_largest; }

    //! Whether the open heap has neither samples nor packets that may have been sent.
    bool is_empty() const { return samples_so_far() == 0 && !is_partly_published(); }

    //! Whether packets of the open heap may have been sent.
    bool is_partly_published() const { return d_ring.ready().count > d_start.count; }

    //! Ends the open heap. Appends the packets of a shortened heap to \p prebuilt.
    //! Returns false if the ring is full: call again when it has room.
    bool finish(tail_policy policy, std::vector<prebuilt_packet>& prebuilt);

    //! Drops the open heap and counts it and its samples. If packets of it may have been
    //! sent, appends a heap_dropped marker to \p prebuilt instead: the sender counts
    //! both.
    void drop(std::vector<prebuilt_packet>& prebuilt);

private:
    bool open_packet();
    std::size_t fill(const std::byte* samples, std::uint64_t n);
    void collect(const std::byte* samples, std::size_t n);
    void convert(std::byte* output, const std::byte* input, std::size_t n);
    bool put_prefix();
    void advance(std::size_t bytes);
    void close_packet();

    void finish_short(std::vector<prebuilt_packet>& prebuilt);
    void end();
    std::uint64_t samples_so_far() const;
    std::uint64_t samples_in() const { return samples_so_far() - d_zeros; }

    const packer_config& d_config;
    ring_writer& d_ring;
    sink_counter_set& d_counters;
    const std::uint64_t d_heap_samples;
    const sample_group d_group;
    const bool d_regular_is_buffered;
    const bool d_first_is_buffered;
    std::atomic<float> d_largest{ 0 };

    // the open heap
    const heap_layout* d_layout = nullptr; // nullptr between heaps
    bool d_is_buffered = false;
    ring_cursor d_start;
    std::uint64_t d_offset = 0; // payload bytes written so far
    heap_words d_words;
    std::uint16_t d_destination = 0;
    std::uint64_t d_zeros = 0; // packed for missing samples

    // bytes to pack before the next sample: descriptors, or the rest of a split group
    const std::byte* d_prefix = nullptr;
    std::size_t d_prefix_bytes = 0;
    std::array<std::byte, sample_group::max_bytes> d_split_group;

    // samples of the input that do not fill a group yet
    std::size_t d_collected = 0;
    alignas(float) std::array<std::byte, sample_group::max_bytes> d_collected_samples;

    // the open packet
    std::byte* d_write_position = nullptr; // next byte to write; nullptr between packets
    std::size_t d_room = 0;                // bytes
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_WRITER_H */
