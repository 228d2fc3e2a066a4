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
#include <cstring>
#include <vector>

namespace gr::spead {

/*!
 * \brief Packets that wait, in the order in which they came.
 *
 * Packets have numbers, from begin() to end(), until add() is called. Does not allocate
 * after its construction.
 */
class packet_store
{
public:
    using clock = std::chrono::steady_clock;

    packet_store(std::size_t most_bytes, std::size_t most_packets)
    {
        d_bytes.reserve(most_bytes);
        d_packets.reserve(most_packets);
    }

    struct packet {
        std::uint64_t heap_counter;
        std::size_t group;
        clock::time_point time;
        const std::byte* data;
        std::size_t bytes;
    };

    bool empty() const { return d_waiting == 0; }
    std::size_t begin() const { return d_begin; }
    std::size_t end() const { return d_packets.size(); }
    bool waits(std::size_t number) const { return d_packets[number].waits; }
    const packet& operator[](std::size_t number) const { return d_packets[number].what; }

    //! False if there is no room.
    bool add(packet added)
    {
        if (empty())
            clear();
        if (!has_room_for(added.bytes))
            remove_gaps();
        if (!has_room_for(added.bytes))
            return false;
        d_packets.push_back({ append(added), true });
        ++d_waiting;
        return true;
    }
    void remove(std::size_t number)
    {
        d_packets[number].waits = false;
        --d_waiting;
        while (d_begin < end() && !waits(d_begin))
            ++d_begin;
    }

private:
    struct entry {
        packet what;
        bool waits;
    };
    bool has_room_for(std::size_t bytes) const
    {
        return d_packets.size() < d_packets.capacity() &&
               d_bytes.size() + bytes <= d_bytes.capacity();
    }
    void clear()
    {
        d_bytes.clear();
        d_packets.clear();
        d_begin = 0;
    }
    packet append(packet added)
    {
        const auto at = d_bytes.size();
        d_bytes.insert(d_bytes.end(), added.data, added.data + added.bytes);
        added.data = d_bytes.data() + at;
        return added;
    }
    void remove_gaps()
    {
        std::size_t packets = 0;
        std::size_t bytes = 0;
        for (const auto& each : d_packets) {
            if (!each.waits)
                continue;
            auto moved = each.what;
            moved.data = d_bytes.data() + bytes;
            std::memmove(d_bytes.data() + bytes, each.what.data, moved.bytes);
            bytes += moved.bytes;
            d_packets[packets++] = { moved, true };
        }
        d_packets.resize(packets);
        d_bytes.resize(bytes);
        d_begin = 0;
    }

    std::vector<std::byte> d_bytes;
    std::vector<entry> d_packets;
    std::size_t d_begin = 0;
    std::size_t d_waiting = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_STORE_H */
