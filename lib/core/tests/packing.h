/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Samples in, datagrams out, without a network.

#ifndef INCLUDED_SPEAD_CORE_TESTS_PACKING_H
#define INCLUDED_SPEAD_CORE_TESTS_PACKING_H

#include "decoder.h"
#include "heap_packer.h"

#include <random>

struct packing {
    std::uint64_t heap_samples = 8192;
    std::size_t max_packet = 1472;
    unsigned address_bits = 40;
    bool descriptors = true;
    bool pad = true;
    bool stop = true;
    gr::spead::tail_policy tail = gr::spead::tail_policy::shorten;
    gr::spead::full_policy when_full = gr::spead::full_policy::block;
    std::size_t slots = 0; // 0: enough for everything

    gr::spead::stream_plan plan() const
    {
        using namespace gr::spead;
        const wire::flavour flavour{ address_bits };
        const auto layout = [&](bool with_descriptors) {
            return heap_layout::even(
                data_contents(default_items(), flavour, with_descriptors),
                heap_samples,
                max_packet,
                pad);
        };
        stream_plan p{ layout(false), {}, {}, 1, 1, 1000, heap_samples, when_full, tail };
        if (descriptors)
            p.first = layout(true);
        if (stop)
            p.stop = heap_layout::even(stop_contents(flavour), 0, max_packet, pad);
        return p;
    }
};

inline std::vector<std::int8_t> noise(std::size_t n)
{
    std::mt19937 random(1);
    std::vector<std::int8_t> samples(n);
    for (auto& s : samples)
        s = static_cast<std::int8_t>(random());
    return samples;
}

//! A packer and a ring, and a sender that only remembers.
class packed_stream
{
public:
    explicit packed_stream(const packing& p)
        : d_plan(p.plan()),
          ring(p.slots ? p.slots : 4096, d_plan.regular.packet_bytes()),
          packer(d_plan, ring, counters, [] {})
    {
        packer.start_stream();
    }

    //! Everything that is published, as it would go on the wire.
    void send()
    {
        using gr::spead::packet_info;
        for (; d_tail.count < ring.published(); ring.advance_packet(d_tail)) {
            const auto& info = ring.info(d_tail.slot);
            const auto* at = reinterpret_cast<std::uint8_t*>(ring.data(d_tail.slot));
            if (info.bytes)
                datagrams.emplace_back(at, at + info.bytes);
            abandoned += info.flags & packet_info::abandoned ? info.heap_samples : 0;
            ended += info.flags & packet_info::heap_end ? info.heap_samples : 0;
        }
        ring.release(d_tail.count);
    }

    template <typename chunk_size>
    void write(const std::vector<std::int8_t>& samples, chunk_size&& next)
    {
        for (std::size_t at = 0; at < samples.size();) {
            const auto n = std::min<std::size_t>(next(), samples.size() - at);
            const auto taken = packer.write(samples.data() + at, n);
            if (taken < n)
                send();
            at += taken;
        }
    }

    void end()
    {
        while (!packer.end_stream())
            send();
        send();
    }

private:
    const gr::spead::stream_plan d_plan;
    gr::spead::ring_cursor d_tail;

public:
    gr::spead::packer_counters counters;
    gr::spead::packet_ring ring;
    gr::spead::heap_packer packer;
    std::vector<bytes> datagrams;
    std::uint64_t ended = 0;     // samples in heaps that are complete
    std::uint64_t abandoned = 0; // samples in heaps that were begun only
};

inline std::vector<bytes> pack(const packing& p, const std::vector<std::int8_t>& samples)
{
    packed_stream stream(p);
    stream.write(samples, [&] { return samples.size(); });
    stream.end();
    return stream.datagrams;
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_PACKING_H */
