/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RING_WRITER_H
#define INCLUDED_SPEAD_CORE_RING_WRITER_H

#include "packet_ring.h"
#include "protocol/heap_layout.h"

#include <functional>
#include <vector>

namespace gr::spead {

//! A packet that is made by itself, not in a slot.
struct extra_packet {
    std::vector<std::byte> bytes;
    packet_info info;
};

/*!
 * \brief The ring as the side that fills it sees it: packets one after the other, and
 * which of them may be published.
 *
 * For each packet: claim(), then the header where none has_header(), the payload, then
 * close(). Knows which header stands in a slot, so that it need not be written again.
 */
class ring_writer
{
public:
    //! \p published is called when there are packets and the sender sleeps.
    ring_writer(packet_ring& ring, std::function<void()> published);

    std::size_t slots() const { return d_ring.slots(); }

    //! Whether there is room for so many slots behind what is written.
    bool slots_are_free(std::uint64_t count);

    //! Makes sure that the packet to come has its slots, and that they are not wrapped.
    bool claim(std::size_t packet_bytes);

    //! The packet to come, in the slots that are claimed for it.
    std::byte* packet() { return d_ring.data(d_next.slot); }
    packet_info& info() { return d_ring.info(d_next.slot); }

    //! Whether this header stands there since the last time round, but for the words
    //! that run.
    bool has_header(const packet_template& header) const
    {
        return d_headers[d_next.slot] == &header;
    }
    //! Writes a header and returns where the payload goes.
    std::byte* write_header(const packet_template& header, const packet_info& info)
    {
        write_bytes(header.words.data(), header.header_bytes(), info);
        return packet() + header.header_bytes();
    }
    //! The header that was laid out last will do the next time round; it stays where it
    //! is, and as it is, until invalidate_headers().
    void keep_header(const packet_template& header)
    {
        if (d_claimed == 1)
            d_headers[d_next.slot] = &header;
    }
    void invalidate_headers();

    //! The packet is complete.
    void close() { d_ring.advance(d_next, d_claimed); }

    //! All of that for one packet. False if the ring is full.
    bool write(const extra_packet& packet);

    //! Where the next packet goes.
    const ring_cursor& next() const { return d_next; }
    //! Forgets everything from there on, none of which may be published yet.
    void rewind(const ring_cursor& to) { d_next = to; }
    //! The same, and returns the payload that was there. \p open is the end of that of an
    //! unfinished packet, or nullptr.
    std::vector<std::byte> take_back(const ring_cursor& from, const std::byte* open);

    //! What lies before may be published.
    const ring_cursor& ready() const { return d_ready; }
    void set_ready() { d_ready = d_next; }

    //! Hands over what may be published.
    void publish();
    //! The same, but only if there is much of it.
    void publish_batch()
    {
        if (d_ready.count - d_published >= d_batch)
            publish();
    }

private:
    void write_bytes(const void* begin, std::size_t bytes, const packet_info& info);

    packet_ring& d_ring;
    const std::function<void()> d_on_published;
    const std::size_t d_batch;
    ring_cursor d_next;
    ring_cursor d_ready;
    std::uint64_t d_published = 0;
    std::uint64_t d_released = 0; // by the sender, as last seen
    std::size_t d_claimed = 0;
    std::vector<const packet_template*> d_headers; // for each slot
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RING_WRITER_H */
