/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_PACKER_H
#define INCLUDED_SPEAD_CORE_HEAP_PACKER_H

#include "descriptor_schedule.h"
#include "item_values.h"
#include "ring_writer.h"
#include "stream_plan.h"
#include "support/counters.h"

#include <array>
#include <deque>
#include <functional>
#include <optional>

namespace gr::spead {

/*!
 * \brief Writes the samples of one input into packets in the ring.
 *
 * A heap of up to an eighth of the ring is published when it is complete, so that an
 * unfinished one can still become a short heap. The packets of a larger heap are
 * published as they fill; its heap length is then on its way already, and a short tail
 * is filled up to that length, with a NULL item where the samples end.
 *
 * All numbers of samples are numbers of samples, not of bytes.
 *
 * One thread at a time, but for set_item() and set_items().
 */
class heap_packer
{
public:
    using clock = descriptor_schedule::clock;

    //! \p published is called when there are packets and the sender sleeps. \p now is
    //! asked at each write if descriptors are to be repeated.
    heap_packer(stream_plan plan,
                packet_ring& ring,
                counter_set& counts,
                std::function<void()> published,
                std::function<clock::time_point()> now = clock::now);

    //! The fewest slots that a ring for \p plan must have.
    static std::size_t min_slots(const stream_plan& plan);

    //! Whether a stream with tail_policy::shorten can end anywhere in a heap: the packets
    //! of a heap that is not buffered whole must have room for one more item.
    static bool can_end_anywhere(const stream_plan& plan, std::size_t ring_slots);

    //! From now on a new stream: its first heap to each destination carries the
    //! descriptors, or follows them.
    void start_stream();

    std::size_t input_bytes() const { return d_plan.converter.input_bytes(); }

    //! Takes as many samples as the ring has room for, and says how many.
    std::size_t write(const std::byte* samples, std::size_t n);

    //! Packs zeros in place of samples that never came in, as many as the ring has room
    //! for, and says how many. Only heaps count them, by being whole.
    std::uint64_t write_zeros(std::uint64_t n);

    //! Samples that came in and have no place in any heap.
    void drop(std::uint64_t n);

    //! Whether a part of the unfinished heap may have been sent.
    bool heap_is_partly_published() const
    {
        return d_ring.ready().count > d_heap_start.count;
    }

    //! Goes on with a new heap of this timestamp. An unfinished one is dropped, but has
    //! its counter.
    void skip_to(std::uint64_t next_timestamp);

    //! From the next heap on, item number \p index of the list, an immediate one, has
    //! this value; what does not fit is cut off. Any thread.
    void set_item(std::size_t index, std::uint64_t value)
    {
        set_items({ { index, value } });
    }
    //! Several, all from the same heap on.
    void set_items(const std::vector<item_value>& values);

    //! Finishes the stream: the tail, the end-of-stream heaps. False means that the ring
    //! was full: call again when there is room.
    bool end_stream() { return finish_tail() && send_stop(); }
    //! The two halves of it, for streams that end together.
    bool finish_tail();
    bool send_stop();
    //! The same end-of-stream heaps are to be sent again, by the next send_stop().
    void repeat_stop() { d_extra.insert(d_extra.end(), d_ends.begin(), d_ends.end()); }

    //! Drops the tail, whatever the policy, since there is no time to finish it.
    void drop_tail();

    //! Drops what is not published yet, and counts it.
    void drop_unpublished();

    //! The fewest slots in use at a time with which the stream still goes on.
    std::size_t min_slots_in_use() const;

private:
    // of packets, as the sender sees them
    static constexpr std::uint16_t no_flags = 0;
    static constexpr std::uint16_t plain_end = packet_info::heap_end;
    static constexpr std::uint16_t data_end = packet_info::heap_end | packet_info::data;

    // a packet of its own making, at the end of a heap that does not fill up
    struct extra_packet {
        packet_template header;
        std::vector<std::byte> payload;
        packet_info info;
    };

    std::uint64_t take(const std::byte* in, std::uint64_t n); // nullptr: zeros
    bool begin_heap();
    void set_new_values();
    void step_numbers(int direction);
    bool open_packet();
    std::size_t fill(const std::byte* in, std::uint64_t samples);
    void convert(std::byte* out, const std::byte* in, std::size_t samples);
    bool put_prefix();
    std::size_t put(const std::byte* bytes, std::size_t n); // nullptr: zeros
    void advance(std::size_t bytes);
    void mark_described();
    void close_packet();
    std::uint64_t drop_rest(std::uint64_t n, bool came_in);

    // heaps that do not fill up, in heap_packer_tail.cc
    bool finish_heap();
    bool finish_whole(bool mark_end);
    void finish_short();
    void drop_heap();
    void append(packet_template header,
                std::uint64_t offset,
                const std::vector<std::byte>& heap_payload,
                bool heap_end);
    std::vector<std::byte> take_back(ring_cursor from);
    void rewind(ring_cursor to);
    void end_heap();
    std::uint64_t samples_so_far() const;
    std::uint64_t tail_samples() const { return d_tail.value_or(samples_so_far()); }
    std::uint64_t tail_samples_in() const { return tail_samples() - d_zeros; }
    void count_as_dropped(std::uint64_t samples, bool is_heap);

    // what stands between the heaps, in heap_packer_loose.cc
    void make_ends();
    bool emit_extra();
    bool emit_descriptors();

    stream_plan d_plan; // but for the values of items it does not change
    counter_set& d_counters;
    const std::function<clock::time_point()> d_now;
    const std::uint64_t d_heap_samples;
    const std::size_t d_sample_bytes; // in a packet
    const bool d_buffers_regular;     // such heaps are published as a whole
    const bool d_buffers_first;
    item_values d_new_values;
    descriptor_schedule d_descriptors;

    // numbers that run on over all streams
    std::uint64_t d_heap_id;
    std::uint64_t d_timestamp;
    std::uint32_t d_turn = 0; // whose of the destinations it is
    // destinations that have not got a heap with descriptors in this stream
    std::uint32_t d_undescribed = 0;
    std::vector<bool> d_described;

    ring_writer d_ring;

    // the current heap
    const heap_layout* d_layout = nullptr; // none between heaps
    bool d_is_buffered = false;
    ring_cursor d_heap_start;
    std::uint64_t d_offset = 0;       // payload written so far
    std::uint64_t d_counter_item = 0; // in network order
    std::uint64_t d_timestamp_item = 0;
    std::uint32_t d_heap_turn = 0;
    std::uint16_t d_destination = 0;
    std::uint64_t d_zeros = 0;     // samples that never came in
    std::uint64_t d_drop_left = 0; // samples of a heap that is dropped

    // what comes before the next sample: descriptors, or one that is cut in two
    const std::byte* d_prefix = nullptr;
    std::size_t d_prefix_bytes = 0;
    std::array<std::byte, sample_converter::max_output_bytes> d_cut_sample;

    // the current packet
    std::byte* d_at = nullptr; // where the next byte goes; none between packets
    std::size_t d_room = 0;

    // the end of the stream
    bool d_stopping = false;
    std::vector<extra_packet> d_ends;
    std::optional<std::uint64_t> d_tail; // its samples, when it is being filled up
    std::deque<extra_packet> d_extra;    // in front of the next heap
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_PACKER_H */
