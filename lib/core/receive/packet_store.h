/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_STORE_H
#define INCLUDED_SPEAD_CORE_PACKET_STORE_H

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
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
 * A ring: the oldest packets make room for new ones. Does not allocate after its
 * construction.
 */
class packet_store
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct entry : received_packet {
        std::uint64_t heap_counter = 0;
        time_point time = {};
        bool is_live = false;
        bool was_judged = false; //!< waits for its heap to be accepted
    };

    packet_store(std::size_t most_bytes, std::size_t most_packets)
        : d_bytes(most_bytes), d_entries(most_packets)
    {
    }

    //! Numbers of the entries are begin() to end() - 1; some of them may have gone.
    std::size_t begin() const { return d_begin; }
    std::size_t end() const { return d_end; }
    bool empty() const { return d_begin == d_end; }
    std::size_t stored_bytes() const { return d_used; }
    entry& operator[](std::size_t number) { return d_entries[number % d_entries.size()]; }

    //! Copies a packet of up to 64 KiB. Calls drop() for each live one that makes room.
    template <typename visitor>
    entry& add(const received_packet& packet,
               std::uint64_t heap_counter,
               time_point now,
               visitor&& drop)
    {
        auto at = d_next;
        if (at + packet.bytes > d_bytes.size())
            at = 0;
        const auto end = at + packet.bytes;
        const auto is_in_the_way = [&](const entry& oldest) {
            const auto first = static_cast<std::size_t>(oldest.data - d_bytes.data());
            const auto last = first + oldest.bytes;
            // between the next byte and the new end, also around the end of the ring
            return (first < end && at < last) || (at < d_next && first >= d_next);
        };
        while (!empty() &&
               (d_end - d_begin == d_entries.size() || is_in_the_way((*this)[d_begin])))
            pop(drop);
        std::copy_n(packet.data, packet.bytes, d_bytes.data() + at);
        auto& added = (*this)[d_end++];
        static_cast<received_packet&>(added) = packet;
        added.data = d_bytes.data() + at;
        added.heap_counter = heap_counter;
        added.time = now;
        added.is_live = true;
        added.was_judged = false;
        d_next = end;
        d_used += packet.bytes;
        return added;
    }

    void remove(std::size_t number)
    {
        (*this)[number].is_live = false;
        while (!empty() && !(*this)[d_begin].is_live)
            pop([] {});
    }

    //! Removes packets that came before \p time.
    template <typename visitor>
    void drop_before(time_point time, visitor&& drop)
    {
        while (!empty() && (*this)[d_begin].time < time)
            pop(drop);
    }

private:
    template <typename visitor>
    void pop(visitor&& drop)
    {
        auto& oldest = (*this)[d_begin++];
        d_used -= oldest.bytes;
        if (std::exchange(oldest.is_live, false))
            drop();
    }

    std::vector<std::byte> d_bytes;
    std::vector<entry> d_entries;
    std::size_t d_begin = 0;
    std::size_t d_end = 0;
    std::size_t d_next = 0; // in d_bytes
    std::size_t d_used = 0; // bytes
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_STORE_H */
