/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "ring_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gr::spead {

namespace {

// Packets are published in batches of 1/4 of the ring, and at the end of each write.
constexpr std::size_t batches_per_ring = 4;

} // namespace

ring_writer::ring_writer(packet_ring& ring, std::function<void()> wake_sender)
    : d_ring(ring),
      d_wake_sender(std::move(wake_sender)),
      d_batch_slots(ring.slots() / batches_per_ring),
      d_headers(ring.slots(), nullptr)
{
}

bool ring_writer::slots_are_free(std::uint64_t count)
{
    const std::uint64_t end = d_next.count + count;
    if (end <= d_released + d_ring.limit())
        return true;
    d_released = d_ring.released();
    return end <= d_released + d_ring.limit();
}

bool ring_writer::claim(std::size_t packet_bytes)
{
    const std::size_t slots = d_ring.slots_for(packet_bytes);
    const bool wraps = d_next.slot + slots > d_ring.slots();
    const std::size_t skipped = wraps ? d_ring.slots() - d_next.slot : 0;
    if (!slots_are_free(skipped + slots))
        return false;
    if (wraps) {
        d_ring.info(d_next.slot) = { 0, packet_info::wrap, 0, 0 };
        d_headers[d_next.slot] = nullptr;
        d_ring.advance(d_next, skipped);
    }
    d_claimed = slots;
    return true;
}

void ring_writer::write_bytes(const void* begin,
                              std::size_t bytes,
                              const packet_info& info)
{
    if (bytes)
        std::memcpy(packet(), begin, bytes);
    this->info() = info;
    const auto first = d_headers.begin() + static_cast<std::ptrdiff_t>(d_next.slot);
    std::fill_n(first, d_claimed, nullptr);
}

bool ring_writer::write(const prebuilt_packet& packet)
{
    if (!claim(packet.bytes.size()))
        return false;
    write_bytes(packet.bytes.data(), packet.bytes.size(), packet.info);
    close();
    set_ready();
    return true;
}

void ring_writer::invalidate_headers()
{
    std::fill(d_headers.begin(), d_headers.end(), nullptr);
}

std::vector<std::byte> ring_writer::reclaim_packets(const ring_cursor& begin,
                                                    const std::byte* open_end)
{
    std::vector<std::byte> payload;
    const auto append = [&](const std::byte* packet, const std::byte* end) {
        const auto items = std::to_integer<std::size_t>(packet[6]) << 8 |
                           std::to_integer<std::size_t>(packet[7]);
        const auto header = wire::header_bytes + items * wire::pointer_bytes;
        payload.insert(payload.end(), packet + header, end);
    };
    for (ring_cursor cursor = begin; cursor.count < d_next.count;
         d_ring.advance_packet(cursor)) {
        const auto& info = d_ring.info(cursor.slot);
        const std::byte* packet = d_ring.data(cursor.slot);
        if (!(info.flags & packet_info::wrap))
            append(packet, packet + info.bytes);
    }
    if (open_end)
        append(packet(), open_end);
    rewind(begin);
    return payload;
}

void ring_writer::publish()
{
    if (d_ready.count == d_published)
        return;
    d_published = d_ready.count;
    d_ring.publish(d_published);
    if (d_ring.sender_sleeps.claim(d_published))
        d_wake_sender();
}

} // namespace gr::spead
