/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_slots.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gr::spead {

namespace {

// More heaps than any sender interleaves.
constexpr std::size_t max_placed = 256;
constexpr std::size_t max_refused = 64;
// Limits for packets that wait for descriptors, for items or for another heap.
constexpr std::size_t max_collecting = 1024;
constexpr std::size_t max_kept_packets = 1024;
constexpr std::size_t max_kept_bytes = 1 << 20;

} // namespace

heap_slots::heap_slots(std::function<void(const heap_slot&)> finish)
    : d_finish(std::move(finish)),
      d_collecting{ max_collecting },
      d_placed{ max_placed },
      d_refused{ max_refused },
      d_slots(max_collecting + max_placed + max_refused + 1),
      d_tags(d_slots.size())
{
    for (auto i = d_slots.size(); i-- > 0;)
        d_free.push_back(i);
}

heap_slot* heap_slots::find(const heap_id& id)
{
    if (d_last_slot && d_last_slot->status != heap_slot::state::free &&
        d_last_slot->id == id)
        return d_last_slot;
    if (d_absent_id == id)
        return nullptr;
    heap_slot* latest = nullptr;
    for (auto* slot = find_from(0, id); slot; slot = find_from(index_of(*slot) + 1, id))
        if (!latest || slot->arrival_number > latest->arrival_number)
            latest = slot;
    if (latest)
        d_last_slot = latest;
    else
        d_absent_id = id;
    return latest;
}

heap_slot* heap_slots::find_older(const heap_slot& newer)
{
    heap_slot* latest = nullptr;
    for (auto* slot = find_from(0, newer.id); slot;
         slot = find_from(index_of(*slot) + 1, newer.id))
        if (slot->arrival_number < newer.arrival_number &&
            (!latest || slot->arrival_number > latest->arrival_number))
            latest = slot;
    return latest;
}

heap_slot* heap_slots::find_from(std::size_t begin, const heap_id& id)
{
    const auto *tag = d_tags.data() + begin, *tags_end = d_tags.data() + d_used;
    while (tag < tags_end &&
           (tag = static_cast<const unsigned char*>(std::memchr(
                tag, tag_of(id.counter), static_cast<std::size_t>(tags_end - tag))))) {
        auto& slot = d_slots[static_cast<std::size_t>(tag++ - d_tags.data())];
        if (slot.status != heap_slot::state::free && slot.id == id)
            return &slot;
    }
    return nullptr;
}

const heap_slot* heap_slots::find_overlapping(const heap_slot& slot) const
{
    const auto range = slot.range();
    const auto found = std::find_if(
        d_placed.slots.begin(), d_placed.slots.end(), [&](auto* placed_slot) {
            return placed_slot->output == slot.output &&
                   placed_slot->range().begin < range.end &&
                   range.begin < placed_slot->range().end;
        });
    return found == d_placed.slots.end() ? nullptr : *found;
}

bool heap_slots::has_gap_after(const heap_slot& slot) const
{
    if (slot.time.is_length_known)
        return false;
    const auto end = slot.range().end;
    bool is_followed = false;
    for (const auto* placed_slot : d_placed.slots)
        if (placed_slot->output == slot.output) {
            if (placed_slot->time.position == end)
                return false;
            is_followed |= placed_slot->time.position > end;
        }
    return is_followed;
}

heap_slot& heap_slots::add(const heap_id& id)
{
    if (d_collecting.slots.size() == d_collecting.max_slots)
        remove(*d_collecting.slots.front());
    auto& slot = d_slots[d_free.back()];
    d_free.pop_back();
    slot.restart();
    slot.status = heap_slot::state::collecting;
    slot.id = id;
    slot.arrival_number = d_next_arrival++;
    d_collecting.slots.push_back(&slot);
    d_tags[index_of(slot)] = tag_of(id.counter);
    d_used = std::max(d_used, index_of(slot) + 1);
    d_last_slot = &slot;
    d_absent_id.reset();
    return slot;
}

heap_slots::region& heap_slots::region_of(const heap_slot& slot)
{
    return slot.status == heap_slot::state::collecting ? d_collecting
           : slot.status == heap_slot::state::placed   ? d_placed
                                                       : d_refused;
}

void heap_slots::leave_region(heap_slot& slot)
{
    set_ready(slot, false);
    auto& slots = region_of(slot).slots;
    if (slots.back() == &slot)
        slots.pop_back();
    else
        slots.erase(std::find(slots.begin(), slots.end(), &slot));
}

void heap_slots::move(heap_slot& slot, heap_slot::state status, region& destination)
{
    if (destination.slots.size() == destination.max_slots)
        remove(*destination.slots.front());
    leave_region(slot);
    slot.status = status;
    destination.slots.push_back(&slot);
}

void heap_slots::refuse(heap_slot& slot)
{
    d_finish(slot);
    drop_packets(slot);
    move(slot, heap_slot::state::refused, d_refused);
}

void heap_slots::remove(heap_slot& slot)
{
    d_finish(slot);
    drop_packets(slot);
    leave_region(slot);
    slot.status = heap_slot::state::free;
    d_free.push_back(index_of(slot));
}

void heap_slots::set_ready(heap_slot& slot, bool is_ready)
{
    d_ready_slots += is_ready;
    d_ready_slots -= std::exchange(slot.is_ready, is_ready);
}

heap_slot* heap_slots::first_ready()
{
    if (!d_ready_slots)
        return nullptr;
    return *std::find_if(d_collecting.slots.begin(),
                         d_collecting.slots.end(),
                         [](const heap_slot* slot) { return slot->is_ready; });
}

bool heap_slots::keep_packet(heap_slot& slot,
                             const received_datagram& packet,
                             heap_slot::time_point now)
{
    const auto is_full = [&] {
        return d_kept_packets >= max_kept_packets ||
               d_kept_bytes + packet.bytes > max_kept_bytes;
    };
    while (is_full()) {
        const auto& slots = d_collecting.slots;
        const auto oldest =
            std::find_if(slots.begin(), slots.end(), [&](auto* candidate) {
                return candidate != &slot && !candidate->kept_packets.empty();
            });
        if (oldest == slots.end())
            return false;
        remove(**oldest);
    }
    append_packet(slot, packet, now);
    return true;
}

void heap_slots::append_packet(heap_slot& slot,
                               const received_datagram& packet,
                               heap_slot::time_point now)
{
    slot.kept_packets.push_back({ { packet.data, packet.data + packet.bytes }, now });
    ++d_kept_packets;
    d_kept_bytes += packet.bytes;
}

std::size_t heap_slots::drop_packets(heap_slot& slot, std::size_t begin, std::size_t end)
{
    const auto first = slot.kept_packets.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = slot.kept_packets.begin() + static_cast<std::ptrdiff_t>(end);
    for (auto packet = first; packet != last; ++packet)
        d_kept_bytes -= packet->content.size();
    d_kept_packets -= end - begin;
    slot.kept_packets.erase(first, last);
    return end - begin;
}

} // namespace gr::spead
