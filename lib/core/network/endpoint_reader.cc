/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "capture_file.h"
#include "endpoint.h"
#include "endpoint_reader.h"
#include "receive_socket.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

namespace {

constexpr int max_reads_in_turn = 64;

} // namespace

endpoint_reader::endpoint_reader(const std::string& endpoints,
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
    d_has_read = is_capture(); // a file needs no wait
}

void endpoint_reader::read(std::chrono::milliseconds timeout, const visitor& visit)
{
    if (!d_has_read || !is_capture())
        wait(timeout);
    d_has_read = false;
    if (d_sources.size() > 1 && is_capture())
        d_has_read = read(earliest(), 1, visit);
    else
        for (std::size_t i = 0; i < d_sources.size(); ++i)
            d_has_read = read(i, max_reads_in_turn, visit) || d_has_read;
    d_has_ended =
        is_capture() && !d_has_read &&
        std::none_of(d_sources.begin(), d_sources.end(), [](const auto& capture) {
            return capture->awaits_pipe();
        });
}

std::vector<std::string> endpoint_reader::take_warnings()
{
    return std::exchange(d_warnings, {});
}

std::vector<int> endpoint_reader::ports() const
{
    std::vector<int> ports;
    for (const auto& source : d_sources)
        if (!source->is_capture())
            ports.push_back(source->port());
    return ports;
}

std::uint64_t endpoint_reader::dropped() const
{
    std::uint64_t sum = 0;
    for (const auto& source : d_sources)
        sum += source->dropped_by_kernel();
    return sum;
}

void endpoint_reader::wait(std::chrono::milliseconds timeout)
{
    if (is_capture())
        wait_for_captures(d_sources, timeout);
    else
        poll(d_polled.data(), d_polled.size(), static_cast<int>(timeout.count()));
}

// The capture with the earliest packet.
std::size_t endpoint_reader::earliest() const
{
    const auto is_earlier = [](const auto& a, const auto& b) {
        const auto time = a->next_capture_time();
        const auto other = b->next_capture_time();
        return time && (!other || *time < *other);
    };
    const auto found = std::min_element(d_sources.begin(), d_sources.end(), is_earlier);
    return static_cast<std::size_t>(found - d_sources.begin());
}

// Reads this many times at most, then the other sources have a turn. Returns whether
// anything has arrived.
bool endpoint_reader::read(std::size_t source, int reads, const visitor& visit)
{
    for (int i = 0; i < reads; ++i) {
        const auto capture_time = d_sources[source]->next_capture_time();
        const auto time = capture_time.value_or(clock::now().time_since_epoch());
        if (auto line = d_sources[source]->take_warning(); !line.empty())
            d_warnings.push_back(std::move(line));
        const auto received = d_sources[source]->receive(d_buffer.data());
        datagram arrived{
            received.data,           received.bytes,       source, received.sender,
            received.sender_address, received.destination, time,   received.fault
        };
        if (arrived.fault != packet_error::none) {
            visit(arrived);
            continue;
        }
        if (received.error || !received.data)
            return i > 0;
        std::size_t offset = 0;
        do { // a datagram may be empty
            arrived.data = received.data + offset;
            arrived.bytes = std::min(received.datagram_bytes, received.bytes - offset);
            visit(arrived);
            offset += arrived.bytes;
        } while (offset < received.bytes);
    }
    return true;
}

} // namespace gr::spead
