/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RING_READER_H
#define INCLUDED_SPEAD_CORE_RING_READER_H

#include "pack/packet_ring.h"
#include "support/sink_counters.h"

namespace gr::spead {

/*!
 * \brief Reads the packets of one input from its ring, and counts which were sent or
 * dropped.
 *
 * Packets may be sent or dropped out of order, since they go to several destinations.
 * They are counted, and their slots released, in the order of the ring.
 */
class ring_reader
{
public:
    ring_reader(packet_ring& ring, sender_counters& counters)
        : d_ring(&ring), d_counters(&counters)
    {
    }

    packet_ring& ring() const { return *d_ring; }
    //! The first packet that is not counted as sent or dropped yet.
    const ring_cursor& position() const { return d_position; }
    //! Upper bound of the queued bytes.
    std::size_t queued_bytes() const
    {
        return static_cast<std::size_t>(d_ring->published() - d_position.count) *
               d_ring->slot_bytes();
    }

    //! Requests to send packets before \p count one by one, after a segmented send
    //! failed.
    void send_singly_before(std::uint64_t count) { d_single_end = count; }
    bool must_send_singly(std::uint64_t count) const { return count < d_single_end; }

    //! Marks \p packets from \p slot on, one slot each, as sent or dropped.
    void mark(std::size_t slot, std::size_t packets, packet_info::flag outcome);

    //! Counts packets up to the first one that is neither sent nor dropped. Unmarked
    //! packets before \p sent_end count as sent.
    void account(std::uint64_t sent_end);

    //! Counts all published packets; those not marked as sent count as dropped.
    void drop_all();

    //! Releases the slots before position(), but none from \p in_flight_begin on. Returns
    //! true if the packer waits for them: the caller must wake it.
    bool release(std::uint64_t in_flight_begin);

    //! Begins a run: forgets dropped packets of a heap that the previous run did not
    //! finish.
    void start_run() { d_is_heap_damaged = false; }

private:
    struct tally {
        std::uint64_t sent = 0;
        std::uint64_t dropped = 0;
        std::uint64_t bytes = 0; // of the packets sent
        struct {
            std::uint64_t heaps = 0;
            std::uint64_t samples = 0;
        } whole, damaged;
    };
    void count(packet_info& info, bool sent, tally& sum);
    void add_to_counters(const tally& sum);

    packet_ring* d_ring;
    sender_counters* d_counters;
    ring_cursor d_position;
    std::uint64_t d_single_end = 0;
    bool d_is_heap_damaged = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RING_READER_H */
