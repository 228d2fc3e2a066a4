/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What heaps take of a ring.

#include "heap_packer.h"
#include "heap_slots.h"

#include <algorithm>

namespace gr::spead {

namespace {

// A heap that is no larger than this part of the ring waits until it is complete.
constexpr std::size_t buffered_part = 8;

std::size_t slots_per_packet(const stream_plan& plan, const heap_layout& layout)
{
    const std::size_t unit = plan.regular.packet_bytes();
    return (layout.packet_bytes() + unit - 1) / unit;
}

std::vector<const heap_layout*> data_layouts(const stream_plan& plan)
{
    std::vector<const heap_layout*> all{ &plan.regular };
    if (plan.first)
        all.push_back(&*plan.first);
    return all;
}

std::vector<const heap_layout*> layouts(const stream_plan& plan)
{
    auto all = data_layouts(plan);
    for (const auto* other : { &plan.descriptors, &plan.stop })
        if (*other)
            all.push_back(&**other);
    return all;
}

} // namespace

// with what a wrap around the end of the ring and a split last packet cost
std::uint64_t slots_per_heap(const stream_plan& plan, const heap_layout& layout)
{
    return (layout.packets() + 2) * slots_per_packet(plan, layout);
}

bool is_buffered(const stream_plan& plan,
                 const heap_layout& layout,
                 std::size_t ring_slots)
{
    return layout.packets() * slots_per_packet(plan, layout) <=
           ring_slots / buffered_part;
}

std::size_t heap_packer::min_slots(const stream_plan& plan)
{
    std::uint64_t slots = buffered_part;
    for (const auto* layout : layouts(plan)) {
        slots = std::max<std::uint64_t>(slots, 4 * slots_per_packet(plan, *layout));
        if (plan.when_full == full_policy::drop)
            slots = std::max(slots, 2 * slots_per_heap(plan, *layout));
    }
    return static_cast<std::size_t>(slots);
}

bool heap_packer::can_end_anywhere(const stream_plan& plan, std::size_t ring_slots)
{
    const auto all = data_layouts(plan);
    return plan.tail != tail_policy::shorten ||
           std::all_of(all.begin(), all.end(), [&](const heap_layout* layout) {
               return layout->payload_bytes() > wire::pointer_bytes ||
                      is_buffered(plan, *layout, ring_slots);
           });
}

std::size_t heap_packer::min_slots_in_use() const
{
    std::uint64_t slots = 0;
    for (const auto* layout : layouts(d_plan)) {
        const bool held = is_buffered(d_plan, *layout, d_ring.slots());
        slots = std::max(slots,
                         held ? slots_per_heap(d_plan, *layout)
                              : 4 * slots_per_packet(d_plan, *layout));
    }
    return static_cast<std::size_t>(slots);
}

} // namespace gr::spead
