/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gr::spead {

namespace {

// of packets, as the sender sees them
constexpr std::uint16_t no_flags = 0;
constexpr std::uint16_t data_end = packet_info::heap_end | packet_info::data;

// What stays the same is not written: the sender's processor has the cache line.
template <typename number>
void set(number& variable, number value)
{
    if (variable != value)
        variable = value;
}

} // namespace

heap_writer::heap_writer(const stream_plan& plan,
                         ring_writer& ring,
                         sink_counter_set& counts)
    : d_plan(plan),
      d_ring(ring),
      d_counters(counts),
      d_heap_samples(plan.heap_samples()),
      d_sample_bytes(plan.converter.output_bytes()),
      d_buffers_regular(plan.is_buffered(plan.regular, ring.slots())),
      d_buffers_first(plan.first && plan.is_buffered(*plan.first, ring.slots()))
{
}

void heap_writer::begin(const heap_layout& layout, const heap_numbers& numbers)
{
    const auto& contents = layout.contents();
    d_layout = &layout;
    d_is_buffered = &layout == &d_plan.regular ? d_buffers_regular : d_buffers_first;
    d_start = d_ring.next();
    d_offset = 0;
    d_counter_item =
        wire::network_order(contents.flavour.immediate(wire::heap_counter, numbers.id));
    if (contents.timestamp)
        d_timestamp_item = wire::network_order(contents.pointers[*contents.timestamp] |
                                               numbers.timestamp);
    d_destination = numbers.destination;
    d_zeros = 0;
    d_prefix = contents.prefix.data();
    d_prefix_bytes = contents.prefix.size();
}

std::uint64_t heap_writer::write(const std::byte* samples, std::uint64_t n)
{
    std::uint64_t taken = 0;
    // the last sample may be cut in two, and complete the heap
    while (d_layout && (taken < n || d_prefix_bytes)) {
        if (d_prefix_bytes) {
            if (!put_prefix())
                break;
            continue;
        }
        if (!d_at && !open_packet())
            break;
        taken +=
            fill(samples ? samples + taken * d_plan.converter.input_bytes() : nullptr,
                 n - taken);
    }
    return taken;
}

bool heap_writer::open_packet()
{
    const packet_template& header = d_layout->packet_at(d_offset);
    if (!d_ring.claim(header.packet_bytes()))
        return false;
    // a recycled slot has its header already, but for the words that run
    if (!d_ring.has_header(header)) {
        const bool last = &header == &d_layout->last();
        const auto bytes = static_cast<std::uint32_t>(header.packet_bytes());
        d_ring.write_header(header, { bytes, last ? data_end : no_flags, 0, 0 });
        d_ring.keep_header(header);
    }
    // all is looked up before anything is written: bytes may alias whatever there is
    const auto& contents = d_layout->contents();
    const auto offset_item =
        wire::network_order(contents.flavour.immediate(wire::payload_offset, d_offset));
    const auto timestamp = contents.timestamp;
    const auto timestamp_item = d_timestamp_item;
    std::byte* const packet = d_ring.packet();
    d_at = packet + header.header_bytes();
    d_room = header.payload_bytes;
    set(d_ring.info().destination, d_destination);
    store_word(packet, heap_layout::counter_word, d_counter_item);
    store_word(packet, heap_layout::offset_word, offset_item);
    if (timestamp)
        store_word(packet, heap_layout::items_word + *timestamp, timestamp_item);
    return true;
}

// Into the open packet as many samples as it has room for. Where that is a part of one,
// that one is cut.
std::size_t heap_writer::fill(const std::byte* in, std::uint64_t samples)
{
    const bool cuts = d_room < d_sample_bytes;
    const auto most = cuts ? 1 : d_room / d_sample_bytes;
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(samples, most));
    // counted first: what is sent must never be more than what came in
    (in ? d_counters.samples_in : d_counters.samples_zero_filled).add(now);
    if (!in)
        d_zeros += now;
    if (cuts) {
        convert(d_cut_sample.data(), in, now);
        d_prefix = d_cut_sample.data();
        d_prefix_bytes = d_sample_bytes;
    } else {
        convert(d_at, in, now);
        advance(now * d_sample_bytes);
    }
    return now;
}

void heap_writer::convert(std::byte* out, const std::byte* in, std::size_t samples)
{
    const auto bytes = samples * d_sample_bytes;
    if (!in)
        std::memset(out, 0, bytes);
    else if (d_plan.converter.copies())
        std::memcpy(out, in, bytes); // the same, without the way there
    else {
        const auto level = d_plan.converter.convert(out, in, samples);
        d_counters.samples_clipped.add(level.clipped);
        if (level.largest > d_largest)
            d_largest = level.largest;
    }
}

bool heap_writer::put_prefix()
{
    const auto now = put(d_prefix, d_prefix_bytes);
    d_prefix += now;
    d_prefix_bytes -= now;
    return now != 0;
}

std::size_t heap_writer::put(const std::byte* bytes, std::size_t n)
{
    if (!d_at && !open_packet())
        return 0;
    const std::size_t now = std::min(n, d_room);
    if (bytes)
        std::memcpy(d_at, bytes, now);
    else
        std::memset(d_at, 0, now);
    advance(now);
    return now;
}

void heap_writer::advance(std::size_t bytes)
{
    d_at += bytes;
    d_room -= bytes;
    d_offset += bytes;
    if (!d_room)
        close_packet();
}

void heap_writer::close_packet()
{
    d_at = nullptr;
    const bool heap_end = d_offset == d_layout->heap_bytes();
    if (heap_end)
        set(d_ring.info().heap_samples, d_heap_samples - d_zeros);
    d_ring.close();
    if (heap_end)
        d_layout = nullptr;
    if (heap_end || !d_is_buffered)
        d_ring.set_ready();
    d_ring.publish_batch();
}

// From here on: heaps that do not fill up. That is rare, so clarity comes before speed.

bool heap_writer::finish(tail_policy policy, std::vector<extra_packet>& extra)
{
    // a sample that is cut in two is completed, and with it perhaps the heap
    while (d_layout && d_prefix_bytes && samples_so_far())
        if (!put_prefix())
            return false;
    if (!d_layout)
        return true;

    if (!d_tail)
        d_tail = samples_so_far();
    if (policy == tail_policy::drop || *d_tail == 0)
        drop(extra);
    else if (policy == tail_policy::pad)
        return finish_whole(false, extra);
    else if (is_partly_published())
        return finish_whole(true, extra);
    else
        finish_short(extra);
    return true;
}

// Zeros up to the full length of the heap.
bool heap_writer::finish_whole(bool mark_end, std::vector<extra_packet>& extra)
{
    const heap_layout& layout = *d_layout;
    const auto samples_end = layout.contents().prefix.size() + *d_tail * d_sample_bytes;
    const auto last_start = (layout.packets() - 1) * layout.payload_bytes();
    while (d_offset < last_start)
        if (!put(nullptr, static_cast<std::size_t>(last_start - d_offset)))
            return false;

    const auto& last = layout.last();
    auto payload = d_ring.take_back(d_ring.next(), d_at);
    payload.resize(last.payload_bytes);
    const auto base_words = layout.make_packet(0).words.size();
    const auto nulls = last.words.size() - base_words;
    const auto add = [&](packet_template header,
                         std::uint64_t offset,
                         std::vector<std::byte> part,
                         bool heap_end) {
        extra.push_back(
            make_packet(std::move(header), offset, std::move(part), heap_end));
    };
    if (!mark_end) {
        add(last, last_start, std::move(payload), true);
    } else if (nulls || last.packet_bytes() + wire::pointer_bytes <=
                            layout.full().packet_bytes()) {
        add(layout.make_packet(
                last.payload_bytes, std::max<std::size_t>(nulls, 1) - 1, samples_end),
            last_start,
            std::move(payload),
            true);
    } else {
        // no room for one more item: the last packet becomes two
        const std::size_t first_part = wire::pointer_bytes;
        std::vector<std::byte> rest(payload.begin() + first_part, payload.end());
        const auto rest_bytes = rest.size();
        payload.resize(first_part);
        add(layout.make_packet(first_part), last_start, std::move(payload), false);
        add(layout.make_packet(rest_bytes, 0, samples_end),
            last_start + first_part,
            std::move(rest),
            true);
    }
    end();
    return true;
}

// A heap of just the samples that came, none of which has been published.
void heap_writer::finish_short(std::vector<extra_packet>& extra)
{
    const auto payload = d_ring.take_back(d_start, d_at);
    const auto layout = d_layout->shortened(*d_tail * d_sample_bytes);
    for (std::uint64_t offset = 0; offset < layout.heap_bytes();) {
        const auto& header = layout.packet_at(offset);
        const auto begin = payload.begin() + static_cast<std::ptrdiff_t>(offset);
        const auto bytes = header.payload_bytes;
        extra.push_back(make_packet(header,
                                    offset,
                                    { begin, begin + static_cast<std::ptrdiff_t>(bytes) },
                                    &header == &layout.last()));
        offset += bytes;
    }
    end();
}

void heap_writer::drop(std::vector<extra_packet>& extra)
{
    const bool has_samples = tail_samples() != 0;
    if (is_partly_published()) {
        std::uint16_t flags = packet_info::heap_dropped;
        if (has_samples)
            flags |= packet_info::data;
        extra.push_back(
            { { {}, 0 }, {}, { 0, flags, d_destination, tail_samples_in() } });
    } else {
        d_ring.rewind(d_start);
        d_counters.samples_dropped.add(tail_samples_in());
        d_counters.heaps_dropped.add(has_samples);
    }
    end();
}

extra_packet heap_writer::make_packet(packet_template header,
                                      std::uint64_t offset,
                                      std::vector<std::byte> payload,
                                      bool heap_end) const
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
    return { std::move(header), std::move(payload), info };
}

void heap_writer::end()
{
    d_layout = nullptr;
    d_at = nullptr;
    d_prefix_bytes = 0;
    d_tail.reset();
}

std::uint64_t heap_writer::samples_so_far() const
{
    const auto to_come = d_offset + d_prefix_bytes; // a sample that is cut counts
    return (to_come - d_layout->contents().prefix.size()) / d_sample_bytes;
}

} // namespace gr::spead
