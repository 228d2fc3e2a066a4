/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "protocol/sample_decoder.h"
#include "source_config.h"
#include "source_engine.h"
#include "trial.h"

#include <algorithm>
#include <cstring>

namespace gr::spead {

stream_inspector::streams_by_key streams_of(const packet_store::selection& packets)
{
    stream_inspector inspector;
    for (const auto* kept_packet : packets) {
        packet_view packet;
        parse_packet(kept_packet->data.data(), kept_packet->data.size(), packet);
        inspector.add(packet,
                      kept_packet->data.size(),
                      std::to_string(kept_packet->sender),
                      kept_packet->endpoint,
                      stream_inspector::time_point(kept_packet->time));
    }
    return inspector.streams();
}

namespace {

// Discards the samples.
void run_to_end(source_engine& engine, const source_config& config)
{
    const auto bytes = config.sample_bytes();
    // what a flow graph offers; one item of its buffers stays free
    auto samples = config.window_samples() - 1;
    if (!config.axes.empty()) { // whole heaps
        const auto heap = static_cast<std::size_t>(config.heap_samples);
        samples = std::max((samples + heap) / heap * heap, 4 * heap);
    }
    const auto room = static_cast<std::int64_t>(samples);
    std::vector<std::vector<std::byte>> buffers(
        static_cast<std::size_t>(engine.outputs()),
        std::vector<std::byte>(static_cast<std::size_t>(room) * bytes));
    std::vector<std::byte*> addresses;
    addresses.reserve(buffers.size());
    for (auto& buffer : buffers)
        addresses.push_back(buffer.data());
    engine.start();
    std::vector<sample_tag> tags;
    while (!engine.is_at_end()) {
        engine.receive(addresses, room);
        tags.clear();
        const auto produced = engine.produce(tags);
        for (auto* address : addresses)
            std::memmove(address,
                         address + produced * bytes,
                         static_cast<std::size_t>(engine.used()) * bytes);
    }
    engine.stop();
}

} // namespace

trial_result try_source(const packet_store& stored,
                        const std::vector<std::string>& endpoints,
                        const source_options& options)
{
    const auto config = parse_options(endpoints, options);
    const auto packets = config.user_format ? stored.all() : stored.described();
    std::size_t sockets = 0;
    for (const auto& list : config.endpoints)
        sockets += list.size();
    trial_result result;
    for (const auto& [key, stream] : streams_of(packets))
        result.heaps += stream.heaps - stream.incomplete;
    source_engine engine(
        config,
        [&](const std::string& line) { result.log.push_back(line); },
        replay(packets, sockets));
    run_to_end(engine, config);
    result.stats = engine.stats();
    result.ignored_reason = engine.latest_reason();
    return result;
}

} // namespace gr::spead
