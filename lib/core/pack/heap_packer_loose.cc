/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What stands between heaps of samples: descriptors, the end of the stream, and packets
// that were made one by one.

#include "heap_packer.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

bool heap_packer::send_stop()
{
    if (!d_stopping) {
        d_stopping = true;
        make_ends();
        repeat_stop();
    }
    const bool done = emit_extra();
    d_ring.publish();
    return done;
}

void heap_packer::make_ends()
{
    if (!d_plan.stop)
        return;
    const auto& layout = *d_plan.stop;
    const auto& flavour = layout.contents().flavour;
    for (const auto destination : d_plan.stop_destinations) {
        auto header = layout.last();
        header.words[heap_layout::counter_word] =
            wire::network_order(flavour.immediate(wire::heap_counter, d_heap_id));
        d_heap_id = (d_heap_id + d_plan.heap_id_step) & flavour.address_mask();
        const packet_info info{ static_cast<std::uint32_t>(header.packet_bytes()),
                                plain_end,
                                static_cast<std::uint16_t>(destination),
                                0 };
        d_ends.push_back({ std::move(header), layout.contents().prefix, info });
    }
}

// False if the ring is full.
bool heap_packer::emit_extra()
{
    for (; !d_extra.empty(); d_extra.pop_front()) {
        const auto& packet = d_extra.front();
        if (!d_ring.claim(packet.info.bytes))
            return false;
        std::byte* payload = d_ring.write_header(packet.header, packet.info);
        std::copy(packet.payload.begin(), packet.payload.end(), payload);
        d_ring.close();
        d_ring.set_ready();
    }
    return true;
}

// False if the ring is full. Allocates nothing: it happens again and again.
bool heap_packer::emit_descriptors()
{
    while (d_descriptors.is_due()) {
        const auto& layout = *d_plan.descriptors;
        const auto& flavour = layout.contents().flavour;
        const auto& payloads = layout.contents().prefix;
        const auto offset = d_descriptors.offset();
        const auto& header = layout.packet_at(offset);
        if (!d_ring.claim(header.packet_bytes()))
            return false;
        const bool heap_end = &header == &layout.last();
        const packet_info info{ static_cast<std::uint32_t>(header.packet_bytes()),
                                heap_end ? plain_end : no_flags,
                                static_cast<std::uint16_t>(d_descriptors.destination()),
                                0 };
        std::byte* payload = d_ring.write_header(header, info);
        const auto heap_id = d_descriptors.heap_id();
        d_ring.store(heap_layout::counter_word,
                     wire::network_order(flavour.immediate(wire::heap_counter, heap_id)));
        d_ring.store(
            heap_layout::offset_word,
            wire::network_order(flavour.immediate(wire::payload_offset, offset)));
        std::copy_n(payloads.begin() + static_cast<std::ptrdiff_t>(offset),
                    header.payload_bytes,
                    payload);
        d_ring.close();
        d_ring.set_ready();
        d_descriptors.sent(header.payload_bytes, heap_end);
    }
    return true;
}

} // namespace gr::spead
