/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "listening_inspector.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>

namespace gr::spead {

using namespace std::chrono_literals;


namespace {

std::string to_text(const boost::asio::ip::udp::endpoint& address)
{
    std::ostringstream text;
    text << address;
    return text.str();
}

} // namespace

listening_inspector::listening_inspector(const std::string& endpoints,
                                         const std::string& interface)
    : d_reader(endpoints, interface)
{
}

void listening_inspector::receive(double seconds)
{
    const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                        std::chrono::duration<double>(seconds));
    for (auto now = clock::now(); now < end && !has_ended(); now = clock::now()) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - now);
        d_reader.read(std::min(left + 1ms, 100ms),
                      [this](const auto& datagram) { add(datagram); });
        for (auto& line : d_reader.take_warnings())
            d_failures.push_back(std::move(line));
    }
}

void listening_inspector::add(const endpoint_reader::datagram& datagram)
{
    if (datagram.fault != packet_error::none) {
        d_kinds.add_rejected(datagram.fault, nullptr, 0);
        return d_inspector.reject(datagram.fault);
    }
    d_first = std::min(d_first.value_or(datagram.time), datagram.time);
    d_last = std::max(d_last.value_or(datagram.time), datagram.time);
    if (datagram.destination.port())
        d_destinations.insert(datagram.destination);
    auto& sender = d_senders[datagram.sender];
    if (sender.empty())
        sender = to_text(datagram.sender_address);
    add(datagram.data,
        datagram.bytes,
        sender,
        datagram.sender,
        datagram.endpoint,
        datagram.time);
}

void listening_inspector::add(const std::byte* datagram,
                              std::size_t bytes,
                              const std::string& sender,
                              std::size_t endpoint)
{
    add(datagram,
        bytes,
        sender,
        std::hash<std::string>()(sender) | 1,
        endpoint,
        clock::now().time_since_epoch());
}

void listening_inspector::add(const std::byte* datagram,
                              std::size_t bytes,
                              const std::string& sender,
                              std::uint64_t sender_number,
                              std::size_t endpoint,
                              std::chrono::nanoseconds time)
{
    packet_view packet;
    if (const auto error = parse_packet(datagram, bytes, packet);
        error != packet_error::none) {
        d_kinds.add_rejected(error, datagram, bytes);
        return d_inspector.reject(error, sender);
    }
    d_kinds.add(packet, datagram, bytes);
    d_inspector.add(packet, bytes, sender, endpoint, stream_inspector::time_point(time));
    d_stored_packets.add({ { datagram, datagram + bytes },
                           endpoint,
                           sender_number,
                           packet.has_descriptors,
                           time });
}

std::vector<std::string> listening_inspector::destinations() const
{
    std::vector<std::string> texts;
    texts.reserve(d_destinations.size());
    for (const auto& destination : d_destinations)
        texts.push_back(to_text(destination));
    return texts;
}

double listening_inspector::seconds() const
{
    if (!d_first)
        return 0;
    return std::chrono::duration<double>(*d_last - *d_first).count();
}

} // namespace gr::spead
