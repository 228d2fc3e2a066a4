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

//! What the sender must know about the packet in a slot.
struct packet_info {
    enum flag : std::uint16_t {
        heap_end = 1,     //!< the heap is complete with this packet
        heap_dropped = 2, //!< no packet: the heap ends here without being complete
        wrap = 4,         //!< no packet: go on with the first slot
        data =
            8, //!< with heap_end or heap_dropped: a heap of samples, or of zeros for them
        // set by the sender, and gone when the slot is given back
        sent = 16,
        dropped = 32
    };
    std::uint32_t bytes;
    std::uint16_t flags;
    std::uint16_t destination;  //!< its number in the list of destinations
    std::uint64_t heap_samples; //!< with heap_end: that came in and are in this heap
};

//! A place in the ring, and how many slots have been passed on the way.
struct ring_cursor {
    std::uint64_t count = 0;
    std::size_t slot = 0;
};

/*!
 * \brief Recycled memory for packets, header and payload as they leave, back to back.
 *
 * Slots of one size lie one after the other, so that packets of that size can be sent
 * as one piece of memory. A larger packet takes several slots, never around the end.
 * One thread fills slots and publishes them, another one reads and releases them.
 */
class packet_ring
{
public:
    //! Allocates and touches all memory; throws std::runtime_error if there is none.
    packet_ring(std::size_t slots, std::size_t slot_bytes);

    std::size_t slots() const { return d_slots; }
    std::size_t slot_bytes() const { return d_slot_bytes; }
    std::byte* data(std::size_t slot) { return d_arena.get() + slot * d_slot_bytes; }
    packet_info& info(std::size_t slot) { return d_info[slot]; }
    const packet_info& info(std::size_t slot) const { return d_info[slot]; }

    //! How many slots a packet takes.
    std::size_t slots_for(std::size_t packet_bytes) const
    {
        return packet_bytes <= d_slot_bytes
                   ? 1
                   : (packet_bytes + d_slot_bytes - 1) / d_slot_bytes;
    }
    void advance(ring_cursor& at, std::size_t slots) const
    {
        at.count += slots;
        at.slot += slots;
        if (at.slot == d_slots)
            at.slot = 0;
    }
    //! Go on from the packet at \p at to the next one.
    void advance_packet(ring_cursor& at) const
    {
        const auto& here = d_info[at.slot];
        advance(at,
                here.flags & packet_info::wrap ? d_slots - at.slot
                                               : slots_for(here.bytes));
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
            d_order->add({ d_queue, count });
    }
    //! From now on \p order is told what is published, as that of queue number \p queue.
    void record_order_in(send_order& order, std::size_t queue)
    {
        d_order = &order;
        d_queue = queue;
    }
    void release(std::uint64_t count)
    {
        d_released.store(count, std::memory_order_release);
    }

    //! Whether it is worth waking the packer: it is in steps, or it would wake up for
    //! each message that leaves.
    bool has_space() const
    {
        return published() - released() <= d_refill.load(std::memory_order_relaxed);
    }

    //! Whether it is worth trying again what found no room after \p mark, a value of
    //! released().
    bool has_space_since(std::uint64_t mark) const
    {
        return released() != mark && has_space();
    }

    //! How many slots may be in use at a time, for a queue shorter than the memory, and
    //! how few there are when a packer that waits is woken.
    void set_limit(std::size_t slots, std::size_t refill)
    {
        d_limit.store(slots, std::memory_order_relaxed);
        d_refill.store(refill, std::memory_order_relaxed);
    }
    void set_limit(std::size_t slots) { set_limit(slots, slots - slots / 4); }
    std::size_t limit() const { return d_limit.load(std::memory_order_relaxed); }

    //! The part of limit() that is in use, 0 to 1.
    double fill() const
    {
        const auto gone = released(); // first: it must not pass published()
        const auto in_use = static_cast<double>(published() - gone);
        return std::min(in_use / static_cast<double>(limit()), 1.0);
    }

    sleep_flag sender_sleeps;
    sleep_flag packer_waits;

private:
    // Not the heap's: the kernel may still read it, and unmapped it stays as it is.
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
    std::atomic<std::size_t> d_refill;
    send_order* d_order = nullptr;
    std::size_t d_queue = 0;
    // each index has a cache line of its own, since two threads write them
    alignas(64) std::atomic<std::uint64_t> d_published{ 0 };
    alignas(64) std::atomic<std::uint64_t> d_released{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_RING_H */
