/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_STORE_H
#define INCLUDED_SPEAD_CORE_PACKET_STORE_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
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
 * The oldest packets make room for new ones.
 */
class packet_store
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct entry : received_packet {
        std::uint64_t heap_counter = 0;
        time_point time = {};
        bool is_live = true;
        bool is_ready = false; //!< to be placed
        bool waits = false;    //!< see let_wait()
        std::vector<std::byte> content = {};
    };

    packet_store(std::size_t most_bytes, std::size_t most_packets)
        : d_most_bytes(most_bytes), d_most_packets(most_packets)
    {
    }

    //! Numbers of the entries are begin() to end() - 1; some of them may have gone.
    std::size_t begin() const { return d_begin; }
    std::size_t end() const { return d_begin + d_entries.size(); }
    bool empty() const { return d_entries.empty(); }
    std::size_t stored_bytes() const { return d_bytes; }
    entry& operator[](std::size_t number) { return d_entries[number - d_begin]; }

    //! Lets a packet wait for its heap to be accepted.
    void let_wait(entry& which) { d_waiting += !std::exchange(which.waits, true); }
    bool has_waiting() const { return d_waiting > 0; }

    //! Copies a packet. Calls drop() for each live one that makes room.
    template <typename visitor>
    entry& add(const received_packet& packet,
               std::uint64_t heap_counter,
               time_point now,
               visitor&& drop)
    {
        while (!empty() && (d_entries.size() == d_most_packets ||
                            d_bytes + packet.bytes > d_most_bytes))
            pop(drop);
        auto& added = d_entries.emplace_back(entry{ packet, heap_counter, now });
        added.content.assign(packet.data, packet.data + packet.bytes);
        added.data = added.content.data();
        d_bytes += packet.bytes;
        return added;
    }

    void remove(std::size_t number)
    {
        (*this)[number].is_live = false;
        while (!empty() && !d_entries.front().is_live)
            pop([] {});
    }

    //! Removes packets that came before \p time, so many at most.
    template <typename visitor>
    void drop_before(time_point time, std::size_t most, visitor&& drop)
    {
        for (; most > 0 && !empty() && d_entries.front().time < time; --most)
            pop(drop);
    }

private:
    template <typename visitor>
    void pop(visitor&& drop)
    {
        d_bytes -= d_entries.front().bytes;
        d_waiting -= d_entries.front().waits;
        if (d_entries.front().is_live)
            drop();
        d_entries.pop_front();
        ++d_begin;
    }

    std::size_t d_most_bytes;
    std::size_t d_most_packets;
    std::deque<entry> d_entries;
    std::size_t d_begin = 0; // number of the first one
    std::size_t d_bytes = 0;
    std::size_t d_waiting = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_STORE_H */
