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

//! A packet that is built outside the ring.
struct prebuilt_packet {
    std::vector<std::byte> bytes;
    packet_info info;
};

/*!
 * \brief Writes packets to a ring, and publishes those that are ready.
 *
 * For each packet: claim(), write_header() unless has_header(), complete the header,
 * write the payload, then close(). After keep_header(), the next packet in the same slot
 * need not write the header again. set_ready() and publish() hand packets to the sender.
 */
class ring_writer
{
public:
    //! \p ring must be unused. publish() calls \p wake_sender if the sender must be
    //! woken.
    ring_writer(packet_ring& ring, std::function<void()> wake_sender);

    std::size_t slots() const { return d_ring.slots(); }

    //! Whether \p count slots are free, from next() on.
    bool slots_are_free(std::uint64_t count);

    //! Claims contiguous slots for the next packet. Returns false if the ring is full.
    bool claim(std::size_t packet_bytes);

    //! The packet in the claimed slots.
    std::byte* packet() { return d_ring.data(d_next.slot); }
    packet_info& info() { return d_ring.info(d_next.slot); }

    //! Whether the slot has this header from its last use, except for the words that
    //! heap_layout::complete_header() writes.
    bool has_header(const packet_template& header) const
    {
        return d_headers[d_next.slot] == &header;
    }
    //! Writes a header and returns the start of the payload.
    std::byte* write_header(const packet_template& header, const packet_info& info)
    {
        write_bytes(header.words.data(), header.header_bytes(), info);
        return packet() + header.header_bytes();
    }
    //! Records that the claimed slot has this header; no effect if the packet takes
    //! several. \p header must stay valid and unchanged until invalidate_headers().
    void keep_header(const packet_template& header)
    {
        if (d_claimed == 1)
            d_headers[d_next.slot] = &header;
    }
    void invalidate_headers();

    //! Ends the packet: moves next() behind it.
    void close() { d_ring.advance(d_next, d_claimed); }

    //! Copies one packet to the ring and sets it ready. Returns false if the ring is
    //! full.
    bool write(const prebuilt_packet& packet);

    //! Position of the next packet.
    const ring_cursor& next() const { return d_next; }
    //! Moves next() back to \p position, which discards the packets from there on. They
    //! must not have been published.
    void rewind(const ring_cursor& position) { d_next = position; }
    //! Like rewind(\p begin), but returns the payload of the discarded packets.
    //! \p open_end: end of the payload of an unfinished packet, or nullptr.
    std::vector<std::byte> reclaim_packets(const ring_cursor& begin,
                                           const std::byte* open_end);

    //! Packets before this position may be published.
    const ring_cursor& ready() const { return d_ready; }
    void set_ready() { d_ready = d_next; }

    //! Publishes the packets before ready().
    void publish();
    //! Publishes them if they fill at least a quarter of the ring.
    void publish_batch()
    {
        if (d_ready.count - d_published >= d_batch_slots)
            publish();
    }

private:
    void write_bytes(const void* begin, std::size_t bytes, const packet_info& info);

    packet_ring& d_ring;
    const std::function<void()> d_wake_sender;
    const std::size_t d_batch_slots;
    ring_cursor d_next;
    ring_cursor d_ready;
    std::uint64_t d_published = 0;
    std::uint64_t d_released = 0;                  // cached value of d_ring.released()
    std::size_t d_claimed = 0;                     // slots
    std::vector<const packet_template*> d_headers; // by slot; nullptr if unknown
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RING_WRITER_H */
