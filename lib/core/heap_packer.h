/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_PACKER_H
#define INCLUDED_SPEAD_CORE_HEAP_PACKER_H

#include "counters.h"
#include "heap_layout.h"
#include "packet_ring.h"

#include <deque>
#include <functional>
#include <optional>

namespace gr {
namespace spead {

enum class full_policy { block, drop };
enum class tail_policy { shorten, pad, drop };

//! Everything about the heaps of a stream that is known before the first sample.
struct stream_plan {
    heap_layout regular;
    std::optional<heap_layout> first; //!< with descriptors, once in each stream
    std::optional<heap_layout> stop;  //!< the end-of-stream heap
    std::uint64_t heap_id_start = 1;
    std::uint64_t heap_id_step = 1;
    std::uint64_t timestamp_start = 0;
    std::uint64_t timestamp_step = 0;
    full_policy when_full = full_policy::block;
    tail_policy tail = tail_policy::shorten;
};

/*!
 * \brief Writes samples into packets in the ring.
 *
 * A heap of up to an eighth of the ring is published when it is complete, so that an
 * unfinished one can still become a short heap. The packets of a larger heap are
 * published as they fill; its heap length is then on its way already, and a short tail
 * is filled up to that length, with a NULL item where the samples end.
 *
 * One thread at a time.
 */
class heap_packer
{
public:
    //! \p published is called when there are packets and the sender sleeps.
    heap_packer(stream_plan plan,
                packet_ring& ring,
                packer_counters& counters,
                std::function<void()> published);

    //! The fewest slots that a ring for \p plan must have.
    static std::size_t min_slots(const stream_plan& plan);

    //! Whether a stream with tail_policy::shorten can end anywhere in a heap: the packets
    //! of a heap that is not held must have room for one more item.
    static bool can_end_anywhere(const stream_plan& plan, std::size_t ring_slots);

    //! From now on a new stream: its first heap carries the descriptors.
    void start_stream();

    //! Takes as many samples as the ring has room for, and says how many.
    std::size_t write(const std::int8_t* samples, std::size_t n);

    //! Finishes the stream: the tail, the end-of-stream heap. False means that the ring
    //! was full: call again when there is room.
    bool end_stream();

    //! There is no time to finish the tail: it is dropped, whatever the policy, and
    //! end_stream() goes on with the end-of-stream heap.
    void give_up_tail();

    //! Gives up what is not published yet and counts it as dropped.
    void abandon();

    //! The fewest slots in use at a time with which the stream still goes on.
    std::size_t min_slots_in_use() const;

private:
    // a packet of its own making, at the end of a stream
    struct loose_packet {
        packet_template header;
        std::vector<std::byte> payload;
        packet_info info;
    };

    bool begin_heap();
    void step_numbers(int direction);
    bool open_packet();
    std::size_t put(const std::byte* bytes, std::size_t n); // nullptr: zeros
    void close_packet();
    void publish();
    bool claim_slots(std::size_t packet_bytes);
    bool slots_are_free(std::uint64_t count);
    std::byte* lay_header(const packet_template& header, const packet_info& info);
    std::size_t drop_samples(std::size_t n);

    // the end of a stream, in heap_packer_tail.cc
    bool finish_tail();
    bool finish_whole(bool mark_end);
    void finish_short();
    void drop_tail();
    void append_stop();
    void append(packet_template header,
                std::uint64_t offset,
                const std::vector<std::byte>& heap_payload,
                bool heap_end);
    bool emit(const loose_packet& packet);
    std::vector<std::byte> take_back(ring_cursor from);
    void leave_heap();
    bool heap_is_on_its_way() const { return d_ready.count > d_heap_start.count; }
    std::uint64_t samples_so_far() const;
    void count_tail_as_dropped();

    const stream_plan d_plan;
    packet_ring& d_ring;
    packer_counters& d_counters;
    const std::function<void()> d_on_published;
    const std::size_t d_publish_batch;

    // numbers that run on over all streams
    std::uint64_t d_heap_id;
    std::uint64_t d_timestamp;
    bool d_first_pending = false;

    // the ring as this side sees it
    ring_cursor d_next;            // the slot to fill
    ring_cursor d_ready;           // what lies before may be published
    std::uint64_t d_published = 0; // what is published
    std::uint64_t d_released = 0;  // what the sender has given back, as last seen
    std::vector<const packet_template*> d_laid_out; // the header that stands in a slot

    // the current heap
    const heap_layout* d_layout = nullptr; // none between heaps
    bool d_held = false;                   // published as a whole
    ring_cursor d_heap_start;
    std::uint64_t d_offset = 0;       // payload written so far
    std::uint64_t d_counter_item = 0; // in network order
    std::uint64_t d_timestamp_item = 0;
    std::uint64_t d_drop_left = 0; // samples of a heap that is left out

    // the current packet
    std::byte* d_at = nullptr; // where the next byte goes; none between packets
    std::size_t d_room = 0;
    std::size_t d_slots_taken = 0;

    // the end of the stream
    bool d_ending = false;
    std::optional<std::uint64_t> d_tail_samples; // not the sender's to count yet
    std::deque<loose_packet> d_loose;
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_HEAP_PACKER_H */
