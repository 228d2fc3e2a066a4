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

// flags of packets, for the sender
constexpr std::uint16_t no_flags = 0;
constexpr std::uint16_t data_end = packet_info::heap_end | packet_info::data;

// Skips redundant writes: they would take the cache line from the sender's CPU.
template <typename number>
void set(number& variable, number value)
{
    if (variable != value)
        variable = value;
}

} // namespace

heap_writer::heap_writer(const packer_config& config,
                         ring_writer& ring,
                         sink_counter_set& counters)
    : d_config(config),
      d_ring(ring),
      d_counters(counters),
      d_heap_samples(config.heap_samples()),
      d_group(config.converter.group()),
      d_regular_is_buffered(config.is_buffered(config.regular, ring.slots())),
      d_first_is_buffered(config.first && config.is_buffered(*config.first, ring.slots()))
{
}

void heap_writer::begin(const heap_layout& layout, const heap_numbers& numbers)
{
    const auto& contents = layout.contents();
    d_layout = &layout;
    d_is_buffered =
        &layout == &d_config.regular ? d_regular_is_buffered : d_first_is_buffered;
    d_start = d_ring.next();
    d_offset = 0;
    d_words = layout.words(numbers.counter, numbers.timestamp);
    d_destination = numbers.destination;
    d_zeros = 0;
    d_prefix = contents.prefix.data();
    d_prefix_bytes = contents.prefix.size();
}

std::uint64_t heap_writer::write(const std::byte* samples, std::uint64_t n)
{
    std::uint64_t n_taken = 0;
    // the rest of a split group needs no further samples, and may complete the heap
    while (d_layout && (n_taken < n || d_prefix_bytes)) {
        if (d_prefix_bytes) {
            if (!put_prefix())
                break;
            continue;
        }
        if (!d_write_position && !open_packet())
            break;
        n_taken +=
            fill(samples ? samples + n_taken * d_config.converter.input_bytes() : nullptr,
                 n - n_taken);
    }
    return n_taken;
}

bool heap_writer::open_packet()
{
    const packet_template& header = d_layout->packet_at(d_offset);
    if (!d_ring.claim(header.packet_bytes()))
        return false;
    // a recycled slot still has its header, except for the words that complete_header()
    // writes
    if (!d_ring.has_header(header)) {
        const auto bytes = static_cast<std::uint32_t>(header.packet_bytes());
        d_ring.write_header(
            header, { bytes, d_layout->is_last(d_offset) ? data_end : no_flags, 0, 0 });
        d_ring.keep_header(header);
    }
    std::byte* const packet = d_ring.packet();
    d_write_position = packet + header.header_bytes();
    d_room = header.payload_bytes;
    set(d_ring.info().destination, d_destination);
    d_layout->complete_header(packet, d_words, d_offset);
    return true;
}

// Packs as many whole groups as fit into the open packet. If there is none, collects a
// group and converts it into d_split_group, to be split across packets.
std::size_t heap_writer::fill(const std::byte* samples, std::uint64_t n)
{
    auto n_packed = static_cast<std::size_t>(
        std::min<std::uint64_t>(d_group.whole(n), d_group.samples_of(d_room)));
    const bool collects = d_collected || !n_packed;
    if (collects)
        n_packed = static_cast<std::size_t>(
            std::min<std::uint64_t>(n, d_group.samples() - d_collected));
    // count before publishing: samples_sent must never exceed samples_in
    (samples ? d_counters.samples_in : d_counters.samples_zero_filled).add(n_packed);
    if (!samples)
        d_zeros += n_packed;
    if (collects) {
        collect(samples, n_packed);
    } else {
        convert(d_write_position, samples, n_packed);
        advance(d_group.bytes_of(n_packed));
    }
    return n_packed;
}

void heap_writer::collect(const std::byte* samples, std::size_t n)
{
    const auto sample_bytes = d_config.converter.input_bytes();
    auto* const end = d_collected_samples.data() + d_collected * sample_bytes;
    if (samples)
        std::memcpy(end, samples, n * sample_bytes);
    else
        std::memset(end, 0, n * sample_bytes);
    d_collected += n;
    if (d_collected < d_group.samples())
        return;
    convert(d_split_group.data(), d_collected_samples.data(), d_group.samples());
    d_prefix = d_split_group.data();
    d_prefix_bytes = d_group.bytes();
    d_collected = 0;
}

void heap_writer::convert(std::byte* output, const std::byte* input, std::size_t n)
{
    const auto bytes = d_group.bytes_of(n);
    if (!input)
        std::memset(output, 0, bytes);
    else if (d_config.converter.copies())
        std::memcpy(output, input, bytes); // same result as convert(), but cheaper
    else {
        const auto level = d_config.converter.convert(output, input, n);
        d_counters.samples_clipped.add(level.clipped);
        if (level.largest > d_largest)
            d_largest = level.largest;
    }
}

bool heap_writer::put_prefix()
{
    if (!d_write_position && !open_packet())
        return false;
    const std::size_t bytes = std::min(d_prefix_bytes, d_room);
    std::memcpy(d_write_position, d_prefix, bytes);
    d_prefix += bytes;
    d_prefix_bytes -= bytes;
    advance(bytes);
    return true;
}

void heap_writer::advance(std::size_t bytes)
{
    d_write_position += bytes;
    d_room -= bytes;
    d_offset += bytes;
    if (!d_room)
        close_packet();
}

void heap_writer::close_packet()
{
    d_write_position = nullptr;
    const bool is_heap_end = d_offset == d_layout->heap_bytes();
    if (is_heap_end)
        set(d_ring.info().heap_samples, d_heap_samples - d_zeros);
    d_ring.close();
    if (is_heap_end)
        d_layout = nullptr;
    if (is_heap_end || !d_is_buffered)
        d_ring.set_ready();
    d_ring.publish_batch();
}

// Incomplete heaps. They are rare, so clarity takes precedence over speed.

bool heap_writer::finish(tail_policy policy, std::vector<prebuilt_packet>& prebuilt)
{
    // a shorter heap consists of whole groups
    if (d_collected && policy == tail_policy::shorten)
        write(nullptr, d_group.samples() - d_collected);
    // completing a split group may complete the heap
    while (d_layout && d_prefix_bytes && samples_so_far())
        if (!put_prefix())
            return false;
    if (!d_layout)
        return true;

    const auto samples = samples_so_far();
    if (policy == tail_policy::drop || samples == 0)
        drop(prebuilt);
    else if (policy == tail_policy::pad || is_partly_published())
        write(nullptr, d_heap_samples - samples);
    else
        finish_short(prebuilt);
    return !d_layout;
}

// Replaces the open heap, none of which is published, by a heap of its samples so far.
void heap_writer::finish_short(std::vector<prebuilt_packet>& prebuilt)
{
    const auto payload = d_ring.reclaim_packets(d_start, d_write_position);
    const auto layout = d_layout->shortened(d_group.bytes_of(samples_so_far()));
    for (std::uint64_t offset = 0; offset < layout.heap_bytes();
         offset += layout.packet_at(offset).payload_bytes) {
        const bool is_last = layout.is_last(offset);
        auto packet = layout.packet(d_words, offset, payload);
        const packet_info info{ static_cast<std::uint32_t>(packet.size()),
                                is_last ? data_end : no_flags,
                                d_destination,
                                is_last ? samples_in() : 0 };
        prebuilt.push_back({ std::move(packet), info });
    }
    end();
}

void heap_writer::drop(std::vector<prebuilt_packet>& prebuilt)
{
    const bool has_samples = samples_so_far() != 0;
    if (is_partly_published()) {
        std::uint16_t flags = packet_info::heap_dropped;
        if (has_samples)
            flags |= packet_info::data;
        prebuilt.push_back({ {}, { 0, flags, d_destination, samples_in() } });
    } else {
        d_ring.rewind(d_start);
        d_counters.samples_dropped.add(samples_in());
        d_counters.heaps_dropped.add(has_samples);
    }
    end();
}

void heap_writer::end()
{
    d_layout = nullptr;
    d_write_position = nullptr;
    d_prefix_bytes = d_collected = 0;
}

std::uint64_t heap_writer::samples_so_far() const
{
    const auto end_offset = d_offset + d_prefix_bytes; // includes a split group
    return d_group.samples_of(end_offset - d_layout->contents().prefix.size()) +
           d_collected;
}

} // namespace gr::spead
