/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "ring_reader.h"

#include <algorithm>

namespace gr::spead {

namespace {

constexpr unsigned outcomes = packet_info::sent | packet_info::dropped;

} // namespace

void ring_reader::mark(std::size_t slot, std::size_t packets, packet_info::flag outcome)
{
    for (std::size_t i = slot; i < slot + packets; ++i)
        d_ring->info(i).flags =
            static_cast<std::uint16_t>(d_ring->info(i).flags | outcome);
}

void ring_reader::account(std::uint64_t sent_end)
{
    tally sum;
    const std::uint64_t end = d_ring->published();
    while (d_position.count < end) {
        auto& info = d_ring->info(d_position.slot);
        const bool is_sent = d_position.count < sent_end;
        if (is_sent && info.bytes && !info.flags) {
            // fast path for almost all packets
            ++sum.sent;
            sum.bytes += info.bytes;
            d_ring->advance(d_position, d_ring->slots_for(info.bytes));
            continue;
        }
        if (!is_sent && info.bytes && !(info.flags & outcomes))
            break;
        count(info, !(info.flags & packet_info::dropped), sum);
    }
    add_to_counters(sum);
}

void ring_reader::drop_all()
{
    tally sum;
    while (d_position.count < d_ring->published()) {
        auto& info = d_ring->info(d_position.slot);
        count(info, info.flags & packet_info::sent, sum);
    }
    add_to_counters(sum);
}

// Counts the packet at position(), and moves to the next one.
void ring_reader::count(packet_info& info, bool is_sent, tally& sum)
{
    if (info.bytes) {
        ++(is_sent ? sum.sent : sum.dropped);
        sum.bytes += is_sent ? info.bytes : 0;
        d_is_heap_damaged = d_is_heap_damaged || !is_sent;
    }
    if (info.flags & (packet_info::heap_end | packet_info::heap_dropped)) {
        const bool is_whole =
            !d_is_heap_damaged && !(info.flags & packet_info::heap_dropped);
        auto& heaps = is_whole ? sum.whole : sum.damaged;
        heaps.heaps += (info.flags & packet_info::data) != 0;
        heaps.samples += info.heap_samples;
        d_is_heap_damaged = false;
    }
    // no redundant writes: they would take the cache line from the packer's CPU
    if (info.flags & outcomes)
        info.flags = static_cast<std::uint16_t>(info.flags & ~outcomes);
    d_ring->advance_packet(d_position);
}

void ring_reader::add_to_counters(const tally& sum)
{
    d_counters->packets_dropped.add(sum.dropped);
    d_counters->packets_sent.add(sum.sent);
    d_counters->bytes_sent.add(sum.bytes);
    d_counters->samples_sent.add(sum.whole.samples);
    d_counters->heaps_sent.add(sum.whole.heaps);
    d_counters->samples_dropped.add(sum.damaged.samples);
    d_counters->heaps_dropped.add(sum.damaged.heaps);
}

bool ring_reader::release(std::uint64_t in_flight_begin)
{
    d_ring->release(std::min(d_position.count, in_flight_begin));
    return d_ring->has_space() && d_ring->packer_waits.claim();
}

} // namespace gr::spead
