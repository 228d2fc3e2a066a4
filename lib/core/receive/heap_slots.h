/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_SLOTS_H
#define INCLUDED_SPEAD_CORE_HEAP_SLOTS_H

#include "heap_slot.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief The most recent heaps, with the packets that they keep.
 *
 * Their number and the kept bytes are bounded: new ones evict the oldest. Heaps that are
 * not placed never evict placed ones.
 */
class heap_slots
{
public:
    //! \p finish(slot) is called before a slot is refused or becomes free, with the
    //! packets that it keeps.
    explicit heap_slots(std::function<void(const heap_slot&)> finish);

    //! The latest slot of a heap; nullptr if there is none.
    heap_slot* find(const heap_id& id);
    //! The slot of the same heap before \p newer: its sender has reused its heap counter.
    //! nullptr if there is none.
    heap_slot* find_older(const heap_slot& newer);
    //! A placed heap of the same output that overlaps this one in time; nullptr if there
    //! is none.
    const heap_slot* find_overlapping(const heap_slot& slot) const;
    //! Whether later heaps follow a heap of unknown length, but none begins at its
    //! current end.
    bool has_gap_after(const heap_slot& slot) const;

    //! A new slot that collects.
    heap_slot& add(const heap_id& id);
    void place(heap_slot& slot) { move(slot, heap_slot::state::placed, d_placed); }
    //! Drops the packets of a slot, and remembers that it takes no others.
    void refuse(heap_slot& slot);
    void remove(heap_slot& slot);

    //! The slots that collect, and the placed ones, in order of arrival.
    const std::deque<heap_slot*>& collecting() const { return d_collecting.slots; }
    const std::deque<heap_slot*>& placed() const { return d_placed.slots; }
    const std::deque<heap_slot*>& refused() const { return d_refused.slots; }

    //! Marks whether a slot that collects is to be judged.
    void set_ready(heap_slot& slot, bool is_ready);
    //! The first slot that is to be judged; nullptr if there is none.
    heap_slot* first_ready();

    //! Keeps a packet in a slot. May remove the oldest slots that collect. False if this
    //! slot takes all room.
    [[nodiscard]] bool keep_packet(heap_slot& slot,
                                   const received_datagram& packet,
                                   heap_slot::time_point now);
    //! Keeps a packet for which there may be no room.
    void append_packet(heap_slot& slot,
                       const received_datagram& packet,
                       heap_slot::time_point now);
    //! Drops packets that a slot keeps, by their indices. Returns their number.
    std::size_t drop_packets(heap_slot& slot, std::size_t begin, std::size_t end);
    std::size_t drop_packets(heap_slot& slot)
    {
        return drop_packets(slot, 0, slot.kept_packets.size());
    }
    //! Drops the packets for which \p is_useless(packet). Returns their number.
    template <typename condition>
    std::size_t drop_packets_if(heap_slot& slot, condition&& is_useless)
    {
        const auto first = std::stable_partition(
            slot.kept_packets.begin(), slot.kept_packets.end(), is_useless);
        return drop_packets(
            slot, 0, static_cast<std::size_t>(first - slot.kept_packets.begin()));
    }

private:
    struct region {
        std::size_t max_slots;
        std::deque<heap_slot*> slots = {};
    };

    // Fibonacci hash: consecutive counters, or those in steps of a power of 2, rarely
    // share a tag.
    static unsigned char tag_of(std::uint64_t counter)
    {
        return static_cast<unsigned char>(counter * 0x9e3779b97f4a7c15 >> 56);
    }
    heap_slot* find_from(std::size_t begin, const heap_id& id);
    region& region_of(const heap_slot& slot);
    void leave_region(heap_slot& slot);
    void move(heap_slot& slot, heap_slot::state status, region& destination);
    std::size_t index_of(const heap_slot& slot) const
    {
        return static_cast<std::size_t>(&slot - d_slots.data());
    }

    const std::function<void(const heap_slot&)> d_finish;
    region d_collecting, d_placed, d_refused;
    std::vector<heap_slot> d_slots;
    std::vector<unsigned char> d_tags;  // of d_slots, for a fast search
    std::vector<std::size_t> d_free;    // indices of free slots, lowest last
    std::size_t d_used = 0;             // number of slots that have ever been used
    heap_slot* d_last_slot = nullptr;   // found or added last
    std::optional<heap_id> d_absent_id; // the last one that was not found
    std::uint64_t d_next_arrival = 0;
    std::size_t d_ready_slots = 0;
    std::size_t d_kept_packets = 0;
    std::size_t d_kept_bytes = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_SLOTS_H */
