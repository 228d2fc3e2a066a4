/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// How a stream ends. All of this happens once in a stream: clarity before speed.

#include "heap_packer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gr {
namespace spead {

bool heap_packer::end_stream()
{
    bool done = d_ending || finish_tail();
    if (done && !d_ending) {
        d_ending = true;
        append_stop();
    }
    while (done && !d_loose.empty()) {
        done = emit(d_loose.front());
        if (done)
            d_loose.pop_front();
    }
    publish();
    return done;
}

// False if the ring is full.
bool heap_packer::finish_tail()
{
    d_drop_left = 0; // the samples that would have been left out never came
    if (!d_layout)
        return true;

    if (!d_tail_samples)
        d_tail_samples = samples_so_far();

    if (d_plan.tail == tail_policy::drop || *d_tail_samples == 0) {
        drop_tail();
        return true;
    }
    if (d_plan.tail == tail_policy::pad)
        return finish_whole(false);
    if (heap_is_on_its_way())
        return finish_whole(true);
    finish_short();
    return true;
}

// Zeros up to the full length of the heap.
bool heap_packer::finish_whole(bool mark_end)
{
    const heap_layout& layout = *d_layout;
    const auto samples_end = layout.contents().prefix.size() + *d_tail_samples;
    const auto last_start = (layout.packets() - 1) * layout.payload_bytes();
    while (d_offset < last_start)
        if (!put(nullptr, static_cast<std::size_t>(last_start - d_offset)))
            return false;

    const auto& last = layout.last();
    auto payload = take_back(d_next);
    payload.resize(last.payload_bytes);
    const auto base_words = layout.make_packet(0).words.size();
    const auto nulls = last.words.size() - base_words;
    if (!mark_end) {
        append(last, last_start, payload, true);
    } else if (nulls || last.packet_bytes() + wire::pointer_bytes <=
                            layout.full().packet_bytes()) {
        append(layout.make_packet(
                   last.payload_bytes, std::max<std::size_t>(nulls, 1) - 1, samples_end),
               last_start,
               payload,
               true);
    } else {
        // no room for one more item: the last packet becomes two
        const std::size_t first_part = wire::pointer_bytes;
        const std::vector<std::byte> rest(payload.begin() + first_part, payload.end());
        payload.resize(first_part);
        append(layout.make_packet(first_part), last_start, payload, false);
        append(layout.make_packet(rest.size(), 0, samples_end),
               last_start + first_part,
               rest,
               true);
    }
    leave_heap();
    return true;
}

// A heap of just the samples that came, none of which has been published.
void heap_packer::finish_short()
{
    const auto payload = take_back(d_heap_start);
    const auto layout = d_layout->shortened(*d_tail_samples);
    for (std::uint64_t offset = 0; offset < layout.heap_bytes();) {
        const auto& header = layout.packet_at(offset);
        const auto begin = payload.begin() + static_cast<std::ptrdiff_t>(offset);
        const std::vector<std::byte> part(
            begin, begin + static_cast<std::ptrdiff_t>(header.payload_bytes));
        append(header, offset, part, &header == &layout.last());
        offset += header.payload_bytes;
    }
    leave_heap();
}

void heap_packer::drop_tail()
{
    take_back(heap_is_on_its_way() ? d_next : d_heap_start);
    if (heap_is_on_its_way()) {
        // the sender counts, since it may have sent a part of the heap already
        d_loose.push_back(
            { { {}, 0 }, {}, { 0, packet_info::abandoned, 0, *d_tail_samples } });
    } else {
        count_tail_as_dropped();
    }
    leave_heap();
}

void heap_packer::count_tail_as_dropped()
{
    if (d_tail_samples.value_or(0)) {
        d_counters.samples_dropped.add(*d_tail_samples);
        d_counters.heaps_dropped.add(1);
    }
    d_tail_samples.reset();
}

std::uint64_t heap_packer::samples_so_far() const
{
    const auto prefix = d_layout->contents().prefix.size();
    return d_offset > prefix ? d_offset - prefix : 0;
}

// The current heap is left. One of which nothing was there but the intention gives its
// numbers back.
void heap_packer::leave_heap()
{
    if (d_layout && samples_so_far() == 0 && !heap_is_on_its_way())
        step_numbers(-1);
    d_layout = nullptr;
    d_at = nullptr;
}

void heap_packer::give_up_tail()
{
    if (d_ending || !d_layout)
        return;
    if (!d_tail_samples)
        d_tail_samples = samples_so_far();
    drop_tail();
    append_stop();
    d_ending = true;
}

void heap_packer::append_stop()
{
    if (!d_plan.stop)
        return;
    const auto& layout = *d_plan.stop;
    const auto& flavour = layout.contents().flavour;
    d_counter_item =
        wire::network_order(flavour.immediate(wire::heap_counter, d_heap_id));
    d_heap_id = (d_heap_id + d_plan.heap_id_step) & flavour.address_mask();
    auto header = layout.last();
    header.words[heap_layout::counter_word] = d_counter_item;
    d_loose.push_back({ header,
                        layout.contents().prefix,
                        { static_cast<std::uint32_t>(header.packet_bytes()),
                          packet_info::heap_end,
                          0,
                          0 } });
}

void heap_packer::append(packet_template header,
                         std::uint64_t offset,
                         const std::vector<std::byte>& payload,
                         bool heap_end)
{
    const auto& contents = d_layout->contents();
    header.words[heap_layout::counter_word] = d_counter_item;
    header.words[heap_layout::offset_word] =
        wire::network_order(contents.flavour.immediate(wire::payload_offset, offset));
    if (contents.timestamp)
        header.words[heap_layout::items_word + *contents.timestamp] = d_timestamp_item;
    const packet_info info{ static_cast<std::uint32_t>(header.packet_bytes()),
                            heap_end ? packet_info::heap_end : packet_info::flag{},
                            0,
                            heap_end ? *d_tail_samples : 0 };
    d_loose.push_back({ std::move(header), payload, info });
}

bool heap_packer::emit(const loose_packet& packet)
{
    if (!claim_slots(packet.info.bytes))
        return false;
    std::byte* payload = lay_header(packet.header, packet.info);
    std::copy(packet.payload.begin(), packet.payload.end(), payload);
    d_ring.advance(d_next, d_slots_taken);
    d_ready = d_next;
    if (packet.info.flags)
        d_tail_samples.reset(); // the sender's to count now
    return true;
}

// Empties the ring from there on and returns the payload that was in it.
std::vector<std::byte> heap_packer::take_back(ring_cursor from)
{
    std::vector<std::byte> payload;
    const auto take = [&](std::size_t slot, const std::byte* end) {
        const std::byte* packet = d_ring.data(slot);
        const auto items = std::to_integer<std::size_t>(packet[6]) << 8 |
                           std::to_integer<std::size_t>(packet[7]);
        const auto header = wire::header_bytes + items * wire::pointer_bytes;
        payload.insert(payload.end(), packet + header, end);
    };
    const std::byte* open = d_at;
    ring_cursor at = from;
    while (at.count < d_next.count) {
        const auto& info = d_ring.info(at.slot);
        if (!(info.flags & packet_info::wrap))
            take(at.slot, d_ring.data(at.slot) + info.bytes);
        d_ring.advance_packet(at);
    }
    if (open)
        take(d_next.slot, open);
    d_at = nullptr;
    d_next = from;
    return payload;
}

void heap_packer::abandon()
{
    if (d_layout && !d_tail_samples)
        d_tail_samples = samples_so_far();
    count_tail_as_dropped();
    d_drop_left = 0;
    d_loose.clear();
    d_next = d_ready;
    leave_heap();
}

} // namespace spead
} // namespace gr
