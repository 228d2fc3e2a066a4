/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_STORE_H
#define INCLUDED_SPEAD_CORE_PACKET_STORE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gr::spead {

/*!
 * \brief Packets that wait until their items are known, in their order.
 *
 * Does not allocate after its construction.
 */
class packet_store
{
public:
    explicit packet_store(std::size_t bytes) { d_bytes.reserve(bytes); }

    struct packet {
        const std::byte* data;
        std::size_t bytes;
        std::size_t group;
    };

    bool empty() const { return d_read == d_bytes.size(); }
    std::size_t packets() const { return d_packets; } //!< read or not

    bool has_room_for(std::size_t bytes) const
    {
        return d_bytes.size() + sizeof(header) + bytes <= d_bytes.capacity();
    }
    void add(const packet& p)
    {
        const header h{ static_cast<std::uint32_t>(p.bytes),
                        static_cast<std::uint32_t>(p.group) };
        const auto* bytes = reinterpret_cast<const std::byte*>(&h);
        d_bytes.insert(d_bytes.end(), bytes, bytes + sizeof h);
        d_bytes.insert(d_bytes.end(), p.data, p.data + p.bytes);
        ++d_packets;
    }
    //! Unless empty: the first one that was not read.
    packet front() const { return at(d_read); }
    void pop() { d_read += sizeof(header) + front().bytes; }
    //! None has been read.
    void rewind() { d_read = 0; }
    void clear()
    {
        d_bytes.clear();
        d_read = 0;
        d_packets = 0;
    }
    template <typename visitor>
    void for_each(visitor&& visit) const
    {
        for (auto i = d_read; i < d_bytes.size(); i += sizeof(header) + at(i).bytes)
            visit(at(i));
    }

private:
    struct header {
        std::uint32_t bytes, group;
    };
    packet at(std::size_t index) const
    {
        header h;
        std::memcpy(&h, d_bytes.data() + index, sizeof h);
        return { d_bytes.data() + index + sizeof h, h.bytes, h.group };
    }

    std::vector<std::byte> d_bytes;
    std::size_t d_read = 0;
    std::size_t d_packets = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_STORE_H */
