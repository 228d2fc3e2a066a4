/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "listening_inspector.h"
#include "network/capture_file.h"
#include "network/endpoint.h"
#include "network/receive_socket.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>

namespace gr::spead {

using namespace std::chrono_literals;


namespace {

constexpr int max_packets_in_turn = 64;

std::string to_text(const boost::asio::ip::udp::endpoint& address)
{
    std::ostringstream text;
    text << address;
    return text.str();
}

} // namespace

listening_inspector::listening_inspector(const std::string& endpoints,
                                         const std::string& interface)
    : d_buffer(datagram_source::batch_buffer_bytes)
{
    for (const auto& endpoint :
         parse_endpoints("endpoints", endpoints, endpoint_use::receive)) {
        if (!endpoint.capture.empty()) {
            d_sources.push_back(open_capture(endpoint.capture, endpoint.filter));
            d_endpoints.push_back(endpoint.capture +
                                  (endpoint.filter.empty() ? "" : "?" + endpoint.filter));
        } else {
            d_sources.push_back(
                std::make_unique<receive_socket>(d_io, endpoint, interface));
            const bool is_v6 = endpoint.host.find(':') != std::string::npos;
            d_endpoints.push_back((is_v6 ? "[" + endpoint.host + "]" : endpoint.host) +
                                  ":" + std::to_string(d_sources.back()->port()));
        }
        d_polled.push_back({ d_sources.back()->native_handle(), POLLIN, 0 });
    }
}

void listening_inspector::receive(double seconds)
{
    const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                        std::chrono::duration<double>(seconds));
    bool has_read = is_capture(); // a file needs no wait
    for (auto now = clock::now(); now < end && !d_has_ended; now = clock::now()) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - now);
        if (!has_read || !is_capture())
            wait(std::min(left + 1ms, 100ms));
        has_read = false;
        if (d_sources.size() > 1 && is_capture())
            has_read = read(earliest(), 1);
        else
            for (std::size_t i = 0; i < d_sources.size(); ++i)
                has_read = read(i, max_packets_in_turn) || has_read;
        d_has_ended =
            is_capture() && !has_read &&
            std::none_of(d_sources.begin(), d_sources.end(), [](const auto& capture) {
                return capture->awaits_pipe();
            });
    }
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

std::uint64_t listening_inspector::dropped() const
{
    std::uint64_t sum = 0;
    for (const auto& source : d_sources)
        sum += source->dropped_by_kernel();
    return sum;
}

double listening_inspector::seconds() const
{
    if (!d_first)
        return 0;
    return std::chrono::duration<double>(*d_last - *d_first).count();
}

void listening_inspector::wait(std::chrono::milliseconds timeout)
{
    if (is_capture())
        wait_for_captures(d_sources, timeout);
    else
        poll(d_polled.data(), d_polled.size(), static_cast<int>(timeout.count()));
}

// The capture with the earliest packet.
std::size_t listening_inspector::earliest() const
{
    const auto is_earlier = [](const auto& a, const auto& b) {
        const auto time = a->next_capture_time();
        const auto other = b->next_capture_time();
        return time && (!other || *time < *other);
    };
    const auto found = std::min_element(d_sources.begin(), d_sources.end(), is_earlier);
    return static_cast<std::size_t>(found - d_sources.begin());
}

// Reads this many packets at most, then the other sources have a turn. Returns whether
// anything has arrived.
bool listening_inspector::read(std::size_t source, int packets)
{
    for (int i = 0; i < packets; ++i) {
        const auto capture_time = d_sources[source]->next_capture_time();
        const auto time = capture_time.value_or(clock::now().time_since_epoch());
        if (auto line = d_sources[source]->take_warning(); !line.empty())
            d_failures.push_back(std::move(line));
        const auto received = d_sources[source]->receive(d_buffer.data());
        if (received.fault != packet_error::none) {
            d_kinds.add_rejected(received.fault, nullptr, 0);
            d_inspector.reject(received.fault);
            continue;
        }
        if (received.error || !received.data)
            return i > 0;
        d_first = std::min(d_first.value_or(time), time);
        d_last = std::max(d_last.value_or(time), time);
        if (received.destination.port())
            d_destinations.insert(received.destination);
        auto& sender = d_senders[received.sender];
        if (sender.empty())
            sender = to_text(received.sender_address);
        std::size_t offset = 0;
        do { // a datagram may be empty
            const auto bytes = std::min(received.datagram_bytes, received.bytes - offset);
            add(received.data + offset, bytes, sender, received.sender, source, time);
            offset += bytes;
        } while (offset < received.bytes);
    }
    return true;
}

} // namespace gr::spead
