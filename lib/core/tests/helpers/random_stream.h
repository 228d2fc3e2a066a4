/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_RANDOM_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_RANDOM_STREAM_H

#include "helpers/receive_stream.h"
#include "protocol/descriptor.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace gr::spead {

inline constexpr std::uint64_t selector_id = 0x3101;
inline constexpr std::uint64_t other_id = 0x4000;
// Limits for reading one socket before the next one.
inline constexpr std::size_t max_read_bytes = 8 << 10;
inline constexpr std::size_t max_read_packets = 16;

using random_engine = std::mt19937_64;

// The sample of an output at a time; never 0.
inline std::byte sample_at(std::size_t output, std::uint64_t tick)
{
    auto x = (tick + 1) * 0x9e3779b97f4a7c15u + output * 0xbf58476d1ce4e5b9u;
    x ^= x >> 29;
    x *= 0x94d049bb133111ebu;
    return static_cast<std::byte>((x >> 56) % 255 + 1);
}

// The same for packed samples.
inline std::int16_t packed_sample_at(std::size_t output, std::uint64_t tick)
{
    const auto magnitude = static_cast<int>(sample_at(output, tick));
    return static_cast<std::int16_t>(tick % 2 ? magnitude : -magnitude);
}

//! A packet that arrives, or a pause.
struct event {
    packet_bytes packet; // empty: a pause
    std::size_t socket = 0;
    std::uint64_t sender = 0;
    std::chrono::milliseconds pause{};
};

//! A random stream over a network that loses, duplicates, reorders and injects packets.
//! The sender skips times, sends other items, and restarts.
class random_stream
{
public:
    explicit random_stream(std::uint64_t seed)
        : d_random(seed),
          d_flavour{ one_of<unsigned>({ 40, 48 }) },
          d_outputs(one_of<std::size_t>({ 1, 1, 2, 3, 4 })),
          d_has_own_sockets(d_outputs > 1 && chance(0.5)),
          d_sockets(d_has_own_sockets ? one_of<std::size_t>({ 1, 4 }) : 1),
          d_repeats_items(chance(0.5)),
          d_payload(one_of<std::size_t>({ 64, 512, 1408, 8192 })),
          d_bits(seed % 4   ? 8
                 : seed % 8 ? 10
                            : 12),
          d_heap_samples(whole_groups(heap_bytes())),
          d_heap_bytes(d_heap_samples * d_bits / 8),
          d_timestamp_place(timestamp_place()),
          d_description(one_of({ description::none,
                                 description::none,
                                 description::in_own_heaps,
                                 d_heap_bytes > 1 << 18 ? description::in_own_heaps
                                                        : description::in_data_heaps })),
          d_is_faulty(!chance(0.1)),
          d_loss(d_is_faulty ? std::pow(10, -3 + 2 * uniform()) : 0),
          d_tick(below(std::uint64_t{ 1 } << (d_flavour.heap_address_bits - 1)))
    {
        const auto heaps = std::clamp<std::size_t>(300000 / d_heap_bytes, 3, 400);
        for (std::size_t i = 0; i < heaps; ++i)
            add_heaps();
        impair();
        if (d_has_own_sockets && chance(0.5))
            group_by_socket();
    }

    bool is_faulty() const { return d_is_faulty; }
    std::uint64_t sent_samples() const { return d_sent; } // per output
    bool is_packed() const { return d_bits != 8; }
    unsigned bits() const { return d_bits; } // of a sample
    const std::vector<event>& events() const { return d_events; }
    // Whether the outputs stay close enough for the window.
    bool fits(const receive_stream::options& options) const
    {
        const auto apart = d_heap_bytes + d_payload + 2 * d_sockets * max_read_bytes;
        return d_outputs == 1 || apart < static_cast<std::size_t>(std::min(
                                             options.window_samples, options.max_gap));
    }
    // Whether a spoofed packet had this time. The receiver accepts it after a silence.
    bool is_spoofed(std::uint64_t tick) const
    {
        return std::any_of(
            d_spoofed.begin(), d_spoofed.end(), [&](std::uint64_t spoofed) {
                return tick - spoofed < d_payload;
            });
    }

    receive_stream::options choose_options()
    {
        receive_stream::options options;
        options.outputs = d_outputs;
        options.has_own_sockets = d_has_own_sockets;
        options.sockets = d_sockets;
        options.window_samples = one_of<std::int64_t>({ 1 << 17, 1 << 18 });
        options.max_gap = one_of<std::int64_t>({ 1 << 14, 1 << 20 });
        auto format = std::make_shared<stream_format>();
        if (is_packed()) {
            options.type = sample_type::int16;
            format->samples_format = { 'i', d_bits };
        }
        if (!d_has_own_sockets && d_outputs > 1) {
            format->immediates.push_back({ selector_id, "selector" });
            for (std::size_t i = 0; i < d_outputs; ++i)
                format->immediates[0].values.push_back(static_cast<std::int64_t>(i));
        }
        const bool is_learned = d_description != description::none &&
                                format->immediates.empty() && chance(0.7);
        options.format = is_learned ? nullptr : format;
        return options;
    }

private:
    double uniform() { return std::uniform_real_distribution<>()(d_random); }
    bool chance(double p) { return uniform() < p; }
    std::uint64_t below(std::uint64_t n) { return d_random() % n; }
    template <typename type>
    type one_of(std::initializer_list<type> values)
    {
        return *(values.begin() + static_cast<std::ptrdiff_t>(below(values.size())));
    }

    std::size_t heap_bytes()
    {
        if (chance(0.01))
            return std::size_t{ 1 } << 24;
        const auto packets = one_of<std::size_t>({ 1, 1, 2, 5, 20, 100 });
        return packets * d_payload - (packets > 1 ? below(d_payload / 2) : 0);
    }

    // Samples of about this many bytes, which may be packed.
    std::size_t whole_groups(std::size_t bytes) const
    {
        const auto group = d_bits == 8 ? 1 : d_bits == 10 ? 4 : 2;
        return std::max<std::size_t>(bytes * 8 / d_bits / group, 1) * group;
    }

    // The timestamp is an immediate item, or in the payload of the heap.
    enum class place { immediate, before_samples, after_samples };
    place timestamp_place()
    {
        if (chance(0.6))
            return place::immediate;
        return d_heap_bytes > 1 << 20 || chance(0.7) ? place::before_samples
                                                     : place::after_samples;
    }
    std::size_t timestamp_bytes() const
    {
        return d_description == description::none ? 8 : d_flavour.heap_address_bits / 8;
    }
    packet_bytes payload_of(packet_bytes samples, std::uint64_t tick) const
    {
        if (d_timestamp_place == place::immediate)
            return samples;
        const auto timestamp = htobe64(tick);
        const auto* end = reinterpret_cast<const std::byte*>(&timestamp + 1);
        samples.insert(d_timestamp_place == place::before_samples ? samples.begin()
                                                                  : samples.end(),
                       end - timestamp_bytes(),
                       end);
        return samples;
    }

    // Descriptors of the samples and of the timestamp are in heaps of their own, or
    // before the samples.
    enum class description { none, in_own_heaps, in_data_heaps };
    void add_descriptors(std::vector<std::uint64_t>& pointers, packet_bytes& content)
    {
        for (const auto& item : default_items()) {
            sample_format format;
            format.wire.bits = d_bits;
            const auto packet = descriptor_packet(item, d_flavour, format);
            pointers.push_back(d_flavour.addressed(wire::descriptor, content.size()));
            content.insert(content.end(), packet.begin(), packet.end());
        }
    }

    void add_heap(std::uint64_t counter,
                  std::size_t output,
                  const std::vector<std::uint64_t>& pointers,
                  const packet_bytes& content)
    {
        heap_cutter cutter{ d_flavour, d_payload, d_repeats_items };
        const auto socket = d_has_own_sockets
                                ? output * d_sockets + d_sent / d_heap_samples % d_sockets
                                : 0;
        for (auto& packet : cutter.cut(counter, pointers, content))
            d_events.push_back({ std::move(packet), socket, d_sender });
    }

    // \p begin: of the samples and the timestamp in the payload.
    std::vector<std::uint64_t>
    pointers(std::size_t output, std::uint64_t tick, std::size_t begin = 0)
    {
        const auto selector = d_flavour.immediate(selector_id, output);
        switch (d_timestamp_place) {
        case place::before_samples:
            return { d_flavour.addressed(0x1600, begin),
                     selector,
                     d_flavour.addressed(0x3300, begin + timestamp_bytes()) };
        case place::after_samples:
            return { selector,
                     d_flavour.addressed(0x3300, begin),
                     d_flavour.addressed(0x1600, begin + d_heap_bytes) };
        default:
            return { d_flavour.immediate(0x1600, tick),
                     selector,
                     d_flavour.addressed(0x3300, begin) };
        }
    }

    // Adds a heap per output, all with the same timestamp.
    void add_heaps()
    {
        if (d_is_faulty && chance(0.03))
            d_tick += one_of<std::uint64_t>(
                { d_heap_samples, 3 * d_heap_samples, 1 + below(1000), 100000 });
        if (d_is_faulty && chance(0.01))
            restart();
        // faulty senders may describe their items late
        const bool has_descriptors = d_description != description::none &&
                                     (chance(0.1) || (!d_is_faulty && d_sent == 0));
        for (std::size_t output = 0; output < d_outputs; ++output) {
            if (d_is_faulty && chance(0.05)) // other items, of the same length
                add_heap(d_counter++,
                         output,
                         { d_flavour.immediate(selector_id, output),
                           d_flavour.addressed(other_id, 0) },
                         payload_of(packet_bytes(d_heap_bytes), d_tick));
            std::vector<std::uint64_t> descriptors;
            packet_bytes content;
            if (has_descriptors)
                add_descriptors(descriptors, content);
            if (has_descriptors && d_description == description::in_own_heaps) {
                add_heap(d_counter++, output, descriptors, content);
                descriptors.clear();
                content.clear();
            }
            auto all_pointers = pointers(output, d_tick, content.size());
            all_pointers.insert(
                all_pointers.begin(), descriptors.begin(), descriptors.end());
            const auto samples = payload_of(samples_of(output), d_tick);
            content.insert(content.end(), samples.begin(), samples.end());
            add_heap(d_counter++, output, all_pointers, content);
        }
        d_tick += d_heap_samples;
        d_sent += d_heap_samples;
    }

    // The bytes of the next heap of an output.
    packet_bytes samples_of(std::size_t output) const
    {
        packet_bytes bytes(d_heap_bytes);
        for (std::size_t i = 0; i < d_heap_samples; ++i) {
            const auto tick = d_tick + i;
            if (!is_packed()) {
                bytes[i] = sample_at(output, tick);
                continue;
            }
            const auto sample = packed_sample_at(output, tick);
            for (std::size_t bit = 0; bit < d_bits; ++bit)
                if (sample >> (d_bits - 1 - bit) & 1)
                    bytes[(i * d_bits + bit) / 8] |=
                        std::byte{ 0x80 } >> (i * d_bits + bit) % 8;
        }
        return bytes;
    }

    void restart()
    {
        const bool is_same_socket = chance(0.3);
        if (!is_same_socket)
            ++d_sender;
        if (chance(0.5))
            d_counter = 1;
        const auto range = std::uint64_t{ 1 } << (d_flavour.heap_address_bits - 1);
        d_tick = one_of<std::uint64_t>({ d_tick,
                                         d_tick - std::min(d_tick, below(100000)),
                                         d_tick + below(100000),
                                         below(range),
                                         0 });
        // without a long pause, packets of the same socket and heap counter are ambiguous
        const auto pause =
            is_same_socket ? one_of({ 150, 700, 3000 }) : one_of({ 0, 150, 2000 });
        if (pause)
            d_events.push_back({ {}, 0, 0, std::chrono::milliseconds(pause) });
    }

    // A single packet with wrong content.
    event spoofed_packet(const event& real)
    {
        const auto counter =
            be64toh(*reinterpret_cast<const std::uint64_t*>(real.packet.data() + 8)) &
            d_flavour.address_mask();
        const auto heap = d_heap_samples * below(10);
        const auto tick = one_of<std::uint64_t>({ below(d_flavour.address_mask()),
                                                  d_tick - std::min(d_tick, heap),
                                                  d_tick + heap,
                                                  d_flavour.address_mask() });
        auto content = payload_of(packet_bytes(d_heap_bytes), tick);
        const auto length = content.size();
        content.resize(std::min(d_payload, length));
        d_spoofed.push_back(tick);
        auto items = pointers(below(d_outputs), tick);
        std::vector<std::uint64_t> all{
            d_flavour.immediate(wire::heap_counter,
                                one_of<std::uint64_t>({ counter, counter + below(50) })),
            d_flavour.immediate(wire::heap_length, length),
            d_flavour.immediate(wire::payload_offset, 0),
            d_flavour.immediate(wire::payload_length, content.size())
        };
        all.insert(all.end(), items.begin(), items.end());
        return { packet_of(all, content, d_flavour), real.socket, 1000 + below(2) };
    }

    // Applies the faults of the network.
    void impair()
    {
        if (!d_is_faulty)
            return;
        const auto duplicates = chance(0.5) ? 0.01 : 0;
        const auto delays = chance(0.5) ? 0.05 : 0;
        const auto spoofs = chance(0.5) ? 0.002 : 0;
        std::vector<std::pair<std::size_t, event>> arriving;
        std::size_t pause = 0; // the next pause; packets are not delayed past it
        for (std::size_t i = 0; i < d_events.size(); ++i) {
            while (pause < d_events.size() &&
                   (pause < i || d_events[pause].pause.count() == 0))
                ++pause;
            const auto arrival = [&](double delay_chance) {
                return std::min(chance(delay_chance) ? i + below(100) : i, pause);
            };
            if (i == pause) {
                arriving.emplace_back(i, d_events[i]);
                continue;
            }
            if (chance(spoofs))
                arriving.emplace_back(i, spoofed_packet(d_events[i]));
            if (!chance(d_loss))
                arriving.emplace_back(arrival(delays), d_events[i]);
            if (chance(duplicates))
                arriving.emplace_back(arrival(1), d_events[i]);
        }
        // a pause follows the packets delayed up to it
        const auto key = [](const auto& arrival) {
            return std::make_pair(arrival.first, arrival.second.packet.empty());
        };
        std::stable_sort(arriving.begin(), arriving.end(), [&](auto& a, auto& b) {
            return key(a) < key(b);
        });
        d_events.clear();
        for (auto& arrival : arriving)
            d_events.push_back(std::move(arrival.second));
    }

    // Sorts packets by socket, as if several were read from each socket at a time.
    void group_by_socket()
    {
        const auto packets =
            std::clamp<std::size_t>(max_read_bytes / d_payload, 1, max_read_packets);
        const auto at_once = static_cast<std::ptrdiff_t>(packets * d_outputs * d_sockets);
        for (auto at = d_events.begin(); at != d_events.end();) {
            const auto is_pause = [](const event& candidate) {
                return candidate.packet.empty();
            };
            const auto last =
                std::find_if(at, at + std::min(at_once, d_events.end() - at), is_pause);
            std::stable_sort(at, last, [](const event& a, const event& b) {
                return a.socket < b.socket;
            });
            at = last == at ? at + 1 : last;
        }
    }

    random_engine d_random;
    const wire::flavour d_flavour;
    const std::size_t d_outputs;
    const bool d_has_own_sockets;
    const std::size_t d_sockets; // per output; its heaps rotate through them
    const bool d_repeats_items;
    const std::size_t d_payload;
    const unsigned d_bits; // of a sample
    const std::size_t d_heap_samples;
    const std::size_t d_heap_bytes; // of samples
    const place d_timestamp_place;
    const description d_description;
    const bool d_is_faulty;
    const double d_loss;
    std::uint64_t d_tick;
    std::uint64_t d_counter = 1;
    std::uint64_t d_sender = 1;
    std::uint64_t d_sent = 0;
    std::vector<event> d_events;
    std::vector<std::uint64_t> d_spoofed;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_RANDOM_STREAM_H */
