/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "bindings.h"
#include "inspect/stream_inspector.h"
#include "network/capture_file.h"
#include "network/endpoint.h"
#include "network/receive_socket.h"
#include "receive/stream_format.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <boost/asio/io_context.hpp>

#include <poll.h>
#include <unordered_map>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::spead {

namespace py = pybind11;
using namespace std::chrono_literals;

namespace {

using clock = stream_inspector::time_point::clock;

//! A stream_inspector with the sockets that it listens to.
class listening_inspector
{
public:
    listening_inspector(const std::string& endpoints, const std::string& interface)
        : d_buffer(receive_socket::batch_buffer_bytes)
    {
        for (const auto& at :
             parse_endpoints("endpoints", endpoints, endpoint_use::receive)) {
            if (!at.capture.empty()) {
                d_sockets.push_back(open_capture(at.capture, at.filter));
                d_endpoints.push_back(at.capture +
                                      (at.filter.empty() ? "" : "?" + at.filter));
            } else {
                d_sockets.push_back(
                    std::make_unique<receive_socket>(d_io, at, interface));
                const bool is_v6 = at.host.find(':') != std::string::npos;
                d_endpoints.push_back((is_v6 ? "[" + at.host + "]" : at.host) + ":" +
                                      std::to_string(d_sockets.back()->port()));
            }
            d_polled.push_back({ d_sockets.back()->native_handle(), POLLIN, 0 });
        }
    }

    void receive(double seconds)
    {
        const py::gil_scoped_release release;
        const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                            std::chrono::duration<double>(seconds));
        bool has_read = is_capture(); // a file needs no wait
        for (auto now = clock::now(); now < end && !d_has_ended; now = clock::now()) {
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(end - now);
            if (!has_read || !is_capture())
                wait(std::min(left + 1ms, 100ms));
            has_read = false;
            for (std::size_t i = 0; i < d_sockets.size(); ++i)
                has_read = read(i) || has_read;
            d_has_ended =
                is_capture() && !has_read &&
                std::none_of(d_sockets.begin(), d_sockets.end(), [](const auto& capture) {
                    return capture->is_waiting();
                });
        }
    }

    void add(const std::string& datagram, const std::string& sender, std::size_t endpoint)
    {
        d_inspector.add(reinterpret_cast<const std::byte*>(datagram.data()),
                        datagram.size(),
                        sender,
                        endpoint,
                        clock::now());
    }

    const stream_inspector& inspector() const { return d_inspector; }
    bool is_capture() const { return d_sockets.front()->is_capture(); }
    //! Whether the captures have been read to their end.
    bool has_ended() const { return d_has_ended; }
    //! What of the captures cannot be read.
    const std::vector<std::string>& failures() const { return d_failures; }
    //! The addresses that it listens to, or the files.
    const std::vector<std::string>& endpoints() const { return d_endpoints; }
    //! The destinations of the packets in captures.
    std::vector<std::string> destinations() const
    {
        std::vector<std::string> all;
        for (const auto& each : d_destinations) {
            std::ostringstream text;
            text << each;
            all.push_back(text.str());
        }
        return all;
    }
    std::uint64_t dropped() const
    {
        std::uint64_t sum = 0;
        for (const auto& each : d_sockets)
            sum += each->dropped();
        return sum;
    }

    //! The time between the first and the last packet; none without captures.
    std::optional<double> capture_seconds() const
    {
        if (!d_first)
            return std::nullopt;
        return std::chrono::duration<double>(*d_last - *d_first).count();
    }

private:
    void wait(std::chrono::milliseconds timeout)
    {
        if (is_capture())
            wait_for_captures(d_sockets, timeout);
        else
            poll(d_polled.data(), d_polled.size(), static_cast<int>(timeout.count()));
    }

    //! Returns whether anything has arrived.
    bool read(std::size_t socket)
    {
        // then the other sockets have a turn
        for (int i = 0; i < 64; ++i) {
            if (const auto time = d_sockets[socket]->next_time()) {
                d_first = std::min(d_first.value_or(*time), *time);
                d_last = std::max(d_last.value_or(*time), *time);
            }
            if (auto line = d_sockets[socket]->take_message(); !line.empty())
                d_failures.push_back(std::move(line));
            const auto got = d_sockets[socket]->receive(d_buffer.data());
            if (got.fault != packet_error::none) {
                d_inspector.reject(got.fault);
                continue;
            }
            if (got.error || !got.bytes)
                return i > 0;
            if (got.to.port())
                d_destinations.insert(got.to);
            auto& sender = d_senders[got.sender];
            if (sender.empty()) {
                std::ostringstream text;
                text << got.from;
                sender = text.str();
            }
            for (std::size_t at = 0; at < got.bytes; at += got.datagram_bytes)
                d_inspector.add(got.data + at,
                                std::min(got.datagram_bytes, got.bytes - at),
                                sender,
                                socket,
                                clock::now());
        }
        return true;
    }

    boost::asio::io_context d_io{ 1 };
    std::vector<std::unique_ptr<datagram_source>> d_sockets;
    std::vector<std::string> d_endpoints;                    // of the sockets
    std::set<boost::asio::ip::udp::endpoint> d_destinations; // of a capture
    std::optional<std::chrono::nanoseconds> d_first, d_last; // of a capture
    bool d_has_ended = false;
    std::vector<std::string> d_failures;
    std::vector<pollfd> d_polled;
    std::vector<std::byte> d_buffer;
    std::unordered_map<std::uint64_t, std::string> d_senders;
    stream_inspector d_inspector;
};

py::dict to_dict(const inspected_item& item)
{
    py::dict dict;
    dict["number"] = item.is_number;
    dict["last"] = item.last;
    dict["min"] = item.range.min;
    dict["max"] = item.range.max;
    dict["values"] = std::vector<std::int64_t>(item.values.begin(), item.values.end());
    dict["step"] = item.steps.most_frequent();
    return dict;
}

py::dict to_dict(const item_description& item)
{
    py::dict dict;
    dict["id"] = item.id;
    dict["name"] = item.name;
    dict["type"] = item.format.type ? item.format.dtype() : "";
    dict["bits"] = item.format.bits;
    py::list shape;
    for (const auto size : item.shape)
        shape.append(size == variable_size ? py::object(py::none())
                                           : py::object(py::int_(size)));
    dict["shape"] = shape;
    dict["is_array"] = item.is_array;
    dict["is_complex"] = item.is_pairs || item.format.type == 'c';
    return dict;
}

// What the source would do with the descriptors, for each output_type.
py::dict formats_of(const std::vector<item_description>& descriptions)
{
    py::dict formats;
    for (const auto& [name, type] : sample_types) {
        py::dict format;
        try {
            const auto found = format_for(descriptions, type, {}, nullptr);
            format["samples"] = found.samples_id;
            format["timestamp"] = found.timestamp_id;
            format["wire_type"] = found.samples_format.dtype();
        } catch (const std::invalid_argument& error) {
            format["error"] = error.what();
        }
        formats[name] = format;
    }
    return formats;
}

py::dict to_dict(const inspected_stream& stream)
{
    py::dict dict;
    dict["packets"] = stream.packets;
    dict["bytes"] = stream.bytes;
    dict["heap_address_bits"] = stream.heap_address_bits;
    dict["single_packet_heaps"] = stream.is_single;
    const auto has_packets = stream.packet_bytes.max > 0;
    dict["packet_bytes"] = py::make_tuple(has_packets ? stream.packet_bytes.min : 0,
                                          stream.packet_bytes.max);
    dict["heaps"] = stream.heaps;
    dict["heap_bytes"] =
        py::make_tuple(stream.heaps ? stream.heap_bytes.min : 0, stream.heap_bytes.max);
    dict["heaps_incomplete"] = stream.incomplete;
    dict["heap_counter_step"] = stream.counter_step;
    dict["heaps_lost"] = stream.lost;
    dict["heaps_reordered"] = stream.reordered;
    dict["packets_duplicate"] = stream.duplicates;
    dict["descriptor_heaps"] = stream.descriptors;
    dict["ends"] = stream.ends;
    py::dict items;
    for (const auto& [id, item] : stream.items)
        items[py::int_(id)] = to_dict(item);
    dict["items"] = items;
    py::list descriptions;
    for (const auto& each : stream.descriptions)
        descriptions.append(to_dict(each));
    dict["descriptions"] = descriptions;
    dict["formats"] = formats_of(stream.descriptions);
    return dict;
}

} // namespace

void bind_inspector(py::module& m)
{
    py::class_<listening_inspector>(m, "_inspector")
        .def(py::init<const std::string&, const std::string&>(),
             py::arg("endpoints"),
             py::arg("interface") = "")
        .def("receive", &listening_inspector::receive, py::arg("seconds"))
        .def("add",
             [](listening_inspector& self,
                const py::bytes& datagram,
                const std::string& sender,
                std::size_t endpoint) { self.add(datagram, sender, endpoint); })
        .def("streams",
             [](const listening_inspector& self) {
                 py::list all;
                 for (const auto& [key, stream] : self.inspector().streams()) {
                     auto dict = to_dict(stream);
                     dict["endpoint"] = key.first;
                     dict["sender"] = key.second;
                     all.append(dict);
                 }
                 return all;
             })
        .def("rejected",
             [](const listening_inspector& self) { return self.inspector().rejected(); })
        .def("rejected_sender",
             [](const listening_inspector& self) {
                 return self.inspector().last_sender_rejected();
             })
        .def("capture_seconds", &listening_inspector::capture_seconds)
        .def("is_capture", &listening_inspector::is_capture)
        .def("has_ended", &listening_inspector::has_ended)
        .def("failures", &listening_inspector::failures)
        .def("endpoints", &listening_inspector::endpoints)
        .def("destinations", &listening_inspector::destinations)
        .def("dropped", &listening_inspector::dropped);
}

} // namespace gr::spead
