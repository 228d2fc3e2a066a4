/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H

#include "missing_ranges.h"
#include "packet_store.h"
#include "protocol/descriptor_reader.h"
#include "protocol/packet_parser.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Collects the descriptors of one heap at a time.
 *
 * Begins with the packet that holds their item pointers; the others may follow in any
 * order.
 */
class descriptor_collector
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    descriptor_collector();

    //! Adds the bytes of descriptors in a packet. If they belong to another heap,
    //! discards the current heap and begins that one, unless the current one has arrived
    //! completely and was not taken yet.
    void add(const packet_view& packet, const heap_id& heap, time_point time);

    //! Whether packets of this heap are still needed. False if it arrived in too many
    //! pieces; a repetition of it then begins anew.
    bool collects(const heap_id& heap) const
    {
        return is_incomplete() && !d_missing.is_full() && d_heap == heap;
    }
    //! Whether a heap has begun but is not complete.
    bool is_incomplete() const { return !d_missing.empty(); }

    //! Whether a descriptor has arrived that was not read yet.
    bool has_next() const { return d_unread > 0; }
    //! Reads the next descriptor. Returns its heap.
    const heap_id& read_next();
    //! The description of an item in this heap, if it has been read; else nullptr.
    const item_description* find(std::uint64_t item) const;

    //! Whether all descriptors of the heap have been read, and not all were taken yet.
    bool is_complete() const
    {
        return !is_incomplete() && !has_next() && !d_descriptors.empty();
    }
    //! Removes the next description of a complete heap. None if it is invalid.
    std::optional<item_description> take_next();

    //! Whether samples of this heap must wait for its descriptors.
    bool delays(const heap_id& heap) const { return collects(heap) && !d_is_confirmed; }
    //! Records that the samples of the heap need not wait for further descriptors.
    void confirm() { d_is_confirmed = true; }

private:
    struct descriptor {
        std::uint64_t begin, end; // offsets in the heap
        std::size_t at;           // offset in d_bytes
        bool has_arrived = false;
        bool is_read = false;
        std::optional<item_description> description = {};
    };

    void begin(const packet_view& packet);

    heap_id d_heap{};
    time_point d_begun{};
    std::vector<descriptor> d_descriptors; // in reverse order
    std::vector<std::byte> d_bytes;
    missing_ranges d_missing; // offsets in d_bytes
    std::size_t d_unread = 0; // descriptors that have arrived and were not read
    bool d_is_confirmed = false;
};

/*!
 * \brief Collects the descriptors of several senders, whose heaps arrive interleaved.
 */
class descriptor_collectors
{
public:
    using time_point = descriptor_collector::time_point;

    //! \name As in descriptor_collector, for the sender of the heap
    //! \{
    void add(const packet_view& packet, const heap_id& heap, time_point time);
    bool collects(const heap_id& heap);
    bool delays(const heap_id& heap);
    void confirm(const heap_id& heap);
    const item_description* find(const heap_id& heap, std::uint64_t item);
    //! \}

    //! \name As in descriptor_collector, for any of the senders
    //! \{
    bool is_incomplete() const { return d_is_incomplete; }
    bool has_next() const { return d_has_next; }
    heap_id read_next();
    std::optional<item_description> take_next();
    //! \}
    //! Whether read_next() or take_next() may be called.
    bool has_work() const { return d_has_next || d_is_complete; }

private:
    static constexpr std::size_t max_senders = 64; // if more, the oldest is forgotten

    struct sender_collector {
        std::uint64_t sender;
        std::size_t group;
        descriptor_collector collector;
    };

    descriptor_collector* find(const heap_id& heap);
    void update();

    std::deque<sender_collector> d_collectors;
    bool d_is_incomplete = false;
    bool d_has_next = false;
    bool d_is_complete = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_COLLECTOR_H */
