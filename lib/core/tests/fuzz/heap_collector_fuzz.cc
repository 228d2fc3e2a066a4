/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Collects the packets of heaps. The input chooses their fields, which may contradict
// each other.

#include "fuzz_input.h"
#include "heaps/heap_collector.h"
#include "helpers/spead_packets.h"

#include <numeric>

using namespace gr::spead;

namespace {

void check_heap(const received_heap& heap)
{
    // a sanitizer detects bytes that never arrived
    const auto* begin = heap.payload.get();
    const auto sum = std::accumulate(
        begin, begin + heap.payload_bytes, 0U, [](unsigned total, std::byte byte) {
            return total + std::to_integer<unsigned>(byte);
        });
    check(sum == heap.payload_bytes, "every byte is one that was sent");
    for (const auto& item : heap.items)
        check(item.is_immediate || (item.value <= heap.payload_bytes &&
                                    item.bytes <= heap.payload_bytes - item.value),
              "items are within the heap");
    for (const auto& item : heap.items)
        if (!item.is_immediate)
            read_single_packet(begin + item.value, item.bytes);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    heap_collector::limits limits;
    limits.senders = 3;
    limits.heaps = 3;
    limits.bytes = 1 << 16;
    limits.pointers = 40;
    limits.missing_ranges = 8;
    heap_collector collector(limits);
    std::chrono::nanoseconds now{};
    while (!input.empty()) {
        const wire::flavour flavour{ input.one_of({ 40u, 40u, 40u, 48u }) };
        const auto length = input.one_of<std::uint64_t>({ 0, 1, 40, 64, 3000, 1 << 20 });
        const auto n = input.up_to(64);
        std::vector<std::uint64_t> pointers{
            flavour.immediate(wire::heap_counter, input.up_to(3)),
            flavour.immediate(wire::heap_length, length),
            flavour.immediate(wire::payload_offset, input.up_to(70)),
            flavour.immediate(wire::payload_length, n)
        };
        for (auto i = input.up_to(5); i > 0; --i)
            pointers.push_back(input.number(8));
        if (input.once_in(8))
            pointers.push_back(
                flavour.immediate(wire::stream_control, wire::stream_control_stop));
        const auto packet = packet_of(pointers, packet_bytes(n, std::byte{ 1 }), flavour);
        now += std::chrono::milliseconds(input.one_of({ 0, 0, 0, 100, 2000 }));
        const auto result = collector.add(
            packet.data(), packet.size(), { input.up_to(4), input.up_to(1) }, now);
        if (result.heap)
            check_heap(*result.heap);
        check(collector.bytes() <= limits.bytes + (1 << 20), "the memory is bounded");
        if (input.once_in(8))
            collector.expire(now);
    }
    collector.clear();
    check(collector.bytes() == 0, "no heap is left");
    return 0;
}
