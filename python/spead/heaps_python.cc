/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "arguments.h"
#include "bindings.h"
#include "heaps/heap_receiver.h"
#include "heaps/heap_sender.h"
#include "named_errors.h"
#include "support/checks.h"
#include "support/shortened.h"

#include <gnuradio/basic_block.h>
#include <gnuradio/block_registry.h>
#include <pmt/pmt.h>
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <type_traits>
#include <algorithm>
#include <complex>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// What the blocks heap_source and heap_sink of the Python package are made of.

namespace gr::spead {

namespace {

using bytes_array = py::array_t<std::uint8_t>;

// Copies of the result need no GIL.
rate_limited_log::output log_function(const py::object& write)
{
    return [write = std::make_shared<py::object>(write)](const std::string& line) {
        const py::gil_scoped_acquire acquire;
        (*write)(line);
    };
}

// (address bits, items) of a descriptor, or None.
py::object read_descriptor(const std::byte* packet, std::size_t bytes)
{
    auto heap = read_single_packet(packet, bytes);
    if (!heap)
        return py::none();
    const auto* payload = reinterpret_cast<const char*>(heap->payload.get());
    py::dict fields;
    for (const auto& item : heap->items)
        fields[py::int_(item.id)] =
            item.is_immediate ? py::object(py::int_(item.value))
                              : py::object(py::bytes(payload + item.value, item.bytes));
    return py::make_tuple(heap->flavour.heap_address_bits, fields);
}

// (counter, address bits, sender, descriptors, items, invalid items)
py::tuple to_tuple(received_heap heap)
{
    py::list descriptors;
    for (const auto& item : heap.items)
        if (item.id == wire::descriptor && !item.is_immediate)
            descriptors.append(
                read_descriptor(heap.payload.get() + item.value, item.bytes));
    const auto* payload = heap.payload.get();
    // the arrays below share it
    const py::capsule owner(heap.payload.release(), [](void* memory) {
        delete[] static_cast<std::byte*>(memory);
    });
    py::list items;
    for (const auto& item : heap.items) {
        if (item.id < wire::stream_control)
            continue;
        const auto* data = reinterpret_cast<const std::uint8_t*>(payload) + item.value;
        items.append(py::make_tuple(
            item.id,
            item.is_immediate ? py::object(py::int_(item.value))
                              : py::object(bytes_array(
                                    static_cast<py::ssize_t>(item.bytes), data, owner))));
    }
    return py::make_tuple(heap.counter,
                          heap.flavour.heap_address_bits,
                          heap.sender,
                          descriptors,
                          items,
                          heap.invalid_items);
}

std::unique_ptr<heap_receiver> make_receiver(const py::object& endpoints,
                                             const py::object& interface,
                                             const py::object& write_log)
{
    const auto endpoint_text = read<std::string>("endpoints", endpoints, "heap_source");
    const auto interface_text = read<std::string>("interface", interface, "heap_source");
    const auto log = log_function(write_log);
    const py::gil_scoped_release release;
    return with_error_prefix("spead.heap_source", [&] {
        return std::make_unique<heap_receiver>(endpoint_text, interface_text, log);
    });
}

std::unique_ptr<heap_sender> make_sender(const py::object& destination,
                                         const py::object& write_log,
                                         const py::kwargs& keywords)
{
    const auto text = read<std::string>("destination", destination, "heap_sink");
    sink_options options;
    sink_options::for_each([&](const char* name, auto member) {
        if (keywords.contains(name))
            options.*member = read<std::decay_t<decltype(options.*member)>>(
                name, keywords[name], "heap_sink");
    });
    const auto log = log_function(write_log);
    const py::gil_scoped_release release;
    return with_error_prefix("spead.heap_sink", [&] {
        require(parse_endpoints("destination", text, endpoint_use::send).size() == 1,
                "destination",
                text,
                "one host:port, multicast group or capture");
        return std::make_unique<heap_sender>(parse_options({ text }, options), log);
    });
}

// items: (ID, integer or bytes)
bool send(heap_sender& sender, const py::list& items, bool is_counted)
{
    std::vector<outgoing_item> outgoing;
    std::vector<py::buffer_info> buffers;
    for (const auto& item : items) {
        const auto [id, value] = py::cast<std::pair<std::uint64_t, py::object>>(item);
        if (py::isinstance<py::int_>(value)) {
            outgoing.push_back({ id, true, py::cast<std::uint64_t>(value), nullptr, 0 });
            continue;
        }
        buffers.push_back(py::cast<py::buffer>(value).request());
        const auto& buffer = buffers.back();
        outgoing.push_back({ id,
                             false,
                             0,
                             static_cast<const std::byte*>(buffer.ptr),
                             static_cast<std::size_t>(buffer.size * buffer.itemsize) });
    }
    const py::gil_scoped_release release;
    return sender.send(outgoing, is_counted);
}

template <typename type>
struct vector_type {
    using number = type;
    pmt::pmt_t (*init)(std::size_t, const type*);
    bool (*is_of_type)(pmt::pmt_t);
};

// Calls visit(vector_type) for each type that PMT has uniform vectors of.
template <typename visitor>
void for_each_vector_type(visitor&& visit)
{
    visit(vector_type<std::uint8_t>{ pmt::init_u8vector, pmt::is_u8vector });
    visit(vector_type<std::int8_t>{ pmt::init_s8vector, pmt::is_s8vector });
    visit(vector_type<std::uint16_t>{ pmt::init_u16vector, pmt::is_u16vector });
    visit(vector_type<std::int16_t>{ pmt::init_s16vector, pmt::is_s16vector });
    visit(vector_type<std::uint32_t>{ pmt::init_u32vector, pmt::is_u32vector });
    visit(vector_type<std::int32_t>{ pmt::init_s32vector, pmt::is_s32vector });
    visit(vector_type<std::uint64_t>{ pmt::init_u64vector, pmt::is_u64vector });
    visit(vector_type<std::int64_t>{ pmt::init_s64vector, pmt::is_s64vector });
    visit(vector_type<float>{ pmt::init_f32vector, pmt::is_f32vector });
    visit(vector_type<double>{ pmt::init_f64vector, pmt::is_f64vector });
    visit(vector_type<std::complex<float>>{ pmt::init_c32vector, pmt::is_c32vector });
    visit(vector_type<std::complex<double>>{ pmt::init_c64vector, pmt::is_c64vector });
}

} // namespace

void bind_heaps(py::module& m)
{
    py::module::import("pmt"); // its types
    m.attr("_max_heap_bytes") = max_heap_bytes;
    // None if there is no vector of this type
    m.def("_to_uniform_vector", [](const py::array& array) {
        pmt::pmt_t vector;
        for_each_vector_type([&](const auto& row) {
            using type = typename std::decay_t<decltype(row)>::number;
            if (!vector && array.dtype().equal(py::dtype::of<type>()))
                vector = row.init(static_cast<std::size_t>(array.size()),
                                  static_cast<const type*>(array.data()));
        });
        return vector;
    });
    // None if it is no uniform vector
    m.def("_from_uniform_vector", [](const pmt::pmt_t& vector) {
        py::object array = py::none();
        for_each_vector_type([&](const auto& row) {
            using type = typename std::decay_t<decltype(row)>::number;
            if (!array.is_none() || !row.is_of_type(vector))
                return;
            std::size_t bytes = 0;
            const auto* data = pmt::uniform_vector_elements(vector, bytes);
            array = py::array_t<type>(static_cast<py::ssize_t>(bytes / sizeof(type)),
                                      static_cast<const type*>(data));
        });
        return array;
    });
    // The longest queue of the blocks that a port publishes to.
    m.def("_queued_messages", [](gr::basic_block& block, const pmt::pmt_t& port) {
        std::size_t longest = 0;
        auto subscribers = block.message_subscribers(port);
        for (; pmt::is_pair(subscribers); subscribers = pmt::cdr(subscribers)) {
            const auto target = pmt::car(subscribers);
            const auto subscriber = global_block_registry.block_lookup(pmt::car(target));
            if (subscriber && subscriber->has_msg_port(pmt::cdr(target)))
                longest = std::max(longest, subscriber->nmsgs(pmt::cdr(target)));
        }
        return longest;
    });
    py::class_<heap_receiver>(m, "_heap_receiver")
        .def(py::init(&make_receiver),
             py::arg("endpoints"),
             py::arg("interface"),
             py::arg("log"))
        .def(
            "receive",
            [](heap_receiver& self, int milliseconds) {
                std::vector<received_heap> heaps;
                {
                    const py::gil_scoped_release release;
                    heaps = self.receive(std::chrono::milliseconds(milliseconds));
                }
                py::list list;
                for (auto& heap : heaps)
                    list.append(to_tuple(std::move(heap)));
                return list;
            },
            py::arg("milliseconds"))
        .def("has_ended", &heap_receiver::has_ended)
        .def("end_run", &heap_receiver::end_run, py::call_guard<py::gil_scoped_release>())
        .def("warn",
             [](heap_receiver& self, const std::string& text) { self.log().add(text); })
        .def("ports", [](const heap_receiver& self) { return self.reader().ports(); })
        .def("endpoints",
             [](const heap_receiver& self) {
                 return shortened(self.reader().endpoints());
             })
        .def("stats", [](const heap_receiver& self) {
            auto stats = to_dict(self.collector().counts());
            stats["datagrams_dropped_by_socket"] = self.reader().dropped();
            stats["packets_rejected"] = self.collector().rejects().by_name();
            return stats;
        });
    py::class_<heap_sender>(m, "_heap_sender")
        .def(py::init(&make_sender), py::arg("destination"), py::arg("log"))
        .def("start", &heap_sender::start)
        .def("send", &send, py::arg("items"), py::arg("is_counted"))
        .def("expect_end", &heap_sender::expect_end)
        .def("stop", &heap_sender::stop, py::call_guard<py::gil_scoped_release>())
        .def("warn",
             [](heap_sender& self, const std::string& text) { self.log().add(text); })
        .def("write_log",
             [](heap_sender& self) {
                 const py::gil_scoped_release release;
                 self.log().write();
             })
        .def("heap_address_bits",
             [](const heap_sender& self) { return self.flavour().heap_address_bits; })
        .def("stats", [](const heap_sender& self) {
            const auto counts = self.counts();
            py::dict stats;
            stats["heaps_sent"] = counts.heaps_sent;
            stats["heaps_dropped"] = counts.heaps_dropped;
            stats["packets_sent"] = counts.packets_sent;
            stats["packets_dropped"] = counts.packets_dropped;
            stats["bytes_sent"] = counts.bytes_sent;
            stats["icmp_errors"] = counts.icmp_errors;
            stats["send_errors"] = self.send_errors();
            return stats;
        });
}

} // namespace gr::spead
