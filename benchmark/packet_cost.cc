/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The CPU time that a datagram can cost a source, whatever it contains: of usual packets,
// and of those that a sender could make up to keep the receiving thread busy. Each run
// repeats the same packets; the time of a packet is the shortest of all runs, so that
// interrupts do not count, and the figure of a scenario is that of its slowest packet.

#include "helpers/receive_stream.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace gr::spead;

namespace {

using clock_type = std::chrono::steady_clock;

constexpr int runs = 30;
constexpr std::size_t most_datagram_bytes = 65507;
constexpr wire::flavour flavour{ 48 };

struct scenario {
    std::string name;
    receive_stream::options options;
    std::vector<packet_bytes> packets;
    bool gives_samples = true; // after each packet, as a flow graph that is fast does
};

packet_bytes noise(std::size_t bytes)
{
    std::mt19937 random(1);
    packet_bytes all(bytes);
    for (auto& each : all)
        each = static_cast<std::byte>(random());
    return all;
}

std::vector<std::uint64_t> required(std::uint64_t counter,
                                    std::uint64_t length,
                                    std::uint64_t offset,
                                    std::uint64_t bytes)
{
    return { flavour.immediate(wire::heap_counter, counter),
             flavour.immediate(wire::heap_length, length),
             flavour.immediate(wire::payload_offset, offset),
             flavour.immediate(wire::payload_length, bytes) };
}

std::vector<std::uint64_t> placed(std::uint64_t counter,
                                  std::uint64_t time,
                                  std::uint64_t length,
                                  std::uint64_t offset,
                                  std::uint64_t bytes)
{
    auto pointers = required(counter, length, offset, bytes);
    pointers.push_back(flavour.immediate(0x1600, time));
    pointers.push_back(flavour.addressed(0x3300, 0));
    return pointers;
}

// Heaps in the manner of spead2: items in the first packet.
std::vector<packet_bytes> heaps(std::size_t heap, std::size_t payload, std::size_t bytes)
{
    std::vector<packet_bytes> all;
    const auto content = noise(heap);
    heap_cutter cutter;
    cutter.payload = payload;
    cutter.repeats_pointers = false;
    for (std::size_t i = 0; i * heap < bytes; ++i)
        for (auto& each : cutter.cut(
                 i,
                 { flavour.immediate(0x1600, i * heap), flavour.addressed(0x3300, 0) },
                 content))
            all.push_back(std::move(each));
    return all;
}

scenario usual(const std::string& name, std::size_t heap, std::size_t payload)
{
    return { name, {}, heaps(heap, payload, 1 << 20) };
}

std::shared_ptr<stream_format> many_immediates()
{
    auto format = std::make_shared<stream_format>();
    for (std::uint64_t i = 0; i < max_described_immediates; ++i)
        format->immediates.push_back(
            { 0x4000 + i, "item" + std::to_string(i), { 'u', 0 } });
    return format;
}

// As many item pointers as a packet may have.
scenario many_items(const std::string& name,
                    const std::function<std::uint64_t(int)>& item)
{
    scenario is{ name, {}, {} };
    is.options.format = many_immediates();
    for (std::uint64_t heap = 0; heap < 8; ++heap) {
        auto pointers = placed(heap, heap * 64, 64, 0, 64);
        for (int i = 0; pointers.size() < max_packet_items; ++i)
            pointers.push_back(item(i));
        is.packets.push_back(packet_of(pointers, noise(64)));
    }
    return is;
}

packet_bytes descriptor(const std::string& header, std::size_t bytes, std::uint64_t id)
{
    packet_bytes content;
    for (const auto character : header)
        content.push_back(static_cast<std::byte>(character));
    content.resize(std::max(content.size(), bytes), std::byte{ ' ' });
    auto pointers = required(1, content.size(), 0, content.size());
    pointers.push_back(flavour.immediate(0x14, id));
    pointers.push_back(flavour.addressed(0x15, 0));
    return packet_of(pointers, content);
}

scenario descriptors(const std::string& name,
                     std::size_t number,
                     const std::string& header,
                     std::size_t bytes)
{
    scenario is{ name, {}, {} };
    is.options.format = nullptr;
    std::vector<std::uint64_t> pointers;
    packet_bytes content;
    for (std::size_t i = 0; i < number; ++i) {
        const auto packet = descriptor(header, bytes, 0x3300 + i);
        if (content.size() + packet.size() + 8 * (i + 8) > most_datagram_bytes)
            break;
        pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
        content.insert(content.end(), packet.begin(), packet.end());
    }
    auto all = required(1, content.size(), 0, content.size());
    all.insert(all.end(), pointers.begin(), pointers.end());
    is.packets.push_back(packet_of(all, content));
    return is;
}

// The first packet of a heap comes behind all others.
scenario waiting()
{
    scenario is{ "2000 packets wait for the first one", {}, {} };
    constexpr std::size_t payload = 400, number = 2000;
    const auto bytes = noise(payload);
    for (std::size_t i = 1; i < number; ++i)
        is.packets.push_back(
            packet_of(required(1, payload * number, payload * i, payload), bytes));
    is.packets.push_back(packet_of(placed(1, 0, payload * number, 0, payload), bytes));
    return is;
}

// The same, where the heaps of other sockets may be earlier.
scenario beginning()
{
    auto is = waiting();
    is.name = "2000 packets before a stream of two sockets begins";
    is.options.sockets = 2;
    for (std::size_t i = 0; i < is.packets.size(); ++i)
        is.packets[i] = packet_of(placed(i, i * 400, 400, 0, 400), noise(400));
    return is;
}

// Every other sample, and then those in between.
scenario missing()
{
    scenario is{ "4000 missing ranges", {}, {}, false };
    constexpr std::size_t length = 8000;
    for (std::size_t i = 1; i < length; i += 2)
        is.packets.push_back(packet_of(placed(1, 0, length, i, 1), noise(1)));
    for (std::size_t i = 2; i < length; i += 2)
        is.packets.push_back(packet_of(placed(1, 0, length, i, 1), noise(1)));
    return is;
}

// 32 items change their values with each heap, and the second heap is missing.
scenario changes()
{
    scenario is{ "250 changes of 32 items wait", {}, {}, false };
    is.options.format = many_immediates();
    for (std::size_t i = 0; i < 250; ++i) {
        auto pointers = placed(i, i + (i ? 1 : 0), 1, 0, 1);
        for (std::uint64_t k = 0; k < max_described_immediates; ++k)
            pointers.push_back(flavour.immediate(0x4000 + k, i));
        is.packets.push_back(packet_of(pointers, noise(1)));
    }
    return is;
}

struct cost {
    std::vector<double> take, go_on; // us, of each packet
};

template <typename function>
double us_of(function&& work)
{
    const auto began = clock_type::now();
    work();
    return std::chrono::duration<double, std::micro>(clock_type::now() - began).count();
}

// What a packet leaves to be done later: the time of the longest part.
double longest_of_rest(receive_stream& stream)
{
    double longest = 0;
    do {
        bool is_done = false;
        longest = std::max(longest,
                           us_of([&] { is_done = stream.assembler.resume(stream.now); }));
        if (!is_done)
            stream.produce(true);
    } while (stream.assembler.has_more());
    return longest;
}

cost run(const scenario& what)
{
    cost is;
    receive_stream stream(what.options);
    for (const auto& each : what.packets) {
        stream.now += std::chrono::microseconds(10);
        bool is_done = false;
        const auto take = [&] {
            is_done = stream.assembler.place_packet({ each.data(), each.size(), 0, 1 },
                                                    stream.now);
        };
        is.take.push_back(us_of(take));
        if (!is_done) {
            stream.produce(true);
            is.take.back() = std::max(is.take.back(), us_of(take));
        }
        is.go_on.push_back(longest_of_rest(stream));
        if (what.gives_samples)
            stream.produce(false);
    }
    stream.now += std::chrono::milliseconds(20);
    is.take.push_back(0);
    is.go_on.push_back(longest_of_rest(stream));
    return is;
}

void measure(const scenario& what)
{
    auto least = run(what);
    for (int i = 1; i < runs; ++i) {
        const auto next = run(what);
        for (std::size_t k = 0; k < least.take.size(); ++k) {
            least.take[k] = std::min(least.take[k], next.take[k]);
            least.go_on[k] = std::min(least.go_on[k], next.go_on[k]);
        }
    }
    const auto most = [](const auto& of) {
        return *std::max_element(of.begin(), of.end());
    };
    std::printf(
        "%-52s %8.2f %8.2f\n", what.name.c_str(), most(least.take), most(least.go_on));
}

} // namespace

int main()
{
    std::printf("%-52s %8s %8s\n", "us for the slowest packet", "at once", "later");
    measure(usual("heaps of 64 KiB in packets of 1472", 65536, 1424));
    measure(usual("heaps of 8 KiB in packets of 8972", 8192, 8192));
    measure(usual("datagrams of 64 KiB", 65000, 65000));
    measure(many_items("514 items that nobody knows", [](int i) {
        return flavour.immediate(0x5000 + static_cast<std::uint64_t>(i), 1);
    }));
    measure(many_items("514 items that give values", [](int i) {
        return flavour.immediate(0x4000 + static_cast<std::uint64_t>(i) % 32, 1);
    }));
    measure(many_items("514 items that give values in the payload", [](int i) {
        return flavour.addressed(0x4000 + static_cast<std::uint64_t>(i) % 32,
                                 static_cast<std::uint64_t>(i) % 56);
    }));
    measure(descriptors("250 descriptors", 250, "{'descr': '|i1'}", 20));
    measure(descriptors("4 descriptors of 16 KB", 4, "{'descr': '|i1'}", 16000));
    measure(
        descriptors("4 descriptors of 16 KB of brackets", 4, std::string(16000, '('), 0));
    measure(
        descriptors("4 descriptors of 16 KB of quotes", 4, std::string(16000, '\''), 0));
    measure(waiting());
    measure(beginning());
    measure(missing());
    measure(changes());
}
