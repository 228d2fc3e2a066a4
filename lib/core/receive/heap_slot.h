/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_SLOT_H
#define INCLUDED_SPEAD_CORE_HEAP_SLOT_H

#include "heap_descriptors.h"
#include "heap_items.h"
#include "timeline.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gr::spead {

//! A datagram and its origin.
struct received_datagram {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::size_t source = 0;   //!< index of the socket or capture
    std::uint64_t sender = 0; //!< identifies the source address
};

//! Identifies the packets of a heap, until the sender reuses its heap counter.
struct heap_id {
    std::uint64_t counter = 0;
    std::uint64_t sender = 0;
    std::size_t group = 0; //!< group of sources

    bool operator==(const heap_id& other) const
    {
        return counter == other.counter && sender == other.sender && group == other.group;
    }
};

/*!
 * \brief A heap of which packets have arrived.
 *
 * A slot goes from collecting to placed or refused, then becomes free; never back. A
 * placed one is refused if it turns out to be of another sender, or when a stream or a
 * format begins after it. A slot keeps its packets while it collects, and those for which
 * the window has no room.
 */
struct heap_slot {
    using time_point = std::chrono::steady_clock::time_point;

    enum class state {
        free,
        collecting, //!< its items or descriptors have not all arrived, or it is held
                    //!< until another heap confirms its time
        placed,     //!< the position of its samples is known
        refused     //!< its samples are not used
    };
    struct kept_packet {
        std::vector<std::byte> content;
        time_point time; //!< of arrival
    };

    state status = state::free;
    heap_id id = {};
    std::uint64_t arrival_number = 0; //!< number, in order of arrival
    std::optional<std::uint64_t> heap_length = {};
    std::size_t source = 0; //!< index of the socket or capture
    time_point first_arrival = {};
    time_point last_arrival = {};
    std::uint64_t next_offset = 0; //!< in the heap: the end of the latest packet

    // while collecting
    bool has_items = false;    //!< a packet with items has arrived
    bool is_ready = false;     //!< to be judged
    bool is_held = false;      //!< has been judged; another heap must agree with its time
    bool is_confirmed = false; //!< another heap does
    heap_descriptors descriptors = {};
    bool has_read_descriptors = false;
    bool has_set_format = false;   //!< by what its sender has described before
    bool has_lost_samples = false; //!< it keeps only packets of its descriptors
    bool is_end_of_stream = false;
    bool is_repeated = false; //!< all samples have arrived: by a duplicate, or before
                              //!< its sender restarted

    heap_items items = {};

    // once it is accepted
    timeline::verdict verdict = timeline::verdict::hold;
    bool has_entered = false; //!< it needs not enter the stream, or has
    std::size_t output = 0;
    heap_time time = {}; //!< the length is a lower bound if the end is unknown
    std::int64_t received_samples = 0;
    bool has_set_values = false;
    bool is_superseded = false;  //!< its sender has restarted since
    bool reuses_counter = false; //!< an older slot has the same ID

    std::vector<kept_packet> kept_packets = {};

    //! Begins another heap. Keeps the memory of the previous one.
    void restart()
    {
        auto values = std::move(items.values);
        auto packets = std::move(kept_packets);
        *this = {};
        items.values = std::move(values);
        kept_packets = std::move(packets);
        items.values.clear();
        kept_packets.clear();
    }

    position_range range() const { return time.range(); }
    bool has_all_samples() const
    {
        return time.is_length_known && received_samples > 0 &&
               received_samples == time.length;
    }
    //! Whether all of its samples have been placed.
    bool is_whole() const { return status == state::placed && has_all_samples(); }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_SLOT_H */
