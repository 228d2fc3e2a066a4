/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packet_store.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gr::spead {

namespace {

// The packets of one endpoint.
class stored_source : public datagram_source
{
public:
    stored_source(const packet_store::selection& packets, std::size_t endpoint)
        : d_next(packets.begin()), d_end(packets.end()), d_endpoint(endpoint)
    {
        find_next();
    }

    bool is_capture() const override { return true; }
    std::string name() const override { return "the packets so far"; }
    std::optional<std::chrono::nanoseconds> next_capture_time() override
    {
        return d_next == d_end ? std::nullopt : std::optional((*d_next)->time);
    }
    received_datagrams receive(std::byte* buffer) noexcept override
    {
        received_datagrams received;
        if (d_next == d_end)
            return received;
        const auto& packet = **d_next++;
        find_next();
        std::memcpy(buffer, packet.data.data(), packet.data.size());
        received.data = buffer;
        received.bytes = received.datagram_bytes = packet.data.size();
        received.sender = packet.sender;
        return received;
    }

private:
    void find_next()
    {
        while (d_next != d_end && (*d_next)->endpoint != d_endpoint)
            ++d_next;
    }

    packet_store::selection::const_iterator d_next;
    const packet_store::selection::const_iterator d_end;
    const std::size_t d_endpoint;
};

} // namespace

void packet_store::add(stored_packet added)
{
    const auto bytes = added.data.size();
    const auto has_room = [&] { return d_bytes + bytes <= d_max_bytes; };
    d_is_partial |= !has_room();
    while (!has_room() && !d_packets.empty() && !d_packets.front().has_descriptors) {
        d_bytes -= d_packets.front().data.size();
        d_packets.pop_front();
    }
    if (!has_room())
        return;
    if (!d_packets.empty()) // clocks of captures may be set back
        added.time = std::max(added.time, d_packets.back().time);
    d_bytes += bytes;
    d_packets.push_back(std::move(added));
}

packet_store::selection packet_store::all() const
{
    selection packets;
    packets.reserve(d_packets.size());
    for (const auto& packet : d_packets)
        packets.push_back(&packet);
    return packets;
}

packet_store::selection packet_store::described() const
{
    std::set<std::pair<std::size_t, std::uint64_t>> streams, with_descriptors;
    for (const auto& packet : d_packets)
        if (packet.has_descriptors)
            streams.insert({ packet.endpoint, packet.sender });
    selection packets;
    for (const auto& packet : d_packets) {
        const std::pair stream{ packet.endpoint, packet.sender };
        if (packet.has_descriptors)
            with_descriptors.insert(stream);
        if (with_descriptors.count(stream) || !streams.count(stream))
            packets.push_back(&packet);
    }
    return packets;
}

std::vector<std::unique_ptr<datagram_source>>
replay(const packet_store::selection& packets, std::size_t endpoints)
{
    std::vector<std::unique_ptr<datagram_source>> sources;
    sources.reserve(endpoints);
    for (std::size_t i = 0; i < endpoints; ++i)
        sources.push_back(std::make_unique<stored_source>(packets, i));
    return sources;
}

} // namespace gr::spead
