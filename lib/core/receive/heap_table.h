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
        ignored,    //!< gives no samples
        incomplete, //!< the timestamp or the samples have not been found yet
        placed      //!< the position of its samples is known
    };

    std::optional<std::uint64_t> heap_length = {};
    std::size_t socket = 0;
    unsigned address_bits = 48;

    state is = state::none;
    std::chrono::steady_clock::time_point last_packet = {};
    // an item pointer by which its packets are recognised
    std::size_t pointer = 0;
    std::uint64_t word = 0;
    // in the payload of the heap
    std::optional<std::uint64_t> timestamp_address = {};
    std::uint64_t timestamp_end = 0;
    std::optional<std::uint64_t> samples_begin = {};
    std::uint64_t samples_end = unknown_end;
    std::uint64_t first_byte = 0; // of the samples, in the packet that came first

    std::optional<std::uint64_t> timestamp = {};
    unsigned timestamp_bits = 64;
    std::size_t output = 0;
    std::int64_t position = 0; //!< of its first sample
    std::int64_t length = 0;   //!< samples; so far, if the heap length is unknown
    std::int64_t received = 0; //!< samples
    bool needs_items = false;  //!< packets without items may be of an earlier heap
    bool has_set_values = false;
    std::vector<std::optional<std::uint64_t>> values = {}; //!< of immediate items

    position_range range() const { return { position, position + length }; }
    //! Of an immediate item; none too if it has been described since.
    std::optional<std::uint64_t> value(std::size_t item) const
    {
        return item < values.size() ? values[item] : std::nullopt;
    }
    //! Heap counters from \p other to this heap; they wrap.
    std::int64_t counters_from(const received_heap& other) const
    {
        const unsigned unused = 64 - address_bits;
        return static_cast<std::int64_t>((counter - other.counter) << unused) >> unused;
    }
};

//! The heaps whose packets arrived last.
class heap_table
{
public:
    heap_table();

    //! Nullptr if there is none.
    received_heap* find(const heap_id& heap);
    //! Replaces the heap of the same ID, and the oldest one; finish(heap) is called for
    //! them before. Heaps that give no samples do not replace placed ones.
    template <typename visitor>
    received_heap& insert(const received_heap& added, visitor&& finish)
    {
        if (auto* same = find(added)) {
            finish(*same);
            same->is = received_heap::state::none;
        }
        auto& in = added.is == received_heap::state::placed ? d_placed : d_others;
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
    //! A placed heap of the same output and time, at least in part.
    const received_heap* overlapping(const received_heap& heap) const;
    //! Whether a heap of unknown length is followed by others, but not at once.
    bool has_gap_behind(const received_heap& heap) const;

private:
    struct region {
        std::size_t begin, size;
        std::size_t added = 0;
    };

    // Few counters that follow each other, or advance by a power of 2, share a tag.
    static unsigned char tag_of(std::uint64_t counter)
    {
        return static_cast<unsigned char>(counter * 0x9e3779b97f4a7c15 >> 56);
    }

    std::vector<received_heap> d_heaps;
    std::vector<unsigned char> d_tags; // of the heaps, to find one fast
    std::size_t d_last = 0;            // that was found
    std::optional<heap_id> d_absent;   // that was not found last
    region d_placed, d_others;         // of d_heaps
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_TABLE_H */
