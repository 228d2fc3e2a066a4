/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packer_config.h"

#include <algorithm>

namespace gr::spead {

namespace {

// A heap of up to 1/8 of the ring is published only when it is complete.
constexpr std::size_t buffered_heaps_per_ring = 8;

std::size_t slots_per_packet(const packer_config& config, const heap_layout& layout)
{
    const std::size_t slot_bytes = config.regular.packet_bytes();
    return (layout.packet_bytes() + slot_bytes - 1) / slot_bytes;
}

std::vector<const heap_layout*> all_layouts(const packer_config& config)
{
    std::vector<const heap_layout*> layouts{ &config.regular };
    for (const auto* layout : { &config.first, &config.descriptors, &config.stop })
        if (*layout)
            layouts.push_back(&**layout);
    return layouts;
}

} // namespace

std::uint64_t packer_config::slots_of(const heap_layout& layout) const
{
    // one more packet, since slots may be skipped at the end of the ring
    return (layout.packets() + 1) * slots_per_packet(*this, layout);
}

bool packer_config::is_buffered(const heap_layout& layout, std::size_t ring_slots) const
{
    return layout.packets() * slots_per_packet(*this, layout) <=
           ring_slots / buffered_heaps_per_ring;
}

std::size_t packer_config::min_ring_slots() const
{
    std::uint64_t slots = buffered_heaps_per_ring;
    for (const auto* layout : all_layouts(*this)) {
        slots = std::max<std::uint64_t>(slots, 4 * slots_per_packet(*this, *layout));
        if (when_full == full_policy::drop)
            slots = std::max(slots, 2 * slots_of(*layout));
    }
    return static_cast<std::size_t>(slots);
}

std::size_t packer_config::min_slots_in_use(std::size_t ring_slots) const
{
    std::uint64_t slots = 0;
    for (const auto* layout : all_layouts(*this))
        slots = std::max(slots,
                         is_buffered(*layout, ring_slots)
                             ? slots_of(*layout)
                             : 4 * slots_per_packet(*this, *layout));
    return static_cast<std::size_t>(slots);
}

} // namespace gr::spead
