/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_STORE_H
#define INCLUDED_SPEAD_CORE_PACKET_STORE_H

#include "support/counter.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gr::spead {

//! A datagram, and where it came from.
struct received_packet {
    const std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::size_t socket = 0;   //!< index of the socket
    std::uint64_t sender = 0; //!< tells source addresses apart
};

/*!
 * \brief Packets that wait until their place is known, in order of their arrival.
 *
 * The oldest packets make room for new ones, and are counted as ignored.
 */
class packet_store
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct entry : received_packet {
        enum class state { waiting, ready, gone };

        std::uint64_t heap_counter = 0;
        time_point time = {}; //!< of its arrival
        state is = state::waiting;
        std::vector<std::byte> content = {};
    };

    packet_store(std::size_t most_bytes, std::size_t most_packets, counter& ignored)
        : d_most_bytes(most_bytes), d_most_packets(most_packets), d_ignored(ignored)
    {
    }

    auto begin() const { return d_entries.begin(); }
    auto end() const { return d_entries.end(); }
    //! Whether next_ready() has one.
    bool has_ready() const { return d_ready > 0; }
    entry* next_ready()
    {
        for (auto& each : d_entries)
            if (each.is == entry::state::ready)
                return &each;
        return nullptr;
    }

    void add(const received_packet& packet,
             std::uint64_t heap_counter,
             time_point now,
             bool is_ready)
    {
        while (!d_entries.empty() && (d_entries.size() == d_most_packets ||
                                      d_bytes + packet.bytes > d_most_bytes))
            pop();
        auto& added = d_entries.emplace_back(entry{ packet, heap_counter, now });
        added.content.assign(packet.data, packet.data + packet.bytes);
        added.data = added.content.data();
        d_bytes += packet.bytes;
        if (is_ready)
            set(added, entry::state::ready);
    }

    //! Makes waiting packets ready, if is_released(entry).
    template <typename condition>
    void release(condition&& is_released)
    {
        for (auto& each : d_entries)
            if (each.is == entry::state::waiting && is_released(each))
                set(each, entry::state::ready);
    }
    void let_wait(entry& which) { set(which, entry::state::waiting); }
    void remove(entry& which)
    {
        set(which, entry::state::gone);
        while (!d_entries.empty() && d_entries.front().is == entry::state::gone)
            pop();
    }
    //! Removes packets that have waited since before \p time, from the oldest one on, so
    //! many at most.
    void drop_before(time_point time, std::size_t most)
    {
        for (; most > 0 && !d_entries.empty(); --most) {
            const auto& oldest = d_entries.front();
            if (oldest.is == entry::state::ready || oldest.time >= time)
                return;
            pop();
        }
    }
    void clear()
    {
        while (!d_entries.empty())
            pop();
    }

private:
    void set(entry& which, entry::state to)
    {
        d_ready -= which.is == entry::state::ready;
        which.is = to;
        d_ready += to == entry::state::ready;
    }
    void pop()
    {
        auto& oldest = d_entries.front();
        if (oldest.is != entry::state::gone)
            d_ignored.add(1);
        set(oldest, entry::state::gone);
        d_bytes -= oldest.bytes;
        d_entries.pop_front();
    }

    std::size_t d_most_bytes;
    std::size_t d_most_packets;
    counter& d_ignored;
    std::deque<entry> d_entries;
    std::size_t d_bytes = 0;
    std::size_t d_ready = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_STORE_H */
