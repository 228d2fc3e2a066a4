/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_packer.h"
#include "heap_slots.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace gr::spead {

namespace {

void store(std::byte* packet, std::size_t index, std::uint64_t word)
{
    std::memcpy(packet + index * sizeof word, &word, sizeof word);
}

// What stays the same is not written: the sender's processor has the cache line.
template <typename number>
void set(number& variable, number value)
{
    if (variable != value)
        variable = value;
}

} // namespace

heap_packer::heap_packer(stream_plan plan,
                         packet_ring& ring,
                         counter_set& counts,
                         std::function<void()> published,
                         std::function<clock::time_point()> now)
    : d_plan(std::move(plan)),
      d_counters(counts),
      d_now(std::move(now)),
      d_heap_samples(d_plan.heap_samples()),
      d_sample_bytes(d_plan.converter.output_bytes()),
      d_buffers_regular(is_buffered(d_plan, d_plan.regular, ring.slots())),
      d_buffers_first(d_plan.first && is_buffered(d_plan, *d_plan.first, ring.slots())),
      d_new_values(d_plan.regular.contents().immediates.size()),
      d_descriptors(d_plan),
      d_heap_id(d_plan.heap_id_start),
      d_timestamp(d_plan.timestamp_start),
      d_ring(ring, std::move(published))
{
}

void heap_packer::start_stream()
{
    d_undescribed = d_plan.first ? d_plan.destinations : 0;
    d_described.assign(d_undescribed, false);
    d_stopping = false;
    d_ends.clear();
    d_descriptors.start(d_descriptors.needs_clock() ? d_now() : clock::time_point());
}

void heap_packer::set_items(const std::vector<item_value>& values)
{
    for (const auto& one : values)
        if (!d_plan.regular.contents().immediates.at(one.item))
            throw std::invalid_argument("item " + std::to_string(one.item) +
                                        " of the heaps has no value of its own");
    d_new_values.set(values);
}

std::size_t heap_packer::write(const std::byte* samples, std::size_t n)
{
    return static_cast<std::size_t>(take(samples, n));
}

std::uint64_t heap_packer::write_zeros(std::uint64_t n) { return take(nullptr, n); }

void heap_packer::drop(std::uint64_t n)
{
    d_counters.samples_in.add(n);
    d_counters.samples_dropped.add(n);
}

std::uint64_t heap_packer::take(const std::byte* in, std::uint64_t n)
{
    if (d_descriptors.needs_clock())
        d_descriptors.look(d_now());
    std::uint64_t taken = 0;
    // the last sample may be cut in two, and complete the heap
    while (taken < n || d_prefix_bytes) {
        if (!d_layout && !d_drop_left && !begin_heap())
            break;
        if (d_drop_left) {
            taken += drop_rest(n - taken, in);
            continue;
        }
        if (d_prefix_bytes) {
            if (!put_prefix())
                break;
            continue;
        }
        if (!d_at && !open_packet())
            break;
        taken +=
            fill(in ? in + taken * d_plan.converter.input_bytes() : nullptr, n - taken);
    }
    d_ring.publish();
    return taken;
}

std::uint64_t heap_packer::drop_rest(std::uint64_t n, bool came_in)
{
    const auto left_out = std::min(n, d_drop_left);
    d_drop_left -= left_out;
    if (came_in)
        drop(left_out);
    return left_out;
}

// False if the ring is full of what comes before the heap. Or else the heap has begun, or
// has no room and is dropped.
bool heap_packer::begin_heap()
{
    const bool drops = d_plan.when_full == full_policy::drop;
    const bool is_next = (d_extra.empty() || emit_extra()) &&
                         (!d_descriptors.is_due() || emit_descriptors());
    if (!is_next && !drops)
        return false;

    set_new_values();
    const bool describes = d_undescribed && !d_described[d_turn];
    const auto& layout = describes ? *d_plan.first : d_plan.regular;
    const auto& contents = layout.contents();
    d_counter_item =
        wire::network_order(contents.flavour.immediate(wire::heap_counter, d_heap_id));
    if (contents.timestamp)
        d_timestamp_item =
            wire::network_order(contents.pointers[*contents.timestamp] | d_timestamp);
    d_heap_turn = d_turn;
    d_destination = static_cast<std::uint16_t>(d_plan.same_destinations.empty()
                                                   ? d_plan.first_destination + d_turn
                                                   : d_plan.same_destinations[d_turn]);
    step_numbers(1);

    if (drops && !(is_next && d_ring.slots_are_free(slots_per_heap(d_plan, layout)))) {
        d_drop_left = d_heap_samples;
        d_counters.heaps_dropped.add(1);
        return true;
    }
    d_layout = &layout;
    d_is_buffered = describes ? d_buffers_first : d_buffers_regular;
    d_offset = 0;
    d_zeros = 0;
    d_prefix = contents.prefix.data();
    d_prefix_bytes = contents.prefix.size();
    d_heap_start = d_ring.next();
    return true;
}

void heap_packer::set_new_values()
{
    const bool changed = d_new_values.take([this](std::size_t item, std::uint64_t value) {
        d_plan.regular.set_item(item, value);
        if (d_plan.first)
            d_plan.first->set_item(item, value);
    });
    if (changed)
        d_ring.invalidate_headers();
}

void heap_packer::step_numbers(int direction)
{
    const auto mask = d_plan.regular.contents().flavour.address_mask();
    const auto steps = static_cast<std::uint64_t>(direction); // wraps, as the numbers do
    d_heap_id = (d_heap_id + steps * d_plan.heap_id_step) & mask;
    d_timestamp = (d_timestamp + steps * d_plan.timestamp_step) & mask;
    const auto turns = static_cast<std::uint32_t>(direction);
    d_turn = (d_turn + d_plan.destinations + turns) % d_plan.destinations;
}

bool heap_packer::open_packet()
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
    store(packet, heap_layout::counter_word, d_counter_item);
    store(packet, heap_layout::offset_word, offset_item);
    if (timestamp)
        store(packet, heap_layout::items_word + *timestamp, timestamp_item);
    return true;
}

// Into the open packet as many samples as it has room for. Where that is a part of one,
// that one is cut.
std::size_t heap_packer::fill(const std::byte* in, std::uint64_t samples)
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

void heap_packer::convert(std::byte* out, const std::byte* in, std::size_t samples)
{
    const auto bytes = samples * d_sample_bytes;
    if (!in)
        std::memset(out, 0, bytes);
    else if (d_plan.converter.copies())
        std::memcpy(out, in, bytes); // the same, without the way there
    else if (const auto clipped = d_plan.converter.convert(out, in, samples))
        d_counters.samples_clipped.add(clipped);
}

bool heap_packer::put_prefix()
{
    const auto now = put(d_prefix, d_prefix_bytes);
    d_prefix += now;
    d_prefix_bytes -= now;
    return now != 0;
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
    advance(now);
    return now;
}

void heap_packer::advance(std::size_t bytes)
{
    d_at += bytes;
    d_room -= bytes;
    d_offset += bytes;
    if (!d_room)
        close_packet();
}

// A receiver of this destination knows the items now.
void heap_packer::mark_described()
{
    d_described[d_heap_turn] = true;
    --d_undescribed;
}

void heap_packer::close_packet()
{
    d_at = nullptr;
    const bool heap_end = d_offset == d_layout->heap_bytes();
    if (heap_end)
        set(d_ring.info().heap_samples, d_heap_samples - d_zeros);
    d_ring.close();
    if (heap_end) {
        if (d_layout != &d_plan.regular)
            mark_described();
        d_layout = nullptr;
        d_ring.set_ready();
    } else if (!d_is_buffered) {
        d_ring.set_ready();
    }
    d_ring.publish_batch();
}

} // namespace gr::spead
