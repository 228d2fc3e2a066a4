/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_packer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gr {
namespace spead {

namespace {

// A heap that is no larger than this part of the ring waits until it is complete.
constexpr std::size_t held_part = 8;
// The sender is woken in steps of this part of the ring, and at the end of each write.
constexpr std::size_t publish_part = 4;

std::size_t slots_per_packet(const stream_plan& plan, const heap_layout& layout)
{
    const std::size_t unit = plan.regular.packet_bytes();
    return (layout.packet_bytes() + unit - 1) / unit;
}

// with what a wrap around the end of the ring and a split last packet cost
std::uint64_t slots_per_heap(const stream_plan& plan, const heap_layout& layout)
{
    return (layout.packets() + 2) * slots_per_packet(plan, layout);
}

bool is_held(const stream_plan& plan, const heap_layout& layout, std::size_t ring_slots)
{
    return layout.packets() * slots_per_packet(plan, layout) <= ring_slots / held_part;
}

std::vector<const heap_layout*> layouts(const stream_plan& plan)
{
    std::vector<const heap_layout*> all{ &plan.regular };
    if (plan.first)
        all.push_back(&*plan.first);
    if (plan.stop)
        all.push_back(&*plan.stop);
    return all;
}

void store(std::byte* at, std::uint64_t word) { std::memcpy(at, &word, sizeof word); }

} // namespace

std::size_t heap_packer::min_slots(const stream_plan& plan)
{
    std::uint64_t slots = held_part;
    for (const auto* layout : layouts(plan)) {
        slots = std::max<std::uint64_t>(slots, 4 * slots_per_packet(plan, *layout));
        if (plan.when_full == full_policy::drop)
            slots = std::max(slots, 2 * slots_per_heap(plan, *layout));
    }
    return static_cast<std::size_t>(slots);
}

bool heap_packer::can_end_anywhere(const stream_plan& plan, std::size_t ring_slots)
{
    const auto all = layouts(plan);
    return plan.tail != tail_policy::shorten ||
           std::all_of(all.begin(), all.end(), [&](const heap_layout* layout) {
               return layout->payload_bytes() > wire::pointer_bytes ||
                      is_held(plan, *layout, ring_slots);
           });
}

std::size_t heap_packer::min_slots_in_use() const
{
    std::uint64_t slots = 0;
    for (const auto* layout : layouts(d_plan)) {
        const bool held = is_held(d_plan, *layout, d_ring.slots());
        slots = std::max(slots,
                         held ? slots_per_heap(d_plan, *layout)
                              : 4 * slots_per_packet(d_plan, *layout));
    }
    return static_cast<std::size_t>(slots);
}

heap_packer::heap_packer(stream_plan plan,
                         packet_ring& ring,
                         packer_counters& counters,
                         std::function<void()> published)
    : d_plan(std::move(plan)),
      d_ring(ring),
      d_counters(counters),
      d_on_published(std::move(published)),
      d_publish_batch(ring.slots() / publish_part),
      d_heap_id(d_plan.heap_id_start),
      d_timestamp(d_plan.timestamp_start),
      d_laid_out(ring.slots(), nullptr)
{
}

void heap_packer::start_stream()
{
    d_first_pending = d_plan.first.has_value();
    d_ending = false;
}

std::size_t heap_packer::write(const std::int8_t* samples, std::size_t n)
{
    const auto* in = reinterpret_cast<const std::byte*>(samples);
    std::size_t taken = 0;
    while (taken < n) {
        if (d_drop_left) {
            taken += drop_samples(n - taken);
            continue;
        }
        if (!d_layout && !begin_heap())
            continue;
        const auto& prefix = d_layout->contents().prefix;
        if (d_offset < prefix.size()) {
            if (!put(prefix.data() + d_offset, prefix.size() - d_offset))
                break;
            continue;
        }
        if (!d_at && !open_packet())
            break;
        const std::size_t now = std::min(n - taken, d_room);
        // counted first: what is sent must never be more than what came in
        d_counters.samples_in.add(now);
        taken += put(in + taken, now);
    }
    publish();
    return taken;
}

std::size_t heap_packer::drop_samples(std::size_t n)
{
    const auto dropped = std::min<std::uint64_t>(n, d_drop_left);
    d_drop_left -= dropped;
    d_counters.samples_in.add(dropped);
    d_counters.samples_dropped.add(dropped);
    return static_cast<std::size_t>(dropped);
}

// False if the heap has no room and is left out.
bool heap_packer::begin_heap()
{
    const auto& layout = d_first_pending ? *d_plan.first : d_plan.regular;
    const auto& contents = layout.contents();
    d_counter_item =
        wire::network_order(contents.flavour.immediate(wire::heap_counter, d_heap_id));
    if (contents.timestamp)
        d_timestamp_item =
            wire::network_order(contents.pointers[*contents.timestamp] | d_timestamp);
    step_numbers(1);

    if (d_plan.when_full == full_policy::drop &&
        !slots_are_free(slots_per_heap(d_plan, layout))) {
        d_drop_left = layout.sample_bytes();
        d_counters.heaps_dropped.add(1);
        return false;
    }
    d_layout = &layout;
    d_held = is_held(d_plan, layout, d_ring.slots());
    d_offset = 0;
    d_heap_start = d_next;
    return true;
}

void heap_packer::step_numbers(int direction)
{
    const auto mask = d_plan.regular.contents().flavour.address_mask();
    const auto steps = static_cast<std::uint64_t>(direction); // wraps, as the numbers do
    d_heap_id = (d_heap_id + steps * d_plan.heap_id_step) & mask;
    d_timestamp = (d_timestamp + steps * d_plan.timestamp_step) & mask;
}

bool heap_packer::slots_are_free(std::uint64_t count)
{
    const std::uint64_t end = d_next.count + count;
    if (end <= d_released + d_ring.limit())
        return true;
    d_released = d_ring.released();
    return end <= d_released + d_ring.limit();
}

// Makes sure that the packet to come has its slots, and that they are not wrapped.
bool heap_packer::claim_slots(std::size_t packet_bytes)
{
    const std::size_t wanted = d_ring.slots_for(packet_bytes);
    const bool wraps = d_next.slot + wanted > d_ring.slots();
    const std::size_t skipped = wraps ? d_ring.slots() - d_next.slot : 0;
    if (!slots_are_free(skipped + wanted))
        return false;
    if (wraps) {
        d_ring.info(d_next.slot) = { 0, packet_info::wrap, 0, 0 };
        d_laid_out[d_next.slot] = nullptr;
        d_ring.advance(d_next, skipped);
    }
    d_slots_taken = wanted;
    return true;
}

// Writes a header into the claimed slots and returns where the payload goes.
std::byte* heap_packer::lay_header(const packet_template& header, const packet_info& info)
{
    std::byte* packet = d_ring.data(d_next.slot);
    if (!header.words.empty())
        std::memcpy(packet, header.words.data(), header.header_bytes());
    d_ring.info(d_next.slot) = info;
    std::fill_n(d_laid_out.begin() + static_cast<std::ptrdiff_t>(d_next.slot),
                d_slots_taken,
                nullptr);
    return packet + header.header_bytes();
}

bool heap_packer::open_packet()
{
    const packet_template& header = d_layout->packet_at(d_offset);
    if (!claim_slots(header.packet_bytes()))
        return false;
    std::byte* packet = d_ring.data(d_next.slot);
    // a recycled slot has its header already, but for the words that run
    if (d_laid_out[d_next.slot] != &header) {
        const bool last = &header == &d_layout->last();
        lay_header(header,
                   { static_cast<std::uint32_t>(header.packet_bytes()),
                     last ? packet_info::heap_end : packet_info::flag{},
                     0,
                     last ? d_layout->sample_bytes() : 0 });
        if (d_slots_taken == 1)
            d_laid_out[d_next.slot] = &header;
    }
    const auto& contents = d_layout->contents();
    store(packet + heap_layout::counter_word * wire::pointer_bytes, d_counter_item);
    store(
        packet + heap_layout::offset_word * wire::pointer_bytes,
        wire::network_order(contents.flavour.immediate(wire::payload_offset, d_offset)));
    if (contents.timestamp)
        store(packet +
                  (heap_layout::items_word + *contents.timestamp) * wire::pointer_bytes,
              d_timestamp_item);
    d_at = packet + header.header_bytes();
    d_room = header.payload_bytes;
    return true;
}

std::size_t heap_packer::put(const std::byte* bytes, std::size_t n)
{
    if (!d_at && !open_packet())
        return 0;
    const std::size_t now = std::min(n, d_room);
    if (bytes)
        std::memcpy(d_at, bytes, now);
    else
        std::memset(d_at, 0, now);
    d_at += now;
    d_room -= now;
    d_offset += now;
    if (!d_room)
        close_packet();
    return now;
}

void heap_packer::close_packet()
{
    d_at = nullptr;
    d_ring.advance(d_next, d_slots_taken);
    if (d_offset == d_layout->heap_bytes()) {
        d_first_pending = false;
        d_layout = nullptr;
        d_ready = d_next;
    } else if (!d_held) {
        d_ready = d_next;
    }
    if (d_ready.count - d_published >= d_publish_batch)
        publish();
}

void heap_packer::publish()
{
    if (d_ready.count == d_published)
        return;
    d_published = d_ready.count;
    d_ring.publish(d_published);
    if (d_ring.sender_sleeps.claim())
        d_on_published();
}

} // namespace spead
} // namespace gr
