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
constexpr std::size_t max_kept = 1024;
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
    if (d_last && d_last->status != heap_slot::state::free && d_last->id == id)
        return d_last;
    if (d_absent == id)
        return nullptr;
    heap_slot* latest = nullptr;
    for (auto* slot = find_from(0, id); slot; slot = find_from(index_of(*slot) + 1, id))
        if (!latest || slot->order > latest->order)
            latest = slot;
    if (latest)
        d_last = latest;
    else
        d_absent = id;
    return latest;
}

heap_slot* heap_slots::find_older(const heap_slot& than)
{
    heap_slot* latest = nullptr;
    for (auto* slot = find_from(0, than.id); slot;
         slot = find_from(index_of(*slot) + 1, than.id))
        if (slot->order < than.order && (!latest || slot->order > latest->order))
            latest = slot;
    return latest;
}

heap_slot* heap_slots::find_from(std::size_t begin, const heap_id& id)
{
    const auto *at = d_tags.data() + begin, *end = d_tags.data() + d_end;
    while (at < end &&
           (at = static_cast<const unsigned char*>(std::memchr(
                at, tag_of(id.counter), static_cast<std::size_t>(end - at))))) {
        auto& slot = d_slots[static_cast<std::size_t>(at++ - d_tags.data())];
        if (slot.status != heap_slot::state::free && slot.id == id)
            return &slot;
    }
    return nullptr;
}

const heap_slot* heap_slots::find_overlapping(const heap_slot& slot) const
{
    const auto range = slot.range();
    const auto found =
        std::find_if(d_placed.slots.begin(), d_placed.slots.end(), [&](auto* each) {
            return each->output == slot.output && each->range().begin < range.end &&
                   range.begin < each->range().end;
        });
    return found == d_placed.slots.end() ? nullptr : *found;
}

bool heap_slots::has_gap_after(const heap_slot& slot) const
{
    if (slot.time.is_length_known)
        return false;
    const auto end = slot.range().end;
    bool is_followed = false;
    for (const auto* each : d_placed.slots)
        if (each->output == slot.output) {
            if (each->time.position == end)
                return false;
            is_followed |= each->time.position > end;
        }
    return is_followed;
}

heap_slot& heap_slots::add(const heap_id& id)
{
    if (d_collecting.slots.size() == d_collecting.max)
        remove(*d_collecting.slots.front());
    auto& slot = d_slots[d_free.back()];
    d_free.pop_back();
    slot.restart();
    slot.status = heap_slot::state::collecting;
    slot.id = id;
    slot.order = d_order++;
    d_collecting.slots.push_back(&slot);
    d_tags[index_of(slot)] = tag_of(id.counter);
    d_end = std::max(d_end, index_of(slot) + 1);
    d_last = &slot;
    d_absent.reset();
    return slot;
}

heap_slots::region& heap_slots::region_of(const heap_slot& slot)
{
    return slot.status == heap_slot::state::collecting ? d_collecting
           : slot.status == heap_slot::state::placed   ? d_placed
                                                       : d_refused;
}

void heap_slots::leave(heap_slot& slot)
{
    set_ready(slot, false);
    auto& slots = region_of(slot).slots;
    if (slots.back() == &slot)
        slots.pop_back();
    else
        slots.erase(std::find(slots.begin(), slots.end(), &slot));
}

void heap_slots::move(heap_slot& slot, heap_slot::state status, region& to)
{
    if (to.slots.size() == to.max)
        remove(*to.slots.front());
    leave(slot);
    slot.status = status;
    to.slots.push_back(&slot);
}

void heap_slots::remove(heap_slot& slot)
{
    d_finish(slot);
    drop_packets(slot);
    leave(slot);
    slot.status = heap_slot::state::free;
    d_free.push_back(index_of(slot));
}

void heap_slots::set_ready(heap_slot& slot, bool is_ready)
{
    d_ready += is_ready;
    d_ready -= std::exchange(slot.is_ready, is_ready);
}

heap_slot* heap_slots::first_ready()
{
    if (!d_ready)
        return nullptr;
    return *std::find_if(d_collecting.slots.begin(),
                         d_collecting.slots.end(),
                         [](const heap_slot* slot) { return slot->is_ready; });
}

bool heap_slots::keep(heap_slot& slot,
                      const received_packet& packet,
                      heap_slot::time_point now)
{
    const auto is_full = [&] {
        return d_kept >= max_kept || d_kept_bytes + packet.bytes > max_kept_bytes;
    };
    while (is_full()) {
        const auto& slots = d_collecting.slots;
        const auto oldest = std::find_if(slots.begin(), slots.end(), [&](auto* each) {
            return each != &slot && !each->kept.empty();
        });
        if (oldest == slots.end())
            return false;
        remove(**oldest);
    }
    append(slot, packet, now);
    return true;
}

void heap_slots::append(heap_slot& slot,
                        const received_packet& packet,
                        heap_slot::time_point now)
{
    slot.kept.push_back({ { packet.data, packet.data + packet.bytes }, now });
    ++d_kept;
    d_kept_bytes += packet.bytes;
}

std::size_t heap_slots::drop_packets(heap_slot& slot, std::size_t begin, std::size_t end)
{
    const auto first = slot.kept.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = slot.kept.begin() + static_cast<std::ptrdiff_t>(end);
    for (auto packet = first; packet != last; ++packet)
        d_kept_bytes -= packet->content.size();
    d_kept -= end - begin;
    slot.kept.erase(first, last);
    return end - begin;
}

} // namespace gr::spead
