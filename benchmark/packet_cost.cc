/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Measures the worst-case CPU time per datagram of a source, for ordinary packets and for
// packets that a hostile sender could craft. Each run repeats the same packets. The time
// of a packet is the minimum over all runs, to exclude interrupts; the result of a
// scenario is the time of its slowest packet.

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
constexpr std::size_t max_datagram_bytes = 65507;
constexpr wire::flavour flavour{ 48 };

struct scenario {
    std::string name;
    receive_stream::options options;
    std::vector<packet_bytes> packets;
    bool outputs_samples = true; // after each packet, like a fast flow graph
};

packet_bytes noise(std::size_t bytes)
{
    std::mt19937 random(1);
    packet_bytes content(bytes);
    for (auto& byte : content)
        byte = static_cast<std::byte>(random());
    return content;
}

std::vector<std::uint64_t> heap_pointers(std::uint64_t counter,
                                         std::uint64_t length,
                                         std::uint64_t offset,
                                         std::uint64_t bytes)
{
    return { flavour.immediate(wire::heap_counter, counter),
             flavour.immediate(wire::heap_length, length),
             flavour.immediate(wire::payload_offset, offset),
             flavour.immediate(wire::payload_length, bytes) };
}

std::vector<std::uint64_t> sample_pointers(std::uint64_t counter,
                                           std::uint64_t time,
                                           std::uint64_t length,
                                           std::uint64_t offset,
                                           std::uint64_t bytes)
{
    auto pointers = heap_pointers(counter, length, offset, bytes);
    pointers.push_back(flavour.immediate(0x1600, time));
    pointers.push_back(flavour.addressed(0x3300, 0));
    return pointers;
}

// Heaps like those of spead2, with the items in the first packet.
std::vector<packet_bytes> heaps(std::size_t heap, std::size_t payload, std::size_t bytes)
{
    std::vector<packet_bytes> packets;
    const auto content = noise(heap);
    heap_cutter cutter;
    cutter.payload = payload;
    cutter.repeats_pointers = false;
    for (std::size_t i = 0; i * heap < bytes; ++i)
        for (auto& packet : cutter.cut(
                 i,
                 { flavour.immediate(0x1600, i * heap), flavour.addressed(0x3300, 0) },
                 content))
            packets.push_back(std::move(packet));
    return packets;
}

scenario ordinary(const std::string& name, std::size_t heap, std::size_t payload)
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

// Packets with the maximum number of item pointers.
scenario many_items(const std::string& name,
                    const std::function<std::uint64_t(int)>& item)
{
    scenario result{ name, {}, {} };
    result.options.format = many_immediates();
    for (std::uint64_t heap = 0; heap < 8; ++heap) {
        auto pointers = sample_pointers(heap, heap * 64, 64, 0, 64);
        for (int i = 0; pointers.size() < max_packet_items; ++i)
            pointers.push_back(item(i));
        result.packets.push_back(packet_of(pointers, noise(64)));
    }
    return result;
}

packet_bytes descriptor(const std::string& header, std::size_t bytes, std::uint64_t id)
{
    packet_bytes content;
    for (const auto character : header)
        content.push_back(static_cast<std::byte>(character));
    content.resize(std::max(content.size(), bytes), std::byte{ ' ' });
    auto pointers = heap_pointers(1, content.size(), 0, content.size());
    pointers.push_back(flavour.immediate(0x14, id));
    pointers.push_back(flavour.addressed(0x15, 0));
    return packet_of(pointers, content);
}

scenario descriptors(const std::string& name,
                     std::size_t number,
                     const std::string& header,
                     std::size_t bytes)
{
    scenario result{ name, {}, {} };
    result.options.format = nullptr;
    std::vector<std::uint64_t> pointers;
    packet_bytes content;
    for (std::size_t i = 0; i < number; ++i) {
        const auto packet = descriptor(header, bytes, 0x3300 + i);
        if (content.size() + packet.size() + 8 * (i + 8) > max_datagram_bytes)
            break;
        pointers.push_back(flavour.addressed(wire::descriptor, content.size()));
        content.insert(content.end(), packet.begin(), packet.end());
    }
    auto all_pointers = heap_pointers(1, content.size(), 0, content.size());
    all_pointers.insert(all_pointers.end(), pointers.begin(), pointers.end());
    result.packets.push_back(packet_of(all_pointers, content));
    return result;
}

// The first packet of a heap, which has the items, arrives last.
scenario first_packet_last()
{
    scenario result{ "2000 packets wait for the first one", {}, {} };
    constexpr std::size_t payload = 400, number = 2000;
    const auto bytes = noise(payload);
    for (std::size_t i = 1; i < number; ++i)
        result.packets.push_back(
            packet_of(heap_pointers(1, payload * number, payload * i, payload), bytes));
    result.packets.push_back(
        packet_of(sample_pointers(1, 0, payload * number, 0, payload), bytes));
    return result;
}

// The source delays the start of the stream: another socket may have earlier heaps.
scenario stream_start()
{
    auto result = first_packet_last();
    result.name = "2000 packets before a stream of two sockets begins";
    result.options.sockets = 2;
    for (std::size_t i = 0; i < result.packets.size(); ++i)
        result.packets[i] =
            packet_of(sample_pointers(i, i * 400, 400, 0, 400), noise(400));
    return result;
}

// Each heap waits for another one that agrees with its time. In the end, one does.
scenario held_heaps()
{
    scenario result{ "1000 heaps of other times, then one that agrees", {}, {} };
    const auto add = [&](std::uint64_t counter, std::uint64_t time) {
        result.packets.push_back(
            packet_of(sample_pointers(counter, time, 400, 0, 400), noise(400)));
    };
    for (std::uint64_t i = 0; i < 4; ++i)
        add(i, i * 400);
    for (std::uint64_t i = 0; i < 1000; ++i)
        add(10 + i, (1 << 24) + i * 100000);
    add(1010, (1 << 24) + 999 * 100000 + 400);
    return result;
}

// Every other sample, then the samples in between.
scenario every_other_sample()
{
    scenario result{ "4000 missing ranges", {}, {}, false };
    constexpr std::size_t length = 8000;
    for (std::size_t i = 1; i < length; i += 2)
        result.packets.push_back(
            packet_of(sample_pointers(1, 0, length, i, 1), noise(1)));
    for (std::size_t i = 2; i < length; i += 2)
        result.packets.push_back(
            packet_of(sample_pointers(1, 0, length, i, 1), noise(1)));
    return result;
}

// 32 items change with each heap, and the second heap is missing.
scenario item_changes()
{
    scenario result{ "250 changes of 32 items wait", {}, {}, false };
    result.options.format = many_immediates();
    for (std::size_t i = 0; i < 250; ++i) {
        auto pointers = sample_pointers(i, i + (i ? 1 : 0), 1, 0, 1);
        for (std::uint64_t k = 0; k < max_described_immediates; ++k)
            pointers.push_back(flavour.immediate(0x4000 + k, i));
        result.packets.push_back(packet_of(pointers, noise(1)));
    }
    return result;
}

template <typename function>
double microseconds(function&& work)
{
    const auto start = clock_type::now();
    work();
    return std::chrono::duration<double, std::micro>(clock_type::now() - start).count();
}

// The time of each packet, and at the end that of what still waits.
std::vector<double> run(const scenario& tested)
{
    std::vector<double> times;
    receive_stream stream(tested.options);
    for (const auto& packet : tested.packets) {
        stream.now += std::chrono::microseconds(10);
        times.push_back(microseconds([&] {
            stream.router.add_datagram({ packet.data(), packet.size(), 0, 1 },
                                       stream.now);
        }));
        while (stream.router.waits_for_room()) {
            stream.produce(true);
            times.back() = std::max(
                times.back(), microseconds([&] { stream.router.resume(stream.now); }));
        }
        if (tested.outputs_samples)
            stream.produce(false);
    }
    stream.now += std::chrono::milliseconds(20);
    times.push_back(microseconds([&] { stream.router.resume(stream.now); }));
    return times;
}

void measure(const scenario& tested)
{
    auto times = run(tested);
    for (int i = 1; i < runs; ++i) {
        const auto next = run(tested);
        for (std::size_t k = 0; k < times.size(); ++k)
            times[k] = std::min(times[k], next[k]);
    }
    std::printf("%-52s %8.2f\n",
                tested.name.c_str(),
                *std::max_element(times.begin(), times.end()));
}

} // namespace

int main()
{
    std::printf("%-52s %8s\n", "slowest packet", "us");
    measure(ordinary("heaps of 64 KiB in packets of 1472", 65536, 1424));
    measure(ordinary("heaps of 8 KiB in packets of 8972", 8192, 8192));
    measure(ordinary("datagrams of 64 KiB", 65000, 65000));
    measure(many_items("514 unknown items", [](int i) {
        return flavour.immediate(0x5000 + static_cast<std::uint64_t>(i), 1);
    }));
    measure(many_items("514 immediate values", [](int i) {
        return flavour.immediate(0x4000 + static_cast<std::uint64_t>(i) % 32, 1);
    }));
    measure(many_items("514 values in the payload", [](int i) {
        return flavour.addressed(0x4000 + static_cast<std::uint64_t>(i) % 32,
                                 static_cast<std::uint64_t>(i) % 56);
    }));
    measure(descriptors("250 descriptors", 250, "{'descr': '|i1'}", 20));
    measure(descriptors("4 descriptors of 16 KB", 4, "{'descr': '|i1'}", 16000));
    measure(
        descriptors("4 descriptors of 16 KB of brackets", 4, std::string(16000, '('), 0));
    measure(
        descriptors("4 descriptors of 16 KB of quotes", 4, std::string(16000, '\''), 0));
    measure(first_packet_last());
    measure(stream_start());
    measure(held_heaps());
    measure(every_other_sample());
    measure(item_changes());
}
