/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Parses arbitrary bytes as a packet and as a descriptor.

#include "fuzz_input.h"
#include "protocol/descriptor_reader.h"
#include "protocol/packet_parser.h"
#include "receive/heap_descriptors.h"

#include <vector>

using namespace gr::spead;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // a copy of exactly this size lets a sanitizer detect reads beyond the end
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    const std::vector<std::byte> packet(bytes, bytes + size);

    packet_view view;
    if (parse_packet(packet.data(), packet.size(), view) == packet_error::none) {
        const auto* end = packet.data() + packet.size();
        check(view.payload + view.payload_bytes == end,
              "the payload reaches the end of the packet");
        check(view.pointers + view.items * wire::pointer_bytes == view.payload,
              "the payload follows the item pointers");
        check(!view.heap_length || view.payload_end() <= *view.heap_length,
              "the payload is within the heap");
        heap_descriptors descriptors;
        if (descriptors.find(view)) {
            descriptors.add(view);
            const auto read = descriptors.parse(
                descriptors.content([&](const auto& visit) { visit(view); }));
            check(read.size() <= 255, "the number of descriptors is bounded");
        }
    }
    if (const auto description = read_descriptor(packet.data(), packet.size()))
        check(description->name.size() <= 64, "names are truncated to 64 bytes");
    return 0;
}
