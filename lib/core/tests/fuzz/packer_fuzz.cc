/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Packs samples with valid and invalid options. Decodes the packets with an independent
// decoder, and compares the heaps with a model that has no rings and packets.

#include "fuzz_input.h"
#include "helpers/packing.h"
#include "make_stream_configs.h"
#include "support/parameter_error.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace gr::spead;

namespace {

// Limits the work that an input causes.
constexpr std::uint64_t max_heap_bytes = 1 << 13;
constexpr std::uint64_t max_ring_bytes = 1 << 16;
constexpr std::uint64_t max_bytes = 1 << 13;
constexpr std::size_t max_datagrams = 100;

struct sink_setup {
    sink_options options;
    std::vector<std::string> destinations;
    std::size_t max_path_packet_bytes;
};

void choose_items(fuzz_input& input, sink_options& to)
{
    const auto choose_text = [&](std::string usual) {
        return input.once_in(16) ? std::string(input.up_to(80), 'n') : std::move(usual);
    };
    auto& items = to.items;
    items = { { item_kind::samples, 0x3300, "samples", choose_text("") } };
    if (!input.once_in(8))
        items.push_back({ item_kind::timestamp, 0x1600, "time", choose_text("when") });
    for (auto n = input.once_in(32) ? input.up_to(260) : input.up_to(3); n; --n) {
        const auto number = items.size();
        item each{ item_kind::immediate,
                   0x3100 + static_cast<std::int64_t>(number),
                   "item " + choose_text(std::to_string(number)),
                   choose_text("") };
        const bool has_value_per_input = input.once_in(2);
        for (auto i = has_value_per_input ? to.num_inputs : 1; i > 0; --i)
            each.values.push_back(static_cast<std::int64_t>(input.number(5)));
        const auto at = static_cast<std::ptrdiff_t>(input.up_to(number));
        items.insert(items.begin() + at, std::move(each));
    }
}

// Options that are valid individually, though not always in combination.
sink_setup choose_setup(fuzz_input& input)
{
    sink_setup setup;
    auto& o = setup.options;
    const auto any = [&] { return static_cast<std::int64_t>(input.number(2)); };
    constexpr std::int64_t late = (std::int64_t{ 1 } << 40) - 3;
    o.num_inputs = input.one_of({ 1, 1, 2, 3 });
    choose_items(input, o);
    o.heap_samples = 1 + input.one_of<std::int64_t>({ 0, 2, 49, 332, 1999, any() });
    o.input_type =
        input.one_of({ "int8", "sc8", "int16", "sc16", "int32", "float", "complex" });
    const bool is_float = o.input_type == "float" || o.input_type == "complex";
    if (is_float && input.once_in(2))
        o.scale = input.one_of({ 1.0, 1e4, 1e-30 });
    o.tail = input.one_of({ "short", "pad", "drop" });
    if (is_float && input.once_in(2))
        o.wire_type = o.tail == "short" ? input.one_of({ "u1", ">i2", "f4", "f8" })
                                        : input.one_of({ "<i2", "u4", "<f4", "c8" });
    if (o.wire_type == "c8" && o.input_type == "float")
        o.wire_type = "f4";
    o.descriptors = input.one_of({ "first_heap", "separate", "none" });
    if (o.descriptors != "none")
        o.descriptor_interval = input.one_of({ 0.0, 0.001, 0.5, 1e9 });
    o.max_packet_size =
        input.one_of<std::int64_t>({ 1472, 0, 200, 300, 400, 1000, 9000, any() });
    o.pad_packets = input.once_in(2);
    o.heap_address_bits = input.one_of({ 40, 48 });
    o.heap_id_start = input.one_of<std::int64_t>({ 1, 0, late, any() });
    o.heap_id_step = input.one_of({ 1, 2, 0xffff });
    o.timestamp_start = input.one_of<std::int64_t>({ 0, late, any() });
    if (input.once_in(2))
        o.timestamp_step = input.one_of<std::int64_t>({ 0, 1, late, any() });
    o.when_full = input.one_of({ "block", "block", "drop" });
    o.buffer_size =
        input.one_of<std::int64_t>({ 1 << 13, 1 << 13, 1 << 14, 1 << 16, 0, any() });
    o.send_stop = !input.once_in(4);
    const bool has_list_per_input = input.once_in(2);
    for (auto i = has_list_per_input ? o.num_inputs : 1; i > 0; --i)
        setup.destinations.push_back(input.one_of({ "a:1",
                                                    "10.0.0.1+2:7",
                                                    "a:1,b:1",
                                                    "b:1,c:3,a:1",
                                                    "10.0.0.2:7",
                                                    "a:1,a:1" }));
    setup.max_path_packet_bytes =
        input.one_of<std::size_t>({ 1472, 65507, 8972, 1452, 548 });
    return setup;
}

// Changes an option, possibly to an invalid value.
void change_option(fuzz_input& input, sink_setup& setup)
{
    auto& o = setup.options;
    auto& items = o.items;
    auto& some = items[input.up_to(items.size() - 1)];
    const auto value = input.edge_value();
    switch (input.up_to(17)) {
    case 0:
        o.heap_samples = value;
        break;
    case 1:
        o.max_packet_size = value;
        break;
    case 2:
        o.heap_address_bits = value;
        break;
    case 3:
        o.heap_id_start = value;
        break;
    case 4:
        o.heap_id_step = value;
        break;
    case 5:
        o.timestamp_start = value;
        break;
    case 6:
        o.timestamp_step = value;
        break;
    case 7:
        o.buffer_size = value;
        break;
    case 8:
        o.scale = static_cast<double>(value) * 1e-9;
        break;
    case 9:
        some.id = value;
        break;
    case 10:
        some.name = input.one_of({ "", "time", "samples" });
        break;
    case 11:
        some.values.assign(input.up_to(4), value);
        break;
    case 12:
        items.push_back(some);
        break;
    case 13:
        o.num_inputs = value;
        break;
    case 14:
        o.descriptor_interval = input.one_of({ 1e300, -1.0, 1e-9 });
        break;
    case 15:
        setup.max_path_packet_bytes = input.up_to(65507);
        break;
    case 16:
        setup.destinations.push_back(input.one_of({ "10.0.0.0+4095:1", "a", "b:1" }));
        break;
    default:
        for (auto* text : { &o.input_type, &o.wire_type, &o.tail, &o.descriptors })
            if (input.once_in(2))
                *text = input.one_of({ "none", "<i2", "float", "drop", "int16", "i1" });
    }
}

struct expected_heap {
    std::uint64_t counter;
    std::uint64_t timestamp;
    std::size_t destination; // index in the list of the input
    std::vector<std::uint64_t> values;
    bytes content;
    std::uint64_t input_samples = 0; // the other samples are zeros
};

// The heaps of an input according to the documentation of the options.
class packer_model
{
public:
    packer_model(const sink_options& options, std::size_t input, std::size_t destinations)
        : d_options(options),
          d_mask((std::uint64_t{ 1 } << options.heap_address_bits) - 1),
          d_destinations(destinations)
    {
        const auto step = static_cast<std::uint64_t>(options.heap_id_step);
        d_counter = (static_cast<std::uint64_t>(options.heap_id_start) + input * step);
        d_counter_step = step * static_cast<std::uint64_t>(options.num_inputs);
        d_timestamp = static_cast<std::uint64_t>(options.timestamp_start);
        d_timestamp_step = static_cast<std::uint64_t>(
            options.timestamp_step.value_or(options.heap_samples));
        for (const auto& each : options.items)
            values.push_back(each.kind == item_kind::immediate
                                 ? static_cast<std::uint64_t>(
                                       each.values[each.values.size() > 1 ? input : 0])
                                 : 0);
    }

    std::vector<std::uint64_t> values; // of the items, in the next heap
    std::vector<expected_heap> heaps;  // of the run
    std::uint64_t samples_in = 0;
    std::uint64_t heaps_abandoned = 0; // dropped unfinished
    std::uint64_t samples_dropped = 0;

    //! Adds \p n samples in wire format, which are input or zeros.
    void add_samples(const bytes& wire, std::uint64_t n, bool is_input)
    {
        const auto size = wire.size() / n;
        const auto heap_bytes = size * static_cast<std::uint64_t>(d_options.heap_samples);
        samples_in += is_input ? n : 0;
        for (std::uint64_t i = 0; i < n;) {
            if (!d_current)
                begin_heap();
            auto& content = d_current->content;
            const auto part = std::min(n - i, (heap_bytes - content.size()) / size);
            const auto from = wire.begin() + static_cast<std::ptrdiff_t>(i * size);
            content.insert(
                content.end(), from, from + static_cast<std::ptrdiff_t>(part * size));
            d_current->input_samples += is_input ? part : 0;
            d_heap_bytes = heap_bytes;
            i += part;
            if (content.size() == heap_bytes)
                complete_heap();
        }
    }
    void abandon_heap()
    {
        if (!d_current)
            return;
        ++heaps_abandoned;
        samples_dropped += d_current->input_samples;
        d_current.reset();
    }
    void skip_to(std::uint64_t timestamp)
    {
        abandon_heap();
        d_timestamp = timestamp;
    }
    //! Ends the run. \p stop_heaps: number of end-of-stream heaps that the input sends.
    //! \p is_partly_sent: part of the unfinished heap has already been sent.
    void end(std::size_t stop_heaps, bool is_partly_sent)
    {
        if (d_current && d_options.tail != "drop") {
            if (d_options.tail == "pad" || is_partly_sent)
                d_current->content.resize(d_heap_bytes);
            complete_heap();
        }
        abandon_heap();
        d_counter += stop_heaps * d_counter_step;
    }

private:
    void begin_heap()
    {
        d_current = {
            d_counter & d_mask, d_timestamp & d_mask, d_destination, values, {}
        };
        d_counter += d_counter_step;
        d_timestamp += d_timestamp_step;
        d_destination = (d_destination + 1) % d_destinations;
    }
    void complete_heap()
    {
        heaps.push_back(std::move(*d_current));
        d_current.reset();
    }

    const sink_options& d_options;
    const std::uint64_t d_mask;
    const std::size_t d_destinations;
    std::optional<expected_heap> d_current;
    std::uint64_t d_counter;
    std::uint64_t d_counter_step;
    std::uint64_t d_timestamp;
    std::uint64_t d_timestamp_step;
    std::uint64_t d_heap_bytes = 0;
    std::size_t d_destination = 0; // of the next heap
};

// Samples of any value. Other tests check their conversion.
template <typename number>
void make_samples(std::uint32_t seed, std::vector<number>& samples)
{
    for (auto& each : samples) {
        seed = seed * 1664525 + 1013904223;
        each = static_cast<number>(seed >> 16);
    }
}

using stop_counts = std::map<std::pair<std::string, std::uint16_t>, std::size_t>;

// An input: its packer and its model.
class packed_input
{
public:
    packed_input(const sink_setup& setup,
                 const stream_config& config,
                 std::size_t slots,
                 std::size_t input,
                 const std::vector<std::vector<endpoint>>& lists)
        : d_setup(setup),
          d_endpoints(lists[lists.size() > 1 ? input : 0]),
          d_drops(setup.options.when_full == "drop"),
          d_converter(config.converter),
          d_stream(config, slots),
          d_model(setup.options, input, d_endpoints.size())
    {
    }

    bool is_done() const
    {
        return d_bytes > max_bytes || d_stream.datagrams.size() > max_datagrams;
    }

    void act(fuzz_input& input)
    {
        auto& packer = d_stream.packer;
        switch (input.up_to(11)) {
        case 0:
            write(nullptr, choose_amount(input));
            break;
        case 1: {
            const auto time = input.number(6);
            packer.skip_to(time);
            d_model.skip_to(time);
            break;
        }
        case 2:
            set_items(input);
            break;
        case 3:
            d_stream.send(input.up_to(20));
            break;
        case 4:
            d_stream.now += std::chrono::milliseconds(input.up_to(700));
            break;
        case 5:
            set_limit(input);
            break;
        case 6: {
            const auto n = input.up_to(9);
            packer.drop(n);
            d_model.samples_in += n;
            d_model.samples_dropped += n;
            break;
        }
        case 7:
            d_stream.send();
            break;
        default: {
            const auto n = choose_amount(input);
            make_input(n, input.byte());
            write(raw(d_in.data()), n);
        }
        }
    }

    //! Ends the run. \p times_out: packets that were not published are dropped.
    //! \p repeats: the end-of-stream heaps are sent again.
    void end(bool times_out, bool repeats, stop_counts& stops)
    {
        auto& packer = d_stream.packer;
        const auto& config = packer.config();
        const auto& zeros = d_stream.counters.samples_zero_filled;
        const auto zeros_before = zeros.get();
        bool has_stops = true;
        if (times_out) {
            has_stops = packer.finish_tail();
            if (has_stops)
                packer.send_stop();
            packer.drop_unpublished();
            d_stream.send();
        } else {
            d_stream.end();
            if (repeats) {
                packer.repeat_stop();
                d_stream.end();
            }
        }
        d_is_lossy = d_is_lossy || times_out;
        const bool is_padded = zeros.get() != zeros_before;
        const auto slots = d_stream.ring.slots();
        check(!is_padded || d_setup.options.tail == "pad" ||
                  !config.is_buffered(config.regular, slots) ||
                  !config.is_buffered(config.first.value_or(config.regular), slots),
              "a buffered heap is not padded");
        d_model.end(has_stops && config.stop ? config.stop_destinations.size() : 0,
                    is_padded);
        check_run(repeats, stops);
        d_checked = d_stream.datagrams.size();
        packer.start_run();
    }

    void check_counters()
    {
        const auto& c = d_stream.counters;
        check(c.samples_in.get() == d_model.samples_in, "input samples are counted");
        check(d_stream.is_balanced(), "each sample is sent or dropped");
        check(d_stream.samples_completed == d_samples_sent,
              "samples of complete heaps count as sent");
        const auto lost = c.samples_dropped.get() + d_stream.samples_abandoned;
        check(lost == d_model.samples_dropped + d_samples_missing,
              "samples that were not sent count as dropped");
        check(c.heaps_dropped.get() + d_stream.heaps_abandoned ==
                  d_model.heaps_abandoned + d_heaps_missing,
              "heaps that were not sent count as dropped");
        check(d_heaps_missing == 0 || d_drops || d_is_lossy,
              "no heap is lost in a blocking, complete run");
    }

private:
    std::uint64_t choose_amount(fuzz_input& input)
    {
        const auto heap = static_cast<std::uint64_t>(d_setup.options.heap_samples);
        const auto n = 1 + input.up_to(input.once_in(4) ? 3 * heap : 100);
        d_bytes += n * d_converter.output_bytes();
        return n;
    }

    // Makes input samples, aligned for any type, and their wire format.
    void make_input(std::uint64_t n, std::uint32_t seed)
    {
        const auto bytes = n * d_converter.input_bytes();
        d_in.resize((bytes + sizeof(float) - 1) / sizeof(float));
        if (d_setup.options.input_type == "float" ||
            d_setup.options.input_type == "complex")
            make_samples(seed, d_in);
        else {
            std::vector<std::uint8_t> all(bytes);
            make_samples(seed, all);
            std::memcpy(d_in.data(), all.data(), bytes);
        }
        d_wire.resize(n * d_converter.output_bytes());
        d_converter.convert(
            reinterpret_cast<std::byte*>(d_wire.data()), raw(d_in.data()), n);
    }

    void write(const std::byte* in, std::uint64_t n)
    {
        if (!in)
            d_wire.assign(n * d_converter.output_bytes(), 0);
        d_model.add_samples(d_wire, n, in);
        auto& packer = d_stream.packer;
        while (n) {
            const auto accepted = in ? packer.write(in, static_cast<std::size_t>(n))
                                     : packer.write(nullptr, n);
            check(accepted <= n, "a write accepts at most the given samples");
            if (in)
                in += accepted * packer.input_bytes();
            n -= accepted;
            if (!accepted)
                make_room();
        }
    }

    void make_room()
    {
        check(!d_drops, "a packer that drops accepts all samples");
        check(d_stream.ring.published() > d_stream.ring.released(),
              "an empty ring has room");
        d_stream.send();
    }

    void set_items(fuzz_input& input)
    {
        const auto& items = d_setup.options.items;
        std::vector<item_update> updates;
        for (std::size_t i = 0; i < items.size() && updates.size() < 3; ++i)
            if (items[i].kind == item_kind::immediate && input.once_in(2)) {
                d_model.values[i] = input.number(2);
                updates.push_back({ i, d_model.values[i] });
            }
        if (!updates.empty())
            d_stream.packer.set_items(updates);
    }

    void set_limit(fuzz_input& input)
    {
        auto& ring = d_stream.ring;
        const auto min_slots = d_stream.packer.config().min_slots_in_use(ring.slots());
        const auto limit = min_slots + input.up_to(100);
        if (!d_drops)
            ring.set_limit(std::min<std::size_t>(limit, ring.slots()));
    }

    const endpoint& endpoint_of(std::size_t number) const
    {
        const auto first = d_stream.packer.config().first_destination;
        check(number >= first && number - first < d_endpoints.size(),
              "a packet goes to a destination of its input");
        return d_endpoints[number - first];
    }

    // Checks that the heaps in the datagrams of the run are those of the model, except
    // for dropped ones.
    void check_run(bool repeats, stop_counts& stops)
    {
        const std::vector<bytes> datagrams(d_stream.datagrams.begin() +
                                               static_cast<std::ptrdiff_t>(d_checked),
                                           d_stream.datagrams.end());
        std::map<std::uint64_t, std::size_t> destinations; // by heap counter
        check_datagrams(datagrams, destinations);

        auto& run = d_model.heaps;
        auto expected = run.begin();
        std::set<std::size_t> described; // destinations
        for (const auto& h : reassemble(datagrams)) {
            const auto& to = endpoint_of(destinations.at(h.counter));
            if (h.is_stop()) {
                if (!d_stops.insert(h.counter).second)
                    check(repeats, "the end of the stream is sent once");
                else
                    ++stops[{ to.host, to.port }];
                continue;
            }
            if (h.is_descriptors()) {
                check(d_setup.options.descriptors == "separate" ||
                          d_setup.options.descriptor_interval > 0,
                      "heaps of descriptors are enabled");
                continue;
            }
            for (; expected != run.end() && expected->counter != h.counter; ++expected)
                count_missing(*expected);
            check(expected != run.end(), "the model has this heap");
            check_heap(h, *expected, to);
            const bool is_first = described.insert(expected->destination).second;
            check(!h.descriptors().empty() ==
                      (is_first && d_setup.options.descriptors == "first_heap"),
                  "the first heap to a destination has descriptors");
            d_samples_sent += expected->input_samples;
            ++expected;
        }
        for (; expected != run.end(); ++expected)
            count_missing(*expected);
        run.clear();
    }

    void check_datagrams(const std::vector<bytes>& datagrams,
                         std::map<std::uint64_t, std::size_t>& destinations)
    {
        const auto& o = d_setup.options;
        for (std::size_t i = 0; i < datagrams.size(); ++i) {
            const auto packet = decode(datagrams[i]);
            const auto to = d_stream.destinations[d_checked + i];
            check(destinations.emplace(packet.get(1), to).first->second == to,
                  "all packets of a heap go to the same destination");
            check(packet.pointers.size() <= 255,
                  "a packet has at most 255 item pointers");
            check(datagrams[i].size() <= d_setup.max_path_packet_bytes,
                  "a packet fits the path");
            check(!o.max_packet_size ||
                      datagrams[i].size() <= static_cast<std::size_t>(o.max_packet_size),
                  "a packet is at most max_packet_size");
        }
    }

    void
    check_heap(const heap& h, const expected_heap& expected, const endpoint& to) const
    {
        const auto& items = d_setup.options.items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const auto id = static_cast<std::uint64_t>(items[i].id);
            switch (items[i].kind) {
            case item_kind::timestamp:
                check(h.immediate(id) == expected.timestamp, "a heap has its timestamp");
                break;
            case item_kind::immediate:
                check(h.immediate(id) == expected.values[i],
                      "a heap has its item values");
                break;
            case item_kind::samples:
                check(h.content(id) == expected.content, "a heap has its samples");
            }
        }
        const auto& destination = d_endpoints[expected.destination];
        check(to.host == destination.host && to.port == destination.port,
              "a heap goes to its destination");
    }

    void count_missing(const expected_heap& heap)
    {
        ++d_heaps_missing;
        d_samples_missing += heap.input_samples;
    }

    const sink_setup& d_setup;
    const std::vector<endpoint>& d_endpoints;
    const bool d_drops;
    sample_converter d_converter;
    packed_stream d_stream;
    packer_model d_model;
    std::vector<float> d_in;
    bytes d_wire;
    std::uint64_t d_bytes = 0;
    std::size_t d_checked = 0; // datagrams
    bool d_is_lossy = false;
    std::set<std::uint64_t> d_stops; // heap counters
    std::uint64_t d_samples_sent = 0;
    std::uint64_t d_samples_missing = 0;
    std::uint64_t d_heaps_missing = 0;
};

// Gives each host an address of its own.
std::vector<boost::asio::ip::udp::endpoint>
addresses_of(const std::vector<std::vector<endpoint>>& lists)
{
    std::vector<boost::asio::ip::udp::endpoint> addresses;
    std::map<std::string, boost::asio::ip::address_v4::uint_type> hosts;
    for (const auto& list : lists)
        for (const auto& each : list) {
            const auto next = hosts.size();
            const auto host = hosts.emplace(each.host, next).first->second;
            addresses.emplace_back(boost::asio::ip::address_v4(host), each.port);
        }
    return addresses;
}

void run_streams(fuzz_input& input, const sink_setup& setup)
{
    std::vector<std::vector<endpoint>> endpoints;
    std::vector<stream_config> configs;
    std::vector<std::size_t> slots;
    try {
        const auto sink = parse_options(setup.destinations, setup.options);
        endpoints = sink.destinations;
        configs = make_stream_configs(
            sink, addresses_of(endpoints), setup.max_path_packet_bytes);
        for (const auto& config : configs)
            slots.push_back(ring_slots(sink, config));
    } catch (const parameter_error&) {
        return;
    }
    for (std::size_t i = 0; i < configs.size(); ++i)
        if (configs[i].regular.total_sample_bytes() > max_heap_bytes ||
            slots[i] * configs[i].regular.packet_bytes() > max_ring_bytes)
            return;
    std::vector<std::unique_ptr<packed_input>> inputs;
    for (std::size_t i = 0; i < configs.size(); ++i)
        inputs.push_back(
            std::make_unique<packed_input>(setup, configs[i], slots[i], i, endpoints));
    bool is_done = false;
    do {
        while (!input.empty() && !input.once_in(40) && !is_done) {
            auto& each = *inputs[input.up_to(inputs.size() - 1)];
            each.act(input);
            is_done = each.is_done();
        }
        const bool times_out = input.once_in(4);
        const bool repeats = !times_out && input.once_in(4);
        stop_counts stops;
        for (auto& each : inputs)
            each->end(times_out, repeats, stops);
        std::set<std::pair<std::string, std::uint16_t>> all;
        for (const auto& list : endpoints)
            for (const auto& each : list)
                all.emplace(each.host, each.port);
        check(times_out || stops.size() == (setup.options.send_stop ? all.size() : 0),
              "each destination receives the end of the stream");
        for (const auto& each : stops)
            check(each.second == 1, "a destination receives one end of the stream");
    } while (!input.empty() && !is_done);
    for (auto& each : inputs)
        each->check_counters();
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    auto setup = choose_setup(input);
    if (input.once_in(8))
        change_option(input, setup);
    run_streams(input, setup);
    return 0;
}
