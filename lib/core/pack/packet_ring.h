/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_RING_H
#define INCLUDED_SPEAD_CORE_PACKET_RING_H

#include "send_order.h"
#include "support/sleep_flag.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::spead {

//! Properties of the packet in a slot, for the sender.
struct packet_info {
    enum flag : std::uint16_t {
        heap_end = 1,     //!< this packet completes its heap
        heap_dropped = 2, //!< no packet: the heap ends here, incomplete
        wrap = 4,         //!< no packet: continue at the first slot
        data = 8,         //!< with heap_end or heap_dropped: a heap of samples or zeros
        // set by the sender, and cleared before the slot is released
        sent = 16,
        dropped = 32
    };
    std::uint32_t bytes;
    std::uint16_t flags;
    std::uint16_t destination;  //!< index in the list of destinations
    std::uint64_t heap_samples; //!< with heap_end or heap_dropped: input samples of the
                                //!< heap, without zeros
};

//! A position in the ring.
struct ring_cursor {
    std::uint64_t count = 0; //!< slots passed since the ring was created
    std::size_t slot = 0;
};

/*!
 * \brief Ring buffer of packets, each with header and payload as they are sent.
 *
 * Slots are contiguous, so that packets of the slot size can be sent as one piece of
 * memory. A larger packet takes several slots and does not wrap around. One thread fills
 * and publishes slots, another one reads and releases them.
 */
class packet_ring
{
public:
    //! Allocates and touches all memory. Throws std::runtime_error if that fails.
    packet_ring(std::size_t slots, std::size_t slot_bytes);

    std::size_t slots() const { return d_slots; }
    std::size_t slot_bytes() const { return d_slot_bytes; }
    std::byte* data(std::size_t slot) { return d_arena.get() + slot * d_slot_bytes; }
    packet_info& info(std::size_t slot) { return d_info[slot]; }
    const packet_info& info(std::size_t slot) const { return d_info[slot]; }

    //! Number of slots that a packet takes.
    std::size_t slots_for(std::size_t packet_bytes) const
    {
        return packet_bytes <= d_slot_bytes
                   ? 1
                   : (packet_bytes + d_slot_bytes - 1) / d_slot_bytes;
    }
    void advance(ring_cursor& cursor, std::size_t slots) const
    {
        cursor.count += slots;
        cursor.slot += slots;
        if (cursor.slot == d_slots)
            cursor.slot = 0;
    }
    //! Moves \p cursor from a packet to the next one.
    void advance_packet(ring_cursor& cursor) const
    {
        const auto& packet = d_info[cursor.slot];
        advance(cursor,
                packet.flags & packet_info::wrap ? d_slots - cursor.slot
                                                 : slots_for(packet.bytes));
    }

    std::uint64_t published() const
    {
        return d_published.load(std::memory_order_acquire);
    }
    std::uint64_t released() const { return d_released.load(std::memory_order_acquire); }
    void publish(std::uint64_t count)
    {
        d_published.store(count, std::memory_order_release);
        if (d_order)
            d_order->add({ d_ring_index, count });
    }
    //! Makes publish() add an entry for this ring, number \p ring_index, to \p order.
    void record_order_in(send_order& order, std::size_t ring_index)
    {
        d_order = &order;
        d_ring_index = ring_index;
    }
    void release(std::uint64_t count)
    {
        d_released.store(count, std::memory_order_release);
    }

    //! Whether enough slots are free to wake the packer. A threshold prevents a wake-up
    //! for each message that is sent.
    bool has_space() const
    {
        return published() - released() <=
               d_wake_threshold.load(std::memory_order_relaxed);
    }

    //! Whether to retry a write that failed when released() was \p released_before.
    bool has_space_since(std::uint64_t released_before) const
    {
        return released() != released_before && has_space();
    }

    //! Limits the slots in use to fewer than the ring has. A waiting packer is woken when
    //! at most \p wake_threshold slots are in use.
    void set_limit(std::size_t slots, std::size_t wake_threshold)
    {
        d_limit.store(slots, std::memory_order_relaxed);
        d_wake_threshold.store(wake_threshold, std::memory_order_relaxed);
    }
    void set_limit(std::size_t slots) { set_limit(slots, slots - slots / 4); }
    std::size_t limit() const { return d_limit.load(std::memory_order_relaxed); }

    //! Slots in use divided by limit(), 0 to 1.
    double fill_level() const
    {
        const auto released_slots = released(); // read first: must not exceed published()
        const auto in_use = static_cast<double>(published() - released_slots);
        return std::min(in_use / static_cast<double>(limit()), 1.0);
    }

    sleep_flag sender_sleeps;
    sleep_flag packer_waits;

private:
    // Not allocated with new: the kernel may still read the memory after it is freed.
    // The contents of unmapped pages stay unchanged.
    struct unmap {
        std::size_t bytes;
        void operator()(std::byte* arena) const;
    };
    using memory = std::unique_ptr<std::byte[], unmap>;
    static memory map(std::size_t bytes);

    const std::size_t d_slots;
    const std::size_t d_slot_bytes;
    memory d_arena;
    std::vector<packet_info> d_info;
    std::atomic<std::size_t> d_limit;
    std::atomic<std::size_t> d_wake_threshold;
    send_order* d_order = nullptr;
    std::size_t d_ring_index = 0; // in d_order
    // Slots in [d_released, d_published) belong to the sender, and to the kernel while it
    // reads a message in flight; the others belong to the packer. Storing a count hands
    // over the slots before it, so no lock is needed: a release store makes what the
    // owner wrote visible to the other thread, which loads the count with acquire.
    // The counts are on separate cache lines, since two threads write them.
    alignas(64) std::atomic<std::uint64_t> d_published{ 0 };
    alignas(64) std::atomic<std::uint64_t> d_released{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_RING_H */
