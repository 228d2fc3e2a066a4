/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_STORE_H
#define INCLUDED_SPEAD_CORE_PACKET_STORE_H

#include "support/counter.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

namespace gr::spead {

//! A datagram and its origin.
struct received_packet {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::size_t socket = 0;   //!< index of the socket
    std::uint64_t sender = 0; //!< identifies the source address
};

//! The packets of one heap, and repeated packets, arrive within this time.
constexpr std::chrono::seconds heap_timeout{ 1 };

//! Identifies the packets of a heap, until the sender reuses its heap counter.
struct heap_id {
    std::uint64_t counter = 0;
    std::uint64_t sender = 0;
    std::size_t group = 0; //!< group of sockets

    bool operator==(const heap_id& other) const
    {
        return counter == other.counter && sender == other.sender && group == other.group;
    }
};

/*!
 * \brief Stores packets until their position is known, in order of arrival.
 *
 * If the store is full, the oldest packets are dropped and counted as ignored.
 */
class packet_store
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct entry : received_packet {
        heap_id heap = {};
        time_point time = {}; //!< of arrival
        bool is_ready = false;
        std::vector<std::byte> content = {};
    };
    using iterator = std::list<entry>::iterator;

    explicit packet_store(counter& ignored) : d_ignored(ignored) {}

    auto begin() const { return d_entries.begin(); }
    auto end() const { return d_entries.end(); }
    //! Whether next_ready() finds a packet.
    bool has_ready() const { return d_ready > 0; }
    iterator next_ready()
    {
        return std::find_if(d_entries.begin(), d_entries.end(), [](const entry& each) {
            return each.is_ready;
        });
    }

    void
    add(const received_packet& packet, const heap_id& heap, time_point now, bool is_ready)
    {
        while (d_entries.size() == max_packets || d_bytes + packet.bytes > max_bytes)
            drop_oldest();
        auto& added = d_entries.emplace_back(entry{ packet, heap, now });
        added.content.assign(packet.data, packet.data + packet.bytes);
        added.data = added.content.data();
        d_bytes += packet.bytes;
        set_ready(added, is_ready);
    }

    //! Marks as ready each packet for which is_released(entry) is true.
    template <typename condition>
    void release(condition&& is_released)
    {
        for (auto& each : d_entries)
            set_ready(each, each.is_ready || is_released(each));
    }
    void clear_ready(iterator which) { set_ready(*which, false); }
    void remove(iterator which)
    {
        clear_ready(which);
        d_bytes -= which->bytes;
        d_entries.erase(which);
    }
    //! Drops at most \p limit packets that arrived before \p time, oldest first. Stops at
    //! the first ready packet.
    void drop_before(time_point time, std::size_t limit)
    {
        for (; limit > 0 && !d_entries.empty() && !d_entries.front().is_ready &&
               d_entries.front().time < time;
             --limit)
            drop_oldest();
    }
    void clear()
    {
        while (!d_entries.empty())
            drop_oldest();
    }

private:
    static constexpr std::size_t max_bytes = 1 << 20;
    static constexpr std::size_t max_packets = 1024;

    void set_ready(entry& which, bool is_ready)
    {
        d_ready += is_ready;
        d_ready -= std::exchange(which.is_ready, is_ready);
    }
    void drop_oldest()
    {
        d_ignored.add(1);
        remove(d_entries.begin());
    }

    counter& d_ignored;
    std::list<entry> d_entries;
    std::size_t d_bytes = 0;
    std::size_t d_ready = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_STORE_H */
