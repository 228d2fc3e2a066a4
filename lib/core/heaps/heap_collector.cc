/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_collector.h"

#include <algorithm>
#include <cstring>

namespace gr::spead {

namespace {

// Memory of an item pointer: in a vector and in a set
constexpr std::size_t pointer_cost = 64;

position_range range_of(const packet_view& packet)
{
    return { static_cast<std::int64_t>(packet.payload_offset),
             static_cast<std::int64_t>(packet.payload_end()) };
}

} // namespace

heap_collector::result heap_collector::add(const std::byte* datagram,
                                           std::size_t bytes,
                                           const heap_origin& origin,
                                           std::chrono::nanoseconds now)
{
    packet_view packet;
    auto error = parse_packet(datagram, bytes, packet);
    if (error == packet_error::none && !packet.heap_length)
        error = packet_error::missing_item; // nothing tells whether it is complete
    else if (error == packet_error::none && *packet.heap_length > max_heap_bytes)
        error = packet_error::heap_size;
    const auto rejected = [&](packet_error reason) {
        reject(reason);
        return result{ reason };
    };
    if (error != packet_error::none)
        return rejected(error);
    auto& sender = sender_of(origin, now);
    make_room(packet.items * pointer_cost);
    auto heap =
        std::find_if(sender.heaps.begin(), sender.heaps.end(), [&](const auto& open) {
            return open.heap.counter == packet.heap_counter;
        });
    if (heap != sender.heaps.end() &&
        (heap->heap.payload_bytes != packet.heap_length ||
         heap->heap.flavour.heap_address_bits != packet.flavour.heap_address_bits)) {
        if (now - heap->latest < d_limits.memory)
            return rejected(packet_error::contradiction);
        give_up(sender, heap); // the sender has restarted
        heap = sender.heaps.end();
    }
    d_counters.packets_received.add(1);
    d_counters.bytes_received.add(bytes);
    if (heap == sender.heaps.end() && is_finished(sender, packet, now)) {
        d_counters.packets_duplicate.add(1);
        return { packet_error::none };
    }
    const bool is_repeated = heap != sender.heaps.end() && packet.payload_bytes > 0 &&
                             !heap->missing.overlaps(range_of(packet));
    if (is_repeated) {
        const auto* known = heap->heap.payload.get() + packet.payload_offset;
        if (std::memcmp(known, packet.payload, packet.payload_bytes) == 0) {
            d_counters.packets_duplicate.add(1);
            return { packet_error::none };
        }
        give_up(sender, heap); // the sender has restarted
        heap = sender.heaps.end();
    }
    if (heap == sender.heaps.end()) {
        if (packet.payload_bytes == packet.heap_length)
            return finish(sender, origin, whole_heap(packet), now);
        heap = begin_heap(sender, packet);
    }
    heap->latest = now;
    if (!add_pointers(sender, *heap, packet)) {
        give_up(sender, heap);
        return rejected(packet_error::items);
    }
    place_payload(*heap, packet);
    if (heap->missing.is_full())
        give_up(sender, heap);
    else if (heap->missing.empty()) {
        auto complete = completed(*heap);
        remove(sender, heap);
        return finish(sender, origin, std::move(complete), now);
    }
    return { packet_error::none };
}

heap_collector::sender_state& heap_collector::sender_of(const heap_origin& origin,
                                                        std::chrono::nanoseconds now)
{
    const std::pair key{ origin.sender, origin.endpoint };
    auto found = d_senders.find(key);
    if (found == d_senders.end()) {
        if (d_senders.size() >= d_limits.senders) {
            const auto oldest = std::min_element(
                d_senders.begin(), d_senders.end(), [](const auto& a, const auto& b) {
                    return a.second.latest < b.second.latest;
                });
            while (!oldest->second.heaps.empty())
                give_up(oldest->second, oldest->second.heaps.begin());
            d_senders.erase(oldest);
        }
        found = d_senders.emplace(key, sender_state{}).first;
    }
    found->second.latest = now;
    return found->second;
}

bool heap_collector::is_finished(const sender_state& sender,
                                 const packet_view& packet,
                                 std::chrono::nanoseconds now) const
{
    return std::any_of(
        sender.finished.begin(), sender.finished.end(), [&](const auto& finished) {
            return finished.counter == packet.heap_counter &&
                   finished.bytes == packet.heap_length &&
                   now - finished.time < d_limits.memory;
        });
}

heap_collector::heap_iterator heap_collector::begin_heap(sender_state& sender,
                                                         const packet_view& packet)
{
    if (sender.heaps.size() >= d_limits.heaps)
        give_up(sender, sender.heaps.begin());
    const auto bytes = static_cast<std::size_t>(*packet.heap_length);
    make_room(bytes + packet.items * pointer_cost);
    open_heap opened{ {}, bytes, missing_ranges(d_limits.missing_ranges), {}, {}, {} };
    opened.heap.counter = packet.heap_counter;
    opened.heap.flavour = packet.flavour;
    opened.heap.payload_bytes = bytes;
    // Not initialised: all of it is overwritten before it is read. Until then, the length
    // that a packet claims costs no memory.
    opened.heap.payload.reset(new std::byte[bytes]);
    opened.missing.restart({ 0, static_cast<std::int64_t>(bytes) });
    d_bytes += bytes;
    sender.bytes += bytes;
    return sender.heaps.insert(sender.heaps.end(), std::move(opened));
}

// Gives up the oldest heaps of the senders that use most.
void heap_collector::make_room(std::size_t bytes)
{
    while (d_bytes + bytes > d_limits.bytes && d_bytes > 0) {
        auto& largest = std::max_element(d_senders.begin(),
                                         d_senders.end(),
                                         [](const auto& a, const auto& b) {
                                             return a.second.bytes < b.second.bytes;
                                         })
                            ->second;
        give_up(largest, largest.heaps.begin());
    }
}

bool heap_collector::add_pointers(sender_state& sender,
                                  open_heap& heap,
                                  const packet_view& packet)
{
    for (std::size_t i = 0; i < packet.items; ++i) {
        const auto pointer = packet.word(i);
        const auto item = packet.item(i);
        // these differ from packet to packet
        if (item.is_immediate && item.id <= wire::payload_length)
            continue;
        if (!heap.known_pointers.insert(pointer).second)
            continue;
        if (heap.pointers.size() == d_limits.pointers)
            return false;
        heap.pointers.emplace_back(packet.payload_offset, pointer);
        for (auto* bytes : { &d_bytes, &sender.bytes, &heap.bytes })
            *bytes += pointer_cost;
    }
    heap.heap.is_end_of_stream |= packet.is_end_of_stream;
    return true;
}

// The order of item pointers tells which of two items at the same address is empty. That
// of packets is the order of their payload, however they arrive.
received_heap heap_collector::completed(open_heap& heap)
{
    std::stable_sort(heap.pointers.begin(),
                     heap.pointers.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::uint64_t> pointers;
    pointers.reserve(heap.pointers.size());
    for (const auto& [offset, pointer] : heap.pointers)
        pointers.push_back(pointer);
    auto complete = std::move(heap.heap);
    set_items(complete, std::move(pointers));
    return complete;
}

void heap_collector::place_payload(open_heap& heap, const packet_view& packet)
{
    heap.missing.remove(range_of(packet), [&](const position_range& range) {
        std::copy_n(packet.payload +
                        (range.begin - static_cast<std::int64_t>(packet.payload_offset)),
                    range.size(),
                    heap.heap.payload.get() + range.begin);
    });
}

heap_collector::result heap_collector::finish(sender_state& sender,
                                              const heap_origin& origin,
                                              received_heap heap,
                                              std::chrono::nanoseconds now)
{
    if (heap.is_end_of_stream)
        sender.finished.clear(); // heap counters may start over
    if (sender.finished.size() == d_limits.remembered_heaps)
        sender.finished.pop_front();
    sender.finished.push_back({ heap.counter, heap.payload_bytes, now });
    if (heap.is_end_of_stream) {
        d_counters.streams_ended.add(1);
        return { packet_error::none };
    }
    d_counters.heaps_received.add(1);
    heap.sender = origin.sender;
    return { packet_error::none, std::move(heap) };
}

// Returns the heap after it.
heap_collector::heap_iterator heap_collector::remove(sender_state& sender,
                                                     heap_iterator heap)
{
    d_bytes -= heap->bytes;
    sender.bytes -= heap->bytes;
    return sender.heaps.erase(heap);
}

heap_collector::heap_iterator heap_collector::give_up(sender_state& sender,
                                                      heap_iterator heap)
{
    d_counters.heaps_incomplete.add(1);
    return remove(sender, heap);
}

void heap_collector::expire(std::chrono::nanoseconds now)
{
    for (auto& [key, sender] : d_senders)
        for (auto heap = sender.heaps.begin(); heap != sender.heaps.end();)
            heap = now - heap->latest >= d_limits.silence ? give_up(sender, heap)
                                                          : std::next(heap);
}

void heap_collector::clear()
{
    for (auto& [key, sender] : d_senders)
        while (!sender.heaps.empty())
            give_up(sender, sender.heaps.begin());
}

heap_counters<std::uint64_t> heap_collector::counts() const
{
    heap_counters<std::uint64_t> counts;
    add_counters<heap_counters>(counts, d_counters);
    return counts;
}

} // namespace gr::spead
