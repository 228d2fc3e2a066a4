/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_TABLE_H
#define INCLUDED_SPEAD_CORE_HEAP_TABLE_H

#include "missing_ranges.h"
#include "packet_store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace gr::spead {

//! A heap of which packets have arrived.
struct received_heap : heap_id {
    static constexpr auto unknown_end = std::numeric_limits<std::uint64_t>::max();

    enum class state {
        none,
        ignored,    //!< its samples are not used
        incomplete, //!< the timestamp or the samples have not been found yet
        placed      //!< the position of its samples is known
    };

    std::optional<std::uint64_t> heap_length = {};
    std::size_t socket = 0;
    unsigned address_bits = 48;

    state status = state::none;
    std::chrono::steady_clock::time_point last_packet = {};
    // index and value of an item pointer that identifies its packets
    std::size_t key_index = 0;
    std::uint64_t key_word = 0;
    // offsets in the payload of the heap
    std::optional<std::uint64_t> timestamp_address = {};
    std::uint64_t timestamp_end = 0;
    std::optional<std::uint64_t> samples_begin = {};
    std::uint64_t samples_end = unknown_end;
    // offset of the last packet read that has the samples item, from samples_begin
    std::uint64_t first_byte = 0;

    std::optional<std::uint64_t> timestamp = {};
    unsigned timestamp_bits = 64;
    std::size_t output = 0;
    std::int64_t position = 0; //!< of its first sample
    std::int64_t length = 0;   //!< samples; a lower bound if samples_end is unknown
    std::int64_t received = 0; //!< samples
    bool needs_items = false;  //!< packets without items may be of another heap
    bool has_set_values = false;
    std::vector<std::optional<std::uint64_t>> values = {}; //!< of immediate items

    position_range range() const { return { position, position + length }; }
    //! The value of an immediate item. None also if its descriptor arrived after this
    //! heap.
    std::optional<std::uint64_t> value(std::size_t item) const
    {
        return item < values.size() ? values[item] : std::nullopt;
    }
    //! The heap counter minus that of \p other: signed, modulo 2^address_bits.
    std::int64_t counters_from(const received_heap& other) const
    {
        const unsigned unused = 64 - address_bits;
        return static_cast<std::int64_t>((counter - other.counter) << unused) >> unused;
    }
};

//! The most recent heaps, by heap ID.
class heap_table
{
public:
    heap_table();

    //! Returns nullptr if the heap is unknown.
    received_heap* find(const heap_id& heap);
    //! Inserts a heap. Removes the heap with the same ID, if any, and the oldest one,
    //! after a call of finish(heap) for each. Heaps that are not placed never evict
    //! placed ones.
    template <typename visitor>
    received_heap& insert(const received_heap& added, visitor&& finish)
    {
        if (auto* same = find(added)) {
            finish(*same);
            same->status = received_heap::state::none;
        }
        auto& in = added.status == received_heap::state::placed ? d_placed : d_others;
        d_last = in.begin + in.added++ % in.size;
        finish(d_heaps[d_last]);
        d_heaps[d_last] = added;
        d_tags[d_last] = tag_of(added.counter);
        d_absent.reset();
        return d_heaps[d_last];
    }
    template <typename visitor>
    void for_each(visitor&& visit)
    {
        for (auto& each : d_heaps)
            visit(each);
    }
    //! A placed heap of the same output that overlaps \p heap in time; nullptr if there
    //! is none.
    const received_heap* overlapping(const received_heap& heap) const;
    //! Whether later heaps follow a heap of unknown length, but none begins at its
    //! current end.
    bool has_gap_after(const received_heap& heap) const;

private:
    struct region {
        std::size_t begin, size;
        std::size_t added = 0;
    };

    // Fibonacci hash: consecutive counters, or those in steps of a power of 2, rarely
    // share a tag.
    static unsigned char tag_of(std::uint64_t counter)
    {
        return static_cast<unsigned char>(counter * 0x9e3779b97f4a7c15 >> 56);
    }

    std::vector<received_heap> d_heaps;
    std::vector<unsigned char> d_tags; // of d_heaps, for a fast search
    std::size_t d_last = 0;            // index in d_heaps that was used last
    std::optional<heap_id> d_absent;   // the last ID that was not found
    region d_placed, d_others;         // ring buffers in d_heaps
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_TABLE_H */
