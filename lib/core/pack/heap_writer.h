/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_WRITER_H
#define INCLUDED_SPEAD_CORE_HEAP_WRITER_H

#include "heap_numbering.h"
#include "ring_writer.h"
#include "sink_counters.h"
#include "stream_config.h"

#include <array>
#include <atomic>

namespace gr::spead {

/*!
 * \brief Cuts the samples of a heap into packets in the ring, one heap after the other.
 *
 * A buffered heap is published when it is complete, so that it can still become a short
 * heap. The packets of a larger heap are published as they fill. Its heap length has been
 * sent by then: at the end of the stream it is filled up to that length with zeros.
 *
 * All numbers of samples are numbers of samples, not of bytes.
 */
class heap_writer
{
public:
    //! The ring must be empty. Both must outlive this.
    heap_writer(const stream_config& config, ring_writer& ring, sink_counter_set& counts);

    void begin(const heap_layout& layout, const heap_numbers& numbers);

    //! Whether a heap has begun and not ended.
    bool is_open() const { return d_layout; }

    //! Takes samples until they or the ring or the heap is full, and says how many.
    //! \p samples is nullptr for zeros in place of samples that never came in.
    std::uint64_t write(const std::byte* samples, std::uint64_t n);

    //! The largest magnitude of a float times scale so far, but for NaN. Any thread.
    double largest_sample() const { return d_largest; }

    //! Whether the open heap has no sample, and nothing of it can have been sent.
    bool is_empty() const { return samples_so_far() == 0 && !is_partly_published(); }

    //! Whether a part of the heap may have been sent.
    bool is_partly_published() const { return d_ring.ready().count > d_start.count; }

    //! Ends an open heap. The packets of a short heap are added to \p extra. False means
    //! that the ring is full: call again.
    bool finish(tail_policy policy, std::vector<extra_packet>& extra);

    //! Ends an open heap and counts its samples as dropped. Where a part of it has been
    //! published, a mark for the sender is added to \p extra: the sender counts.
    void drop(std::vector<extra_packet>& extra);

private:
    bool open_packet();
    std::size_t fill(const std::byte* in, std::uint64_t samples);
    void convert(std::byte* out, const std::byte* in, std::size_t samples);
    bool put_prefix();
    void advance(std::size_t bytes);
    void close_packet();

    void finish_short(std::vector<extra_packet>& extra);
    void end();
    std::uint64_t samples_so_far() const;
    std::uint64_t samples_in() const { return samples_so_far() - d_zeros; }

    const stream_config& d_config;
    ring_writer& d_ring;
    sink_counter_set& d_counters;
    const std::uint64_t d_heap_samples;
    const std::size_t d_sample_bytes; // in a packet
    const bool d_buffers_regular;
    const bool d_buffers_first;
    std::atomic<float> d_largest{ 0 };

    // the open heap
    const heap_layout* d_layout = nullptr; // none between heaps
    bool d_is_buffered = false;
    ring_cursor d_start;
    std::uint64_t d_offset = 0; // payload written so far
    heap_words d_words;
    std::uint16_t d_destination = 0;
    std::uint64_t d_zeros = 0; // samples that never came in

    // what comes before the next sample: descriptors, or a sample that is cut in two
    const std::byte* d_prefix = nullptr;
    std::size_t d_prefix_bytes = 0;
    std::array<std::byte, sample_converter::max_output_bytes> d_cut_sample;

    // the open packet
    std::byte* d_at = nullptr; // where the next byte goes; none between packets
    std::size_t d_room = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_WRITER_H */
