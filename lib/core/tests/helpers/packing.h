/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Packs samples into datagrams, without a network.

#ifndef INCLUDED_SPEAD_CORE_TESTS_PACKING_H
#define INCLUDED_SPEAD_CORE_TESTS_PACKING_H

#include "decoder.h"
#include "pack/input_packer.h"

#include <random>
#include <stdexcept>

//! The options of a packed_stream.
struct packing {
    std::uint64_t heap_samples = 8192;
    std::size_t max_packet = 1472;
    unsigned address_bits = 40;
    bool descriptors = true; // in the first heap
    bool pad = true;
    bool stop = true;
    gr::spead::tail_policy tail = gr::spead::tail_policy::shorten;
    gr::spead::full_policy when_full = gr::spead::full_policy::block;
    std::size_t slots = 0; // of the ring; 0: room for the whole stream
    gr::spead::sample_type type = gr::spead::sample_type::int8;
    gr::spead::number_format wire{ 'i', 8 };
    std::vector<gr::spead::item> items = gr::spead::default_items();
    bool separate_descriptors = false; // descriptors in heaps of their own
    double descriptor_interval = 0;    // seconds between those heaps
    std::uint32_t destinations = 1;

    gr::spead::packer_config config() const
    {
        using namespace gr::spead;
        const wire::flavour flavour{ address_bits };
        const sample_format samples{ type, wire, heap_samples };
        const sample_converter converter(samples);
        const auto layout = [&](bool with_descriptors) {
            return heap_layout::even(
                data_contents(items, flavour, with_descriptors, samples),
                converter.group().bytes_of(heap_samples),
                max_packet,
                pad);
        };
        packer_config p{ layout(false) };
        p.converter = converter;
        p.timestamp_start = 1000;
        p.timestamp_step = heap_samples;
        p.when_full = when_full;
        p.tail = tail;
        p.destinations = destinations;
        p.descriptor_interval = descriptor_interval;
        if (descriptors)
            p.first = layout(true);
        if (separate_descriptors)
            p.descriptors = heap_layout::even(
                descriptor_contents(items, flavour, samples), 0, max_packet, false);
        if (stop)
            p.stop = heap_layout::even(stop_contents(flavour), 0, max_packet, pad);
        return p;
    }
};

template <typename number>
const std::byte* raw(const number* samples)
{
    return reinterpret_cast<const std::byte*>(samples);
}

inline std::vector<std::int8_t> noise(std::size_t n)
{
    std::mt19937 random(1);
    std::vector<std::int8_t> samples(n);
    for (auto& s : samples)
        s = static_cast<std::int8_t>(random());
    return samples;
}

//! False if the ring is full: call it again after packets have been sent.
inline bool end_stream(gr::spead::input_packer& packer)
{
    return packer.finish_tail() && packer.pack_stop_heaps();
}

//! A packer, its ring, and a sender that only records the datagrams.
class packed_stream
{
public:
    explicit packed_stream(const packing& p) : packed_stream(p.config(), p.slots) {}

    packed_stream(const gr::spead::packer_config& config, std::size_t slots)
        : input_bytes(config.converter.input_bytes()),
          ring(slots ? slots : 4096, config.regular.packet_bytes()),
          packer(
              config, ring, counters, [] {}, [this] { return now; })
    {
        packer.start_run();
    }

    //! Sends up to \p packets published packets, or all.
    void send(std::size_t packets = static_cast<std::size_t>(-1))
    {
        using gr::spead::packet_info;
        for (; d_position.count < ring.published() && packets--;
             ring.advance_packet(d_position)) {
            const auto& info = ring.info(d_position.slot);
            const auto* at = reinterpret_cast<std::uint8_t*>(ring.data(d_position.slot));
            if (info.bytes) {
                datagrams.emplace_back(at, at + info.bytes);
                destinations.push_back(info.destination);
            }
            if (info.flags & packet_info::heap_dropped) {
                samples_abandoned += info.heap_samples;
                heaps_abandoned += (info.flags & packet_info::data) != 0;
            }
            if (info.flags & packet_info::heap_end) {
                samples_completed += info.heap_samples;
                heaps_completed += (info.flags & packet_info::data) != 0;
            }
        }
        ring.release(d_position.count);
    }

    //! Whether each input sample is in a completed heap or counted as dropped.
    bool is_balanced() const
    {
        return counters.samples_in.get() ==
               samples_completed + samples_abandoned + counters.samples_dropped.get();
    }

    //! Writes all samples; sends packets whenever the ring is full.
    template <typename number>
    void write_all(const std::vector<number>& samples)
    {
        const auto bytes = samples.size() * sizeof(number);
        const auto n = bytes / input_bytes;
        for (std::size_t at = 0; at < n;) {
            const auto taken =
                packer.write(raw(samples.data()) + at * input_bytes, n - at);
            if (!taken)
                make_room();
            at += taken;
        }
    }
    void write_all_zeros(std::uint64_t n)
    {
        while (n) {
            const auto taken = packer.write(nullptr, n);
            if (!taken)
                make_room();
            n -= taken;
        }
    }

    void end()
    {
        while (!end_stream(packer))
            send();
        send();
    }

private:
    void make_room()
    {
        if (ring.published() == ring.released())
            throw std::runtime_error("the packer stalls");
        send();
    }

    gr::spead::ring_cursor d_position;

public:
    gr::spead::input_packer::clock::time_point now;
    std::size_t input_bytes;
    gr::spead::sink_counter_set counters;
    gr::spead::packet_ring ring;
    gr::spead::input_packer packer;
    std::vector<bytes> datagrams;
    std::vector<std::uint16_t> destinations; // of the datagrams
    std::uint64_t samples_completed = 0;     // samples in completed heaps
    std::uint64_t heaps_completed = 0;
    std::uint64_t samples_abandoned = 0; // samples in heaps dropped after they had begun
    std::uint64_t heaps_abandoned = 0;
};

inline std::vector<bytes> pack(const packing& p, const std::vector<std::int8_t>& samples)
{
    packed_stream stream(p);
    stream.write_all(samples);
    stream.end();
    return stream.datagrams;
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_PACKING_H */
