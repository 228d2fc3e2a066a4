/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Receives packets of correct, faulty and hostile senders, from the parser to the output
// samples. The input chooses the options, the packets and the time.

#include "fuzz_input.h"
#include "helpers/receive_stream.h"
#include "protocol/descriptor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

using namespace gr::spead;

namespace {

constexpr std::uint64_t selector_id = 0x3101;
constexpr std::uint64_t immediate_id = 0x3102;

// Limits the time that an input takes.
constexpr std::uint64_t max_samples = 1 << 20;

// A format that the source converts to samples of this type.
number_format choose_wire(fuzz_input& input, sample_type type)
{
    number_format wire{ 'i', bits_of(type) };
    if (is_float(type))
        wire = input.one_of<number_format>({ { 'i', 8 },
                                             { 'i', 16 },
                                             { 'u', 32 },
                                             { 'f', 32 },
                                             { 'f', 64 },
                                             { 'i', 10 },
                                             { 'i', 12 } });
    else if (wire.bits == 16)
        wire.bits = input.one_of({ 16u, 10u, 12u });
    if (!wire.is_packed())
        wire.order = input.one_of({ byte_order::big, byte_order::little });
    return wire;
}

receive_stream::options choose_options(fuzz_input& input)
{
    receive_stream::options options;
    options.outputs = 1 + input.up_to(2);
    options.window_samples = std::int64_t{ 1 } << (12 + input.up_to(6));
    options.type = input.one_of({ sample_type::int8,
                                  sample_type::sc8,
                                  sample_type::int16,
                                  sample_type::sc16,
                                  sample_type::int32,
                                  sample_type::float32,
                                  sample_type::complex64 });
    if (options.outputs == 1 && input.once_in(2))
        options.on_missing = missing_policy::skip;
    constexpr std::int64_t largest_step = (std::int64_t{ 1 } << 48) - 1;
    constexpr std::int64_t largest_heap = std::int64_t{ 1 } << 32;
    using rate = std::pair<std::int64_t, std::int64_t>;
    std::tie(options.samples, options.ticks) =
        input.one_of<rate>({ { 1, 1 },
                             { 1, 2 },
                             { 3, 7 },
                             { 64, 1 },
                             { 4096, 1 },
                             { largest_heap, 1 },
                             { 1, largest_step } });
    options.max_gap = input.one_of({ 1 << 18, 0, 100, 5000 });
    options.max_delay = std::chrono::milliseconds(input.one_of({ 100, 0, 1 }));
    if (input.once_in(4))
        options.start_tick = input.one_of<std::uint64_t>(
            { 0, (1 << 20) + 64 * input.number(1), input.number(6), input.number(8) });
    const bool has_selector = options.outputs > 1 && !input.once_in(4);
    // without a selector item, only sockets tell outputs apart
    options.has_own_sockets = options.outputs > 1 && !has_selector;
    if (!has_selector && input.once_in(2)) {
        options.format = nullptr;
        return options;
    }
    auto format = std::make_shared<stream_format>();
    format->samples_format = choose_wire(input, options.type);
    format->timestamp_format = { 'u',
                                 input.one_of({ 64u, 32u, 10u, 0u }),
                                 input.one_of({ byte_order::big, byte_order::little }) };
    if (has_selector) {
        std::vector<std::int64_t> values(options.outputs);
        std::iota(values.begin(), values.end(), 0);
        format->immediates.push_back({ selector_id, "selector", {}, values });
    }
    format->immediates.push_back({ immediate_id, "immediate" });
    options.format = format;
    return options;
}

// The state of a sender, from which its next correct packet follows.
struct sender_state {
    std::uint64_t counter = 0;
    std::uint64_t timestamp = 1 << 20;
    std::uint64_t heap_bytes = 256;
    std::uint64_t offset = 0; // of the next packet
};

class fuzzed_stream
{
public:
    explicit fuzzed_stream(fuzz_input& input)
        : d_input(input),
          d_options(choose_options(input)),
          d_stream(d_options),
          d_senders(d_options.outputs)
    {
        for (std::size_t i = 0; i < d_senders.size(); ++i)
            d_senders[i].counter = i;
    }

    void run()
    {
        while (!d_input.empty() && produced_samples() < max_samples)
            step();
        d_stream.end();
        for (std::size_t i = 0; i < d_options.outputs; ++i)
            check_output(i);
    }

private:
    void step()
    {
        const auto sender_index = d_input.up_to(d_senders.size() - 1);
        switch (d_input.up_to(15)) {
        case 1:
            pass_time();
            break;
        case 2:
            send_descriptors(sender_index);
            break;
        case 3:
            send_sparse_heap(sender_index);
            break;
        case 4:
            if (d_input.once_in(4))
                restart();
            break;
        case 5:
            receive(hostile_packet(), sender_index);
            break;
        default:
            receive(next_packet(sender_index), sender_index);
        }
    }

    void pass_time()
    {
        d_stream.now += std::chrono::milliseconds(d_input.one_of({ 1, 20, 200, 1500 }));
        d_stream.process_pending();
    }

    void restart()
    {
        d_stream.end();
        d_stream.router.start_run();
    }

    //! \name Packets
    //! \{

    wire::flavour choose_flavour()
    {
        return { d_input.one_of({ 48u, 48u, 48u, 40u, 56u, 8u, 24u, 32u }) };
    }

    std::uint64_t hostile_number(std::uint64_t near)
    {
        switch (d_input.up_to(7)) {
        case 0:
            return 0;
        case 1:
            return near;
        case 2:
            return near - 1 - d_input.up_to(300);
        case 3:
            return near + 1 + d_input.up_to(300);
        case 4:
            return ~std::uint64_t{ 0 } - d_input.up_to(2);
        case 5:
            return std::uint64_t{ 1 } << d_input.up_to(56);
        case 6:
            return d_input.number(2);
        default:
            return d_input.number(7);
        }
    }

    packet_bytes payload(std::size_t bytes)
    {
        packet_bytes all(bytes);
        std::fill(all.begin(), all.end(), std::byte{ d_input.byte() });
        return all;
    }

    std::uint64_t item_pointer(wire::flavour flavour, const sender_state& sender)
    {
        const auto id = d_input.one_of<std::uint64_t>({ 0x1600,
                                                        0x3300,
                                                        immediate_id,
                                                        selector_id,
                                                        wire::null,
                                                        wire::descriptor,
                                                        wire::stream_control,
                                                        wire::heap_length,
                                                        0x4000 });
        const auto value =
            hostile_number(id == 0x1600                 ? sender.timestamp
                           : id == wire::stream_control ? wire::stream_control_stop
                                                        : sender.heap_bytes);
        if (d_input.once_in(2))
            return flavour.immediate(id, value);
        return flavour.addressed(id, value);
    }

    void begin_heap(sender_state& sender)
    {
        const auto bytes = components_of(d_options.type) * bits_of(d_options.type) / 8;
        const auto ticks = sender.heap_bytes / bytes *
                           static_cast<std::uint64_t>(d_options.ticks) /
                           static_cast<std::uint64_t>(d_options.samples);
        sender.counter += d_senders.size();
        sender.timestamp += ticks;
        sender.offset = 0;
        sender.heap_bytes =
            d_input.once_in(4)
                ? d_input.up_to(static_cast<std::size_t>(d_options.window_samples))
                : 64 * (1 + d_input.up_to(9));
        if (d_input.once_in(8))
            sender.timestamp = hostile_number(sender.timestamp);
        if (d_input.once_in(8))
            sender.timestamp += ticks * d_input.up_to(100);
        if (d_input.once_in(8))
            sender.timestamp += static_cast<std::uint64_t>(d_options.max_gap) *
                                static_cast<std::uint64_t>(d_options.ticks) /
                                static_cast<std::uint64_t>(d_options.samples);
        if (d_input.once_in(8))
            sender.counter = hostile_number(sender.counter);
    }

    packet_bytes next_packet(std::size_t sender_index)
    {
        auto& sender = d_senders[sender_index];
        if (sender.offset >= sender.heap_bytes || d_input.once_in(8))
            begin_heap(sender);
        const auto flavour = choose_flavour();
        const auto max_bytes = static_cast<std::size_t>(d_options.window_samples) / 4;
        auto n = std::min<std::size_t>(
            d_input.one_of<std::size_t>({ 64, 64, 0, 1, 7, max_bytes }), max_bytes);
        auto offset = sender.offset;
        auto length = sender.heap_bytes;
        const bool is_wrong = d_input.once_in(4);
        if (is_wrong && d_input.once_in(2))
            offset = hostile_number(offset);
        else
            n = std::min<std::size_t>(n, length - std::min(length, offset));
        if (is_wrong && d_input.once_in(2))
            length = hostile_number(length);
        std::vector<std::uint64_t> pointers{
            flavour.immediate(wire::heap_counter, sender.counter),
            flavour.immediate(wire::payload_offset, offset),
            flavour.immediate(wire::payload_length, n)
        };
        if (!is_wrong || d_input.once_in(2))
            pointers.push_back(flavour.immediate(wire::heap_length, length));
        if (sender.offset == 0 || d_input.once_in(4)) {
            pointers.push_back(flavour.immediate(0x1600, sender.timestamp));
            pointers.push_back(flavour.immediate(selector_id, sender_index));
            pointers.push_back(flavour.addressed(0x3300, d_input.one_of({ 0, 0, 0, 5 })));
            if (d_input.once_in(2))
                pointers.push_back(flavour.immediate(immediate_id, d_input.up_to(3)));
        }
        if (is_wrong)
            for (auto i = d_input.up_to(4); i > 0; --i)
                pointers.push_back(item_pointer(flavour, sender));
        sender.offset += n;
        return packet_of(pointers, payload(n), flavour);
    }

    // Unrelated item pointers and payload.
    packet_bytes hostile_packet()
    {
        const auto flavour = choose_flavour();
        const auto& sender = d_senders.front();
        const auto n = d_input.up_to(100);
        std::vector<std::uint64_t> pointers{
            flavour.immediate(wire::heap_counter, hostile_number(sender.counter)),
            flavour.immediate(wire::payload_offset, hostile_number(0)),
            flavour.immediate(wire::payload_length, n)
        };
        // detects processing time that grows faster than the packet
        const auto pointer = item_pointer(flavour, sender);
        const auto items = d_input.one_of<std::size_t>({ 3, 8, 300, 3000 });
        while (pointers.size() < items)
            pointers.push_back(items > 8 ? pointer : item_pointer(flavour, sender));
        auto packet = packet_of(pointers, payload(n), flavour);
        while (d_input.once_in(4))
            packet[d_input.up_to(packet.size() - 1)] = std::byte{ d_input.byte() };
        if (d_input.once_in(8))
            packet.resize(d_input.up_to(packet.size()));
        return packet;
    }

    // Sends isolated bytes of a heap, which leaves many missing ranges.
    void send_sparse_heap(std::size_t sender_index)
    {
        auto& sender = d_senders[sender_index];
        // sometimes more than the window can store
        const std::size_t n = d_input.once_in(255) ? 4200 : 10;
        const auto step = 2 + d_input.up_to(6);
        begin_heap(sender);
        sender.heap_bytes = n * step;
        wire::flavour flavour{ 48 };
        for (std::size_t i = 0; i < n; ++i)
            receive(packet_of({ flavour.immediate(wire::heap_counter, sender.counter),
                                flavour.immediate(wire::heap_length, sender.heap_bytes),
                                flavour.immediate(wire::payload_offset, i * step),
                                flavour.immediate(wire::payload_length, 1),
                                flavour.immediate(0x1600, sender.timestamp),
                                flavour.immediate(selector_id, sender_index),
                                flavour.addressed(0x3300, 0) },
                              packet_bytes(1)),
                    sender_index);
        sender.offset = sender.heap_bytes;
    }

    void send_descriptors(std::size_t sender_index)
    {
        const wire::flavour flavour{ d_input.one_of({ 48u, 40u }) };
        const auto type = d_input.once_in(4) ? sample_type::sc16 : d_options.type;
        const sample_format format{ type, choose_wire(d_input, type), 64 };
        std::vector<item> items{ timestamp(0x1600), samples(0x3300) };
        for (auto i = d_input.up_to(3); i > 0; --i) {
            const auto id = d_input.one_of({ 0x3102, 0x3101, 0x1600 });
            items.push_back(
                immediate(id, d_input.one_of({ "name", "timestamp" }), { 0 }));
        }
        packet_bytes content;
        std::vector<std::uint64_t> pointers;
        for (const auto& item : items) {
            auto packet = descriptor_packet(item, flavour, format);
            while (d_input.once_in(8))
                packet[d_input.up_to(packet.size() - 1)] = std::byte{ d_input.byte() };
            pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
            content.insert(content.end(), packet.begin(), packet.end());
        }
        if (d_input.once_in(8))
            pointers.push_back(flavour.addressed(wire::descriptor, hostile_number(0)));
        heap_cutter cutter;
        cutter.flavour = flavour;
        cutter.payload = d_input.one_of({ 4000, 4000, 100, 8, 1 });
        cutter.repeats_pointers = d_input.once_in(2);
        auto packets = cutter.cut(d_input.one_of({ 1u << 20, 1u }), pointers, content);
        if (d_input.once_in(4))
            std::reverse(packets.begin(), packets.end());
        const bool is_lossy = d_input.once_in(4);
        for (const auto& packet : packets)
            if (!is_lossy || !d_input.once_in(8))
                receive(packet, sender_index);
    }

    //! \}

    void receive(const packet_bytes& packet, std::size_t sender_index)
    {
        const std::size_t socket = d_options.has_own_sockets ? sender_index : 0;
        const std::uint64_t sender = d_input.once_in(16) ? 2 : 1;
        d_stream.receive(packet, socket, sender);
    }

    std::size_t produced_samples() const
    {
        std::size_t sum = 0;
        for (const auto& samples : d_stream.out)
            sum += samples.size() / d_stream.output_bytes();
        return sum;
    }

    void check_output(std::size_t output) const
    {
        const auto& counters = d_stream.counters[output];
        const auto n = d_stream.out[output].size() / d_stream.output_bytes();
        check(counters.samples_received.get() + counters.samples_missing.get() == n,
              "each output sample is counted as received or missing");
        check(n == d_stream.out[0].size() / d_stream.output_bytes(),
              "all outputs have the same number of samples");
        bool has_time = false;
        for (const auto& tag : d_stream.tags) {
            if (tag.output != output)
                continue;
            check(tag.offset < n, "each tag belongs to an output sample");
            has_time |= tag.type == sample_tag::kind::timestamp && tag.offset == 0;
            if (tag.type == sample_tag::kind::missing)
                check(tag.value > 0, "a missing tag counts at least one sample");
        }
        check(!n || has_time, "the first sample has a timestamp tag");
    }

    fuzz_input& d_input;
    const receive_stream::options d_options;
    receive_stream d_stream;
    std::vector<sender_state> d_senders;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    fuzzed_stream(input).run();
    return 0;
}
