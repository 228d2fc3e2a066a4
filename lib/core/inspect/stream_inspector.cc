/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "protocol/item_number.h"
#include "protocol/wire.h"
#include "receive/stream_format.h"
#include "stream_inspector.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

namespace {

constexpr std::size_t max_recent = 256;
constexpr std::size_t max_steps = 256;
constexpr std::uint64_t first_step = 64; // between heap counters, until it is known
constexpr std::uint64_t max_lost_steps = 1 << 24; // beyond, the sender has restarted
constexpr std::size_t max_values = 257;
constexpr std::size_t max_streams = 1024;

// A sum that distinguishes single-packet heaps: they may share a heap counter.
std::uint64_t tag_of(const packet_view& packet)
{
    std::uint64_t sum = 0;
    if (packet.is_single)
        for (std::size_t i = 0; i < packet.items; ++i)
            if (packet.item(i).is_immediate)
                sum = sum * 31 + packet.word(i);
    return sum;
}

bool has_samples(const packet_view& packet)
{
    bool has_others = !packet.has_descriptors;
    for (std::size_t i = 0; i < packet.items && !has_others; ++i)
        has_others = packet.item(i).id >= wire::first_free;
    return has_others && !packet.is_end_of_stream;
}

// The format of an item that is a single integer.
std::optional<number_format>
number_format_of(const packet_view& packet,
                 const item_pointer& item,
                 const std::vector<item_description>& described)
{
    for (const auto& each : described)
        if (each.id == item.id)
            return !each.is_array && each.format.is_integer() ? std::optional(each.format)
                                                              : std::nullopt;
    // firmware that sends heaps of one packet ignores the mode of the samples
    const bool is_samples = packet.is_single && item.id == stream_format().samples_id;
    return item.is_immediate && !is_samples ? std::optional(number_format())
                                            : std::nullopt;
}

// The size of an item in bytes.
std::int64_t size_of(const packet_view& packet, std::size_t index)
{
    if (packet.item(index).is_immediate && !packet.is_single)
        return packet.flavour.heap_address_bits / 8;
    const auto end = packet.end_of(index);
    const bool is_known = end != std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::int64_t>(
        is_known ? end - std::min(end, packet.item(index).value) : packet.payload_bytes);
}

} // namespace

void histogram::add(std::uint64_t number)
{
    if (d_counts.size() < max_steps || d_counts.count(number))
        ++d_counts[number];
}

bool histogram::remove(std::uint64_t number)
{
    const auto found = d_counts.find(number);
    if (found == d_counts.end() || found->second == 0)
        return false;
    --found->second;
    return true;
}

std::uint64_t histogram::most_frequent() const
{
    const auto found = std::max_element(
        d_counts.begin(), d_counts.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        });
    return found == d_counts.end() ? 0 : found->first;
}

void stream_inspector::add(const packet_view& packet,
                           std::size_t bytes,
                           const std::string& sender,
                           std::size_t endpoint,
                           time_point now)
{
    if (d_streams.size() == max_streams && !d_streams.count({ endpoint, sender })) {
        ++d_packets_of_others;
        return;
    }
    auto& stream = d_streams[{ endpoint, sender }];
    ++stream.packets;
    stream.bytes += bytes;
    stream.heap_address_bits = packet.flavour.heap_address_bits;
    if (packet.has_descriptors || stream.described.descriptors.were_found())
        read_descriptors(stream, packet, now);
    const auto tag = tag_of(packet);
    auto heap = std::find_if(
        stream.recent.begin(), stream.recent.end(), [&](const open_heap& each) {
            return each.counter == packet.heap_counter && each.tag == tag &&
                   now - each.latest < heap_timeout;
        });
    if (heap == stream.recent.end()) {
        open_heap opened{ packet.heap_counter, tag, packet.heap_length };
        opened.has_samples = has_samples(packet);
        stream.descriptors += packet.has_descriptors;
        stream.ends += packet.is_end_of_stream;
        opened.is_first = opened.has_samples && !stream.newest;
        if (opened.has_samples) {
            stream.newest = packet.heap_counter;
            add_counter(stream, packet.heap_counter);
        }
        if (packet.is_end_of_stream) { // another stream may follow, with any counter
            stream.newest.reset();
            stream.counters.clear();
        }
        if (stream.recent.size() < max_recent) {
            heap = stream.recent.insert(stream.recent.end(), std::move(opened));
        } else {
            heap = stream.recent.begin() + static_cast<std::ptrdiff_t>(stream.next);
            stream.next = (stream.next + 1) % max_recent;
            close(stream, *heap);
            *heap = std::move(opened);
        }
    }
    heap->latest = now;
    if (!heap->offsets.insert(packet.payload_offset).second) {
        stream.duplicates += !packet.is_end_of_stream;
        return;
    }
    heap->received += packet.payload_bytes;
    if (heap->has_samples) {
        stream.is_single = packet.is_single;
        stream.packet_bytes.add(bytes);
        add_items(stream, packet);
    }
}

void stream_inspector::read_descriptors(tracked_stream& stream,
                                        const packet_view& packet,
                                        time_point now)
{
    constexpr std::size_t max_packets = 1024;
    auto& heap = stream.described;
    if (heap.counter != packet.heap_counter || now - heap.begin >= heap_timeout ||
        heap.packets.size() == max_packets || heap.descriptors.are_unusable()) {
        if (!packet.has_descriptors)
            return;
        heap = { packet.heap_counter, now, {}, {} };
    }
    heap.packets.emplace_back(packet.pointers - wire::header_bytes,
                              packet.payload + packet.payload_bytes);
    const auto for_each_packet = [&](const auto& visit) {
        for (const auto& bytes : heap.packets) {
            packet_view kept;
            parse_packet(bytes.data(), bytes.size(), kept);
            visit(kept);
        }
    };
    if (heap.descriptors.find(packet))
        for_each_packet([&](const packet_view& kept) { heap.descriptors.add(kept); });
    else
        heap.descriptors.add(packet);
    if (!heap.descriptors.have_arrived())
        return;
    for (auto& description : heap.descriptors.read(for_each_packet)) {
        const auto item = description.id;
        if (merge(stream.descriptions, std::move(description)))
            stream.items.erase(item); // its values may have been misread
    }
    for_each_packet([&](const packet_view& kept) {
        if (has_samples(kept))
            add_items(stream, kept);
    });
    heap.descriptors.clear();
    heap.packets.clear();
}

// Keeps the gaps between heap counters in ascending order: also if heaps are reordered
// or several sequences are interleaved, most are one step. Heaps of descriptors alone,
// which may count down, are ignored.
void stream_inspector::add_counter(tracked_stream& stream, std::uint64_t counter)
{
    const auto mask = wire::flavour{ stream.heap_address_bits }.address_mask();
    auto to_lower = mask, to_higher = mask;
    for (const auto recent : stream.counters) {
        if (recent == counter)
            return;
        to_lower = std::min(to_lower, (counter - recent) & mask);
        to_higher = std::min(to_higher, (recent - counter) & mask);
    }
    const auto frequent = stream.counter_steps.most_frequent();
    const auto step = frequent ? frequent : first_step;
    const bool has_lower = to_lower / step < max_lost_steps;
    const bool has_higher = to_higher / step < max_recent;
    stream.reordered += has_higher;
    if (has_higher && (!has_lower || stream.counter_steps.remove(to_lower + to_higher)))
        stream.counter_steps.add(to_higher);
    if (has_lower)
        stream.counter_steps.add(to_lower);
    ++stream.counted;
    if (stream.counters.size() < max_recent)
        stream.counters.push_back(counter);
    else
        stream.counters[stream.counted % max_recent] = counter;
}

void stream_inspector::add_items(tracked_stream& stream, const packet_view& packet)
{
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.id < wire::first_free)
            continue;
        const auto format = number_format_of(packet, item, stream.descriptions);
        const auto number = format ? number_of(packet, i, *format) : std::nullopt;
        if (format && !number)
            continue; // in the payload of another packet
        const auto value = format ? format->signed_value(*number) : size_of(packet, i);
        auto& seen = stream.items[item.id];
        seen.is_number = format.has_value();
        if (value > seen.last && !seen.values.empty())
            seen.steps.add(static_cast<std::uint64_t>(value - seen.last));
        seen.last = value;
        seen.range.add(value);
        if (seen.values.size() < max_values)
            seen.values.insert(value);
    }
}

void stream_inspector::close(inspected_stream& stream, const open_heap& heap)
{
    const bool is_incomplete = heap.length && heap.received < *heap.length;
    if (!heap.has_samples || (heap.is_first && is_incomplete))
        return;
    ++stream.heaps;
    stream.heap_bytes.add(heap.length.value_or(heap.received));
    stream.incomplete += is_incomplete;
}

stream_inspector::streams_by_key stream_inspector::streams() const
{
    streams_by_key all;
    for (const auto& [from, tracked] : d_streams) {
        inspected_stream stream = tracked;
        // packets of the newest heap may still arrive
        for (const auto& heap : tracked.recent)
            if (heap.counter != tracked.newest || !heap.length ||
                heap.received >= *heap.length)
                close(stream, heap);
        std::uint64_t lost = 0, in_steps = 0;
        const auto step = tracked.counter_steps.most_frequent();
        for (const auto& [apart, count] : tracked.counter_steps.counts()) {
            in_steps += apart == step ? count : 0;
            if (step && apart % step == 0 && apart / step < max_lost_steps)
                lost += (apart / step - 1) * count;
        }
        if (2 * in_steps + 1 >= tracked.counted) {
            stream.counter_step = step;
            stream.lost = lost;
        } else {
            stream.reordered = 0;
        }
        all.emplace(from, std::move(stream));
    }
    return all;
}

} // namespace gr::spead
