/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Packs samples with valid and invalid options. Decodes the packets with an independent
// decoder, and checks that the heaps account for all samples.

#include "fuzz_input.h"
#include "helpers/packing.h"
#include "make_packer_configs.h"
#include "support/parameter_error.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
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

void choose_items(fuzz_input& input, sink_options& options)
{
    const auto choose_text = [&](std::string name) {
        return input.once_in(16) ? std::string(input.up_to(80), 'n') : std::move(name);
    };
    auto& items = options.items;
    items = { { item_kind::samples, 0x3300, "samples", choose_text("") } };
    if (!input.once_in(8))
        items.push_back({ item_kind::timestamp, 0x1600, "time", choose_text("when") });
    for (auto n = input.once_in(32) ? input.up_to(260) : input.up_to(3); n; --n) {
        const auto number = items.size();
        item new_item{ item_kind::immediate,
                       0x3100 + static_cast<std::int64_t>(number),
                       "item " + choose_text(std::to_string(number)),
                       choose_text("") };
        const bool has_value_per_input = input.once_in(2);
        for (auto i = has_value_per_input ? options.num_inputs : 1; i > 0; --i)
            new_item.values.push_back(static_cast<std::int64_t>(input.number(5)));
        const auto at = static_cast<std::ptrdiff_t>(input.up_to(number));
        items.insert(items.begin() + at, std::move(new_item));
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
    const bool has_16_bits = o.input_type == "int16" || o.input_type == "sc16";
    if ((is_float || has_16_bits) && input.once_in(4)) {
        o.wire_type = input.one_of({ "i10", "i12" });
        o.heap_samples = 4 * o.heap_samples;
    }
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
    const std::function<void()> changes[] = {
        [&] { o.heap_samples = value; },
        [&] { o.max_packet_size = value; },
        [&] { o.heap_address_bits = value; },
        [&] { o.heap_id_start = value; },
        [&] { o.heap_id_step = value; },
        [&] { o.timestamp_start = value; },
        [&] { o.timestamp_step = value; },
        [&] { o.buffer_size = value; },
        [&] { o.scale = static_cast<double>(value) * 1e-9; },
        [&] { some.id = value; },
        [&] {
            some.name = input.one_of({ "", "time", "samples" });
        },
        [&] { some.values.assign(input.up_to(4), value); },
        [&] { items.push_back(item(some)); },
        [&] { o.num_inputs = value; },
        [&] {
            o.descriptor_interval = input.one_of({ 1e300, -1.0, 1e-9 });
        },
        [&] { setup.max_path_packet_bytes = input.up_to(65507); },
        [&] {
            setup.destinations.push_back(input.one_of({ "10.0.0.0+4095:1", "a", "b:1" }));
        },
        [&] {
            for (auto* text : { &o.input_type, &o.wire_type, &o.tail, &o.descriptors })
                if (input.once_in(2))
                    *text =
                        input.one_of({ "none", "<i2", "float", "drop", "int16", "i1" });
        },
    };
    changes[input.up_to(std::size(changes) - 1)]();
}

using address = boost::asio::ip::udp::endpoint;
using address_list = std::vector<address>;

// An input: its packer, and what each heap must contain. Heaps are numbered from 0,
// without those that end a stream.
class packed_input
{
public:
    packed_input(const sink_setup& setup,
                 const packer_config& config,
                 std::size_t slots,
                 const address_list& addresses)
        : d_setup(setup),
          d_config(config),
          d_addresses(addresses),
          d_mask((std::uint64_t{ 1 } << setup.options.heap_address_bits) - 1),
          d_is_lossy(config.when_full == full_policy::drop),
          d_stream(config, slots),
          d_first_counter(config.heap_id_start),
          d_times{ { 0, config.timestamp_start } }
    {
    }

    bool is_done() const
    {
        return d_bytes > max_bytes ||
               d_datagrams + d_stream.datagrams.size() > max_datagrams;
    }

    void act(fuzz_input& input)
    {
        const auto choice = input.up_to(11);
        switch (choice) {
        case 1:
            end_heap();
            ++d_max_heaps_lost;
            d_times[next_heap()] = input.number(6);
            return d_stream.packer.skip_to(d_times[next_heap()]);
        case 2:
            return set_items(input);
        case 3:
            return d_stream.send(input.up_to(20));
        case 4:
            d_stream.now += std::chrono::milliseconds(input.up_to(700));
            return;
        case 5: {
            auto& ring = d_stream.ring;
            const auto limit = d_config.min_slots_in_use(ring.slots()) + input.up_to(100);
            if (d_config.when_full == full_policy::block)
                ring.set_limit(std::min<std::size_t>(limit, ring.slots()));
            return;
        }
        case 6: {
            const auto n = input.up_to(9);
            d_samples_in += n;
            return d_stream.packer.drop(n);
        }
        case 7:
            return d_stream.send();
        }
        const auto heap = d_config.heap_samples();
        const auto n = 1 + input.up_to(input.once_in(4) ? 3 * heap : 100);
        write(n, choice ? std::optional(input.byte()) : std::nullopt);
    }

    //! Ends the run. \p times_out: packets that were not published are dropped.
    //! \p repeats: the end-of-stream heaps are sent again.
    void end(bool times_out, bool repeats, std::set<address>& ended)
    {
        auto& packer = d_stream.packer;
        const auto& zeros = d_stream.counters.samples_zero_filled;
        const auto zeros_before = zeros.get();
        bool has_end = true;
        if (times_out) {
            has_end = packer.finish_tail();
            if (has_end)
                packer.pack_stop_heaps();
            packer.drop_unpublished();
            d_stream.send();
        } else {
            d_stream.end();
            if (repeats) {
                packer.repeat_stop_heaps();
                d_stream.end();
            }
        }
        d_is_lossy = d_is_lossy || times_out;
        d_max_heaps_lost += d_config.tail == tail_policy::drop;
        d_written.resize(d_written.size() +
                         (zeros.get() - zeros_before) * sample_bytes());
        const auto ends = check_run(repeats, ended);
        if (has_end && d_config.stop)
            d_first_counter += d_config.stop_destinations.size() * d_config.heap_id_step;
        check(times_out || !d_config.stop || ends == d_config.stop_destinations.size(),
              "each end of the stream is sent");
        end_heap();
        const auto& c = d_stream.counters;
        check(c.samples_in.get() == d_samples_in, "input samples are counted");
        check(d_stream.is_balanced(), "each sample is sent or dropped");
        check(d_stream.heaps_completed == d_heaps_sent, "complete heaps are counted");
        const auto lost = c.heaps_dropped.get() + d_stream.heaps_abandoned;
        check(next_heap() == d_heaps_sent + lost, "each lost heap is counted");
        check(d_is_lossy || lost <= d_max_heaps_lost,
              "only a heap that cannot be completed is lost");
        packer.start_run();
    }

private:
    std::size_t sample_bytes() const { return d_config.converter.input_bytes(); }
    std::uint64_t heap_bytes() const { return d_config.heap_samples() * sample_bytes(); }
    // The number of the heap after the unfinished one, if there is any.
    std::uint64_t next_heap() const
    {
        return (d_written.size() + heap_bytes() - 1) / heap_bytes();
    }
    void end_heap() { d_written.resize(next_heap() * heap_bytes()); }

    // Writes samples made from a seed, or zeros without one.
    void write(std::uint64_t n, std::optional<std::uint32_t> seed)
    {
        bytes samples(n * sample_bytes());
        if (seed) {
            std::generate(samples.begin(), samples.end(), [&] {
                *seed = *seed * 1664525 + 1013904223;
                return static_cast<std::uint8_t>(*seed >> 16);
            });
            d_stream.write_all(samples);
            d_samples_in += n;
        } else {
            d_stream.write_all_zeros(n);
        }
        d_bytes += samples.size();
        d_written.insert(d_written.end(), samples.begin(), samples.end());
    }

    void set_items(fuzz_input& input)
    {
        const auto& items = d_setup.options.items;
        std::vector<item_update> updates;
        for (std::size_t i = 0; i < items.size() && updates.size() < 3; ++i)
            if (items[i].kind == item_kind::immediate && input.once_in(2)) {
                updates.push_back({ i, input.number(2) });
                d_values[i][next_heap()] = updates.back().value;
            }
        if (!updates.empty())
            d_stream.packer.set_items(updates);
    }

    // Checks the packets of the run. Returns how many end-of-stream heaps it has.
    std::size_t check_run(bool repeats, std::set<address>& ended)
    {
        const auto destinations = check_datagrams();
        std::set<std::uint64_t> ends;    // heap counters
        std::set<std::size_t> described; // destinations
        for (const auto& h : reassemble(d_stream.datagrams)) {
            const auto destination = destinations.at(h.counter);
            if (h.is_descriptors())
                continue;
            if (!h.is_stop()) {
                check(ends.empty(), "the end of the stream is last");
                check_heap(h, destination);
                check(h.descriptors().empty() !=
                          (d_config.first && described.insert(destination).second),
                      "the first heap to a destination has descriptors");
            } else if (ends.insert(h.counter).second) {
                check(number_of(h) == next_heap() + ends.size() - 1,
                      "an end uses one heap counter");
                check(ended.insert(d_addresses.at(destination)).second,
                      "a destination receives one end of the stream");
            } else {
                check(repeats, "the end of the stream is sent once");
            }
        }
        d_datagrams += d_stream.datagrams.size();
        d_stream.datagrams.clear();
        d_stream.destinations.clear();
        return ends.size();
    }

    // Returns the destinations by heap counter.
    std::map<std::uint64_t, std::size_t> check_datagrams() const
    {
        std::map<std::uint64_t, std::size_t> destinations;
        const auto max_size = static_cast<std::size_t>(d_setup.options.max_packet_size);
        for (std::size_t i = 0; i < d_stream.datagrams.size(); ++i) {
            const auto& datagram = d_stream.datagrams[i];
            const std::size_t destination = d_stream.destinations[i];
            check(destinations.emplace(decode(datagram).get(1), destination)
                          .first->second == destination,
                  "all packets of a heap go to the same destination");
            check(datagram.size() <= d_setup.max_path_packet_bytes &&
                      (!max_size || datagram.size() <= max_size),
                  "a packet is small enough for the path and max_packet_size");
        }
        return destinations;
    }

    std::uint64_t number_of(const heap& h) const
    {
        const auto distance = (h.counter - d_first_counter) & d_mask;
        check(distance % d_config.heap_id_step == 0, "heap counters have the same step");
        return distance / d_config.heap_id_step;
    }

    void check_heap(const heap& h, std::size_t destination)
    {
        const auto number = number_of(h);
        check(number >= d_min_number && number < next_heap(),
              "heap counters are consecutive, unless a heap is lost");
        d_min_number = number + 1;
        ++d_heaps_sent;
        check(destination == d_config.first_destination + number % d_config.destinations,
              "destinations take turns");
        const auto& items = d_setup.options.items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const auto id = static_cast<std::uint64_t>(items[i].id);
            if (items[i].kind == item_kind::samples) {
                check_samples(h.content(id).value(), number);
            } else if (items[i].kind == item_kind::timestamp) {
                const auto [first, time] = *std::prev(d_times.upper_bound(number));
                const auto expected = time + (number - first) * d_config.timestamp_step;
                check(h.immediate(id) == (expected & d_mask), "a heap has its timestamp");
            } else {
                const auto value = h.immediate(id);
                auto& values = d_values[i];
                if (values.upper_bound(number) == values.begin())
                    values[0] = value; // the initial value
                check(std::prev(values.upper_bound(number))->second == value,
                      "an item keeps its value until it is set");
            }
        }
    }

    void check_samples(const bytes& content, std::uint64_t number) const
    {
        const auto begin = number * heap_bytes();
        const auto size = std::min(heap_bytes(), d_written.size() - begin);
        check(size == heap_bytes() || d_config.tail == tail_policy::shorten,
              "a heap is complete");
        // zeros complete the last group
        const auto& group = d_config.converter.group();
        auto samples = size / sample_bytes();
        bytes expected(d_written.data() + begin, d_written.data() + begin + size);
        while (group.whole(samples) != samples)
            expected.resize(++samples * sample_bytes());
        bytes wire(group.bytes_of(samples));
        d_config.converter.convert(
            reinterpret_cast<std::byte*>(wire.data()), raw(expected.data()), samples);
        check(content == wire, "samples are sent unchanged, in order and once");
    }

    const sink_setup& d_setup;
    const packer_config d_config;
    const address_list& d_addresses;
    const std::uint64_t d_mask;
    bool d_is_lossy;
    packed_stream d_stream;
    std::uint64_t d_bytes = 0; // written
    std::uint64_t d_samples_in = 0;
    std::uint64_t d_max_heaps_lost = 0; // unless lossy
    std::size_t d_datagrams = 0;        // of the earlier runs
    std::uint64_t d_first_counter;      // of heap 0, as if no stream had ended
    std::uint64_t d_min_number = 0;     // of the next heap that was sent
    std::uint64_t d_heaps_sent = 0;
    bytes d_written; // the samples of all heaps
    using first_heap = std::uint64_t;
    std::map<first_heap, std::uint64_t> d_times; // timestamps after jumps
    std::map<std::size_t, std::map<first_heap, std::uint64_t>> d_values; // of the items
};

// Another address for each host.
boost::asio::ip::address_v4 address_of(const std::string& host)
{
    const auto number = std::hash<std::string>()(host);
    return boost::asio::ip::address_v4(static_cast<std::uint32_t>(number));
}

void run_streams(fuzz_input& input, const sink_setup& setup)
{
    address_list addresses;
    std::vector<std::unique_ptr<packed_input>> inputs;
    try {
        const auto sink = parse_options(setup.destinations, setup.options);
        for (const auto& list : sink.destinations)
            for (const auto& endpoint : list)
                addresses.emplace_back(address_of(endpoint.host), endpoint.port);
        const auto configs =
            make_packer_configs(sink, addresses, setup.max_path_packet_bytes);
        for (const auto& config : configs) {
            const auto slots = ring_slots(sink, config);
            if (config.regular.total_sample_bytes() > max_heap_bytes ||
                slots * config.regular.packet_bytes() > max_ring_bytes)
                return;
            inputs.push_back(
                std::make_unique<packed_input>(setup, config, slots, addresses));
        }
    } catch (const parameter_error&) {
        return;
    }
    bool is_done = false;
    do {
        while (!input.empty() && !input.once_in(40) && !is_done) {
            auto& stream = *inputs[input.up_to(inputs.size() - 1)];
            stream.act(input);
            is_done = stream.is_done();
        }
        const bool times_out = input.once_in(4);
        const bool repeats = !times_out && input.once_in(4);
        std::set<address> ended;
        for (auto& stream : inputs)
            stream->end(times_out, repeats, ended);
        const std::set<address> all(addresses.begin(), addresses.end());
        check(times_out || ended.size() == (setup.options.send_stop ? all.size() : 0),
              "each destination receives the end of the stream");
    } while (!input.empty() && !is_done);
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
