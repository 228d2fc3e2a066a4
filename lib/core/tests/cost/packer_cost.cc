/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Packs samples into a ring and discards the packets, to count the instructions of
// input_packer::write(): packer-cost <heap samples> <packet bytes> <MiB>
// Prints the number of packets.

#include "helpers/packing.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv)
{
    using namespace gr::spead;
    if (argc != 4)
        return EXIT_FAILURE;
    packing pack_options;
    pack_options.heap_samples = std::strtoull(argv[1], nullptr, 10);
    pack_options.max_packet = std::strtoull(argv[2], nullptr, 10);
    const auto total = std::strtoull(argv[3], nullptr, 10) << 20;

    const auto config = pack_options.config();
    const auto packet = config.regular.packet_bytes();
    const auto packets = static_cast<std::size_t>(config.regular.packets());
    auto slots = (2 << 20) / packet;
    if (packets < slots)
        slots -= slots % packets; // whole heaps, as in an engine
    packet_ring ring(slots, packet);
    sink_counter_set counters;
    input_packer packer(config, ring, counters, [] {});
    packer.start_run();
    const auto samples = noise(1 << 20);
    for (std::uint64_t packed = 0; packed < total;) {
        packed += packer.write(raw(samples.data()), samples.size());
        ring.release(ring.published());
    }
    std::printf("%llu\n", static_cast<unsigned long long>(ring.published()));
    return EXIT_SUCCESS;
}
