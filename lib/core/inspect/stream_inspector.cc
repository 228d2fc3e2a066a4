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
constexpr std::size_t max_first_heaps = 4096;

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
                 const std::vector<item_description>& descriptions)
{
    for (const auto& description : descriptions)
        if (description.id == item.id)
            return !description.is_array && description.format.is_integer()
                       ? std::optional(description.format)
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
    ++d_packets;
    ++stream.packets;
    stream.bytes += bytes;
    stream.heap_address_bits = packet.flavour.heap_address_bits;
    if (packet.has_descriptors || stream.described_heap.descriptors.were_found())
        read_descriptors(stream, packet, now);
    const auto tag = tag_of(packet);
    auto heap = std::find_if(stream.recent_heaps.begin(),
                             stream.recent_heaps.end(),
                             [&](const open_heap& recent_heap) {
                                 return recent_heap.counter == packet.heap_counter &&
                                        recent_heap.tag == tag &&
                                        now - recent_heap.latest < heap_timeout;
                             });
    if (heap == stream.recent_heaps.end()) {
        open_heap opened{ packet.heap_counter, tag, packet.heap_length };
        opened.has_samples = has_samples(packet);
        stream.descriptors += packet.has_descriptors;
        stream.ends += packet.is_end_of_stream;
        opened.is_first = opened.has_samples && !stream.newest;
        if (opened.has_samples) {
            if (stream.first_heaps.size() < max_first_heaps) {
                opened.number = stream.first_heaps.size();
                stream.first_heaps.push_back({ d_packets, packet.heap_counter });
            }
            stream.newest = packet.heap_counter;
            add_counter(stream, packet.heap_counter);
        }
        if (packet.is_end_of_stream) { // another stream may follow, with any counter
            stream.newest.reset();
            stream.counters.clear();
        }
        if (stream.recent_heaps.size() < max_recent) {
            heap =
                stream.recent_heaps.insert(stream.recent_heaps.end(), std::move(opened));
        } else {
            heap = stream.recent_heaps.begin() +
                   static_cast<std::ptrdiff_t>(stream.next_heap);
            stream.next_heap = (stream.next_heap + 1) % max_recent;
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
        add_items(stream, *heap, packet);
    }
}

void stream_inspector::read_descriptors(tracked_stream& stream,
                                        const packet_view& packet,
                                        time_point now)
{
    constexpr std::size_t max_packets = 1024;
    auto& heap = stream.described_heap;
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
            packet_view kept_packet;
            parse_packet(bytes.data(), bytes.size(), kept_packet);
            visit(kept_packet);
        }
    };
    if (heap.descriptors.find(packet))
        for_each_packet(
            [&](const packet_view& kept_packet) { heap.descriptors.add(kept_packet); });
    else
        heap.descriptors.add(packet);
    if (!heap.descriptors.have_arrived())
        return;
    for (auto& description :
         heap.descriptors.parse(heap.descriptors.content(for_each_packet))) {
        const auto item = description.id;
        if (merge(stream.descriptions, std::move(description)))
            stream.items.erase(item); // its values may have been misread
    }
    for (auto& recent_heap : stream.recent_heaps)
        if (recent_heap.counter == heap.counter && recent_heap.has_samples)
            for_each_packet([&](const packet_view& kept_packet) {
                add_items(stream, recent_heap, kept_packet);
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
    const auto none = std::numeric_limits<std::uint64_t>::max();
    auto lower_gap = none, higher_gap = none;
    for (const auto recent_counter : stream.counters) {
        if (recent_counter == counter)
            return;
        lower_gap = std::min(lower_gap, (counter - recent_counter) & mask);
        higher_gap = std::min(higher_gap, (recent_counter - counter) & mask);
    }
    const auto frequent = stream.counter_steps.most_frequent();
    const auto step = frequent ? frequent : first_step;
    const bool has_lower = lower_gap / step < max_lost_steps;
    const bool has_higher = higher_gap / step < max_recent;
    stream.reordered += has_higher;
    if (has_higher && (!has_lower || stream.counter_steps.remove(lower_gap + higher_gap)))
        stream.counter_steps.add(higher_gap);
    if (has_lower)
        stream.counter_steps.add(lower_gap);
    ++stream.counted;
    if (stream.counters.size() < max_recent)
        stream.counters.push_back(counter);
    else
        stream.counters[stream.counted % max_recent] = counter;
}

void stream_inspector::add_items(tracked_stream& stream,
                                 open_heap& heap,
                                 const packet_view& packet)
{
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto item = packet.item(i);
        if (item.id < wire::first_free)
            continue;
        const auto format = number_format_of(packet, item, stream.descriptions);
        if (!format) {
            add_value(stream, heap, item.id, size_of(packet, i), false);
            continue;
        }
        if (const auto number = number_of(packet, i, *format)) {
            add_value(stream, heap, item.id, format->signed_value(*number), true);
            continue;
        }
        // in the payload of another packet
        const auto is_same = [&](const awaited_number& other) {
            return other.id == item.id;
        };
        auto& awaited = heap.awaited_numbers;
        if (std::none_of(awaited.begin(), awaited.end(), is_same))
            awaited.push_back(
                { item.id, item.value, item.value + format->bytes(), *format });
    }
    auto& awaited = heap.awaited_numbers;
    for (auto entry = awaited.begin(); entry != awaited.end();) {
        const auto number = number_at(packet, entry->begin, entry->end, entry->format);
        if (number)
            add_value(stream, heap, entry->id, entry->format.signed_value(*number), true);
        entry = number ? awaited.erase(entry) : entry + 1;
    }
}

void stream_inspector::add_value(tracked_stream& stream,
                                 const open_heap& heap,
                                 std::uint64_t id,
                                 std::int64_t value,
                                 bool is_number)
{
    if (heap.number)
        stream.first_heaps[*heap.number].items[id] =
            is_number ? std::optional(value) : std::nullopt;
    auto& statistics = stream.items[id];
    statistics.is_number = is_number;
    if (value > statistics.last && !statistics.values.empty())
        statistics.steps.add(static_cast<std::uint64_t>(value - statistics.last));
    statistics.last = value;
    statistics.range.add(value);
    if (statistics.values.size() < max_values)
        statistics.values.insert(value);
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
    streams_by_key streams;
    for (const auto& [stream_key, tracked] : d_streams) {
        inspected_stream stream = tracked;
        // packets of the newest heap may still arrive
        for (const auto& heap : tracked.recent_heaps)
            if (heap.counter != tracked.newest || !heap.length ||
                heap.received >= *heap.length)
                close(stream, heap);
        std::uint64_t lost_heaps = 0, regular_gaps = 0;
        const auto step = tracked.counter_steps.most_frequent();
        for (const auto& [gap, count] : tracked.counter_steps.counts()) {
            regular_gaps += gap == step ? count : 0;
            if (step && gap % step == 0 && gap / step < max_lost_steps)
                lost_heaps += (gap / step - 1) * count;
        }
        const bool are_all_known = tracked.counter_steps.counts().size() < max_steps;
        if (are_all_known && 2 * regular_gaps + 1 >= tracked.counted) {
            stream.counter_step = step;
            stream.lost = lost_heaps;
        } else {
            stream.reordered = 0;
        }
        streams.emplace(stream_key, std::move(stream));
    }
    return streams;
}

} // namespace gr::spead
