/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// How a stream ends, and a heap that does not fill up. All of this happens seldom:
// clarity before speed.

#include "heap_packer.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

bool heap_packer::finish_tail()
{
    d_drop_left = 0; // the samples that would have been dropped never came
    d_descriptors.cut_short();
    const bool done = finish_heap() && emit_extra() && emit_descriptors();
    d_ring.publish();
    return done;
}

// False if the ring is full.
bool heap_packer::finish_heap()
{
    // a sample that is cut in two is completed, and with it perhaps the heap
    while (d_layout && d_prefix_bytes && samples_so_far())
        if (!put_prefix())
            return false;
    if (!d_layout)
        return true;

    if (!d_tail)
        d_tail = samples_so_far();

    if (d_plan.tail == tail_policy::drop || *d_tail == 0) {
        drop_heap();
        return true;
    }
    if (d_plan.tail == tail_policy::pad)
        return finish_whole(false);
    if (heap_is_partly_published())
        return finish_whole(true);
    finish_short();
    return true;
}

// Zeros up to the full length of the heap.
bool heap_packer::finish_whole(bool mark_end)
{
    const heap_layout& layout = *d_layout;
    const auto samples_end = layout.contents().prefix.size() + *d_tail * d_sample_bytes;
    const auto last_start = (layout.packets() - 1) * layout.payload_bytes();
    while (d_offset < last_start)
        if (!put(nullptr, static_cast<std::size_t>(last_start - d_offset)))
            return false;

    const auto& last = layout.last();
    auto payload = take_back(d_ring.next());
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
    end_heap();
    return true;
}

// A heap of just the samples that came, none of which has been published.
void heap_packer::finish_short()
{
    const auto payload = take_back(d_heap_start);
    const auto layout = d_layout->shortened(*d_tail * d_sample_bytes);
    for (std::uint64_t offset = 0; offset < layout.heap_bytes();) {
        const auto& header = layout.packet_at(offset);
        const auto begin = payload.begin() + static_cast<std::ptrdiff_t>(offset);
        const std::vector<std::byte> part(
            begin, begin + static_cast<std::ptrdiff_t>(header.payload_bytes));
        append(header, offset, part, &header == &layout.last());
        offset += header.payload_bytes;
    }
    end_heap();
}

void heap_packer::drop_heap()
{
    const bool has_samples = tail_samples() != 0;
    if (heap_is_partly_published()) {
        // the sender counts, since it may have sent a part of the heap already
        std::uint16_t flags = packet_info::heap_dropped;
        if (has_samples)
            flags |= packet_info::data;
        rewind(d_ring.next());
        d_extra.push_back(
            { { {}, 0 }, {}, { 0, flags, d_destination, tail_samples_in() } });
    } else {
        rewind(d_heap_start);
        count_as_dropped(tail_samples_in(), has_samples);
    }
    end_heap();
}

void heap_packer::count_as_dropped(std::uint64_t samples, bool is_heap)
{
    d_counters.samples_dropped.add(samples);
    d_counters.heaps_dropped.add(is_heap);
}

std::uint64_t heap_packer::samples_so_far() const
{
    const auto to_come = d_offset + d_prefix_bytes; // a sample that is cut counts
    return (to_come - d_layout->contents().prefix.size()) / d_sample_bytes;
}

// The current heap is left. One of which nothing was there but the intention gives its
// numbers back.
void heap_packer::end_heap()
{
    if (samples_so_far() == 0 && !heap_is_partly_published())
        step_numbers(-1);
    d_layout = nullptr;
    d_at = nullptr;
    d_prefix_bytes = 0;
    d_tail.reset();
}

void heap_packer::skip_to(std::uint64_t next_timestamp)
{
    d_drop_left = 0;
    if (d_layout)
        drop_heap();
    d_timestamp = next_timestamp & d_plan.regular.contents().flavour.address_mask();
}

void heap_packer::drop_tail()
{
    if (d_layout)
        drop_heap();
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
                            heap_end ? data_end : no_flags,
                            d_destination,
                            heap_end ? tail_samples_in() : 0 };
    d_extra.push_back({ std::move(header), payload, info });
}

// Empties the ring from there on and returns the payload that was in it.
std::vector<std::byte> heap_packer::take_back(ring_cursor from)
{
    auto payload = d_ring.take_back(from, d_at);
    d_at = nullptr;
    return payload;
}

void heap_packer::rewind(ring_cursor to)
{
    d_ring.rewind(to);
    d_at = nullptr;
}

void heap_packer::drop_unpublished()
{
    if (d_layout) {
        count_as_dropped(tail_samples_in(), tail_samples() != 0);
        end_heap();
    }
    for (const auto& packet : d_extra)
        count_as_dropped(packet.info.heap_samples, packet.info.flags & packet_info::data);
    d_extra.clear();
    d_descriptors.skip_all();
    d_drop_left = 0;
    d_ring.rewind(d_ring.ready());
}

} // namespace gr::spead
