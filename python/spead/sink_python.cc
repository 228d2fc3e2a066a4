/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include <gnuradio/spead/sink.h>

#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <sstream>

namespace py = pybind11;
using namespace gr::spead;

#include "docstrings.h" // made from the C++ headers

namespace {

std::string repr(const item& i)
{
    std::ostringstream text;
    text << (i.holds == item::content::samples ? "spead.samples" : "spead.timestamp")
         << "(id=0x" << std::hex << i.id
         << ", name=" << std::string(py::repr(py::str(i.name))) << ")";
    return text.str();
}

py::dict to_dict(const sink_stats& s)
{
    py::dict d;
    d["samples_in"] = s.samples_in;
    d["samples_sent"] = s.samples_sent;
    d["samples_dropped"] = s.samples_dropped;
    d["samples_pending"] = s.samples_pending;
    d["heaps_sent"] = s.heaps_sent;
    d["heaps_dropped"] = s.heaps_dropped;
    d["packets_sent"] = s.packets_sent;
    d["packets_dropped"] = s.packets_dropped;
    d["bytes_sent"] = s.bytes_sent;
    d["icmp_errors"] = s.icmp_errors;
    d["gso_refused"] = s.gso_refused;
    d["gso"] = s.gso;
    d["zero_copy"] = s.zero_copy;
    d["send_errors"] = s.send_errors;
    return d;
}

// The same options as the C++ struct, each by its name.
sink::sptr make_sink(const std::string& destinations,
                     std::int64_t heap_samples,
                     std::int64_t max_packet_size,
                     std::int64_t heap_address_bits,
                     std::int64_t heap_id_start,
                     std::int64_t heap_id_step,
                     const std::vector<item>& items,
                     const std::string& descriptors,
                     bool pad_packets,
                     std::int64_t timestamp_start,
                     std::optional<std::int64_t> timestamp_step,
                     double rate,
                     std::int64_t burst_size,
                     const std::string& when_full,
                     std::int64_t buffer_size,
                     const std::string& tail,
                     bool send_stop,
                     double stop_timeout,
                     const std::string& interface,
                     std::int64_t ttl,
                     bool loopback,
                     std::int64_t socket_buffer,
                     std::int64_t dscp,
                     bool gso,
                     bool zero_copy,
                     std::int64_t affinity)
{
    // looking up a host can take its time
    const py::gil_scoped_release release;
    return sink::make(destinations,
                      { heap_samples,
                        max_packet_size,
                        heap_address_bits,
                        heap_id_start,
                        heap_id_step,
                        items,
                        descriptors,
                        pad_packets,
                        timestamp_start,
                        timestamp_step,
                        rate,
                        burst_size,
                        when_full,
                        buffer_size,
                        tail,
                        send_stop,
                        stop_timeout,
                        interface,
                        ttl,
                        loopback,
                        socket_buffer,
                        dscp,
                        gso,
                        zero_copy,
                        affinity });
}

void bind_items(py::module& m)
{
    py::class_<item>(m, "item", doc::item)
        .def_readonly("id", &item::id)
        .def_readonly("name", &item::name)
        .def_readonly("description", &item::description)
        .def(py::self == py::self)
        .def("__hash__", [](const item& i) { return py::hash(py::str(i.name)) ^ i.id; })
        .def("__repr__", &repr);
    const auto t = timestamp();
    m.def("timestamp",
          &timestamp,
          py::kw_only(),
          py::arg("id") = t.id,
          py::arg("name") = t.name,
          py::arg("description") = t.description,
          doc::timestamp);
    const auto s = samples();
    m.def("samples",
          &samples,
          py::kw_only(),
          py::arg("id") = s.id,
          py::arg("name") = s.name,
          py::arg("description") = s.description,
          doc::samples);
}

void bind_sink(py::module& m)
{
    const sink_options o;
    py::class_<sink, gr::sync_block, gr::block, gr::basic_block, std::shared_ptr<sink>>(
        m, "sink", doc::sink)
        .def(py::init(&make_sink),
             py::arg("destinations"),
             py::arg("heap_samples") = o.heap_samples,
             py::kw_only(),
             py::arg("max_packet_size") = o.max_packet_size,
             py::arg("heap_address_bits") = o.heap_address_bits,
             py::arg("heap_id_start") = o.heap_id_start,
             py::arg("heap_id_step") = o.heap_id_step,
             py::arg("items") = o.items,
             py::arg("descriptors") = o.descriptors,
             py::arg("pad_packets") = o.pad_packets,
             py::arg("timestamp_start") = o.timestamp_start,
             py::arg("timestamp_step") = o.timestamp_step,
             py::arg("rate") = o.rate,
             py::arg("burst_size") = o.burst_size,
             py::arg("when_full") = o.when_full,
             py::arg("buffer_size") = o.buffer_size,
             py::arg("tail") = o.tail,
             py::arg("send_stop") = o.send_stop,
             py::arg("stop_timeout") = o.stop_timeout,
             py::arg("interface") = o.interface,
             py::arg("ttl") = o.ttl,
             py::arg("loopback") = o.loopback,
             py::arg("socket_buffer") = o.socket_buffer,
             py::arg("dscp") = o.dscp,
             py::arg("gso") = o.gso,
             py::arg("zero_copy") = o.zero_copy,
             py::arg("affinity") = o.affinity)
        .def("set_rate", &sink::set_rate, py::arg("rate"), doc::set_rate)
        .def("rate", &sink::rate, doc::rate)
        .def(
            "stats", [](const sink& s) { return to_dict(s.stats()); }, doc::stats)
        .def("samples_in", &sink::samples_in, doc::samples_in)
        .def("samples_sent", &sink::samples_sent, doc::samples_sent)
        .def("samples_dropped", &sink::samples_dropped, doc::samples_dropped)
        .def("samples_pending", &sink::samples_pending, doc::samples_pending)
        .def("heaps_sent", &sink::heaps_sent, doc::heaps_sent)
        .def("heaps_dropped", &sink::heaps_dropped, doc::heaps_dropped)
        .def("packets_sent", &sink::packets_sent, doc::packets_sent)
        .def("packets_dropped", &sink::packets_dropped, doc::packets_dropped)
        .def("bytes_sent", &sink::bytes_sent, doc::bytes_sent)
        .def("icmp_errors", &sink::icmp_errors, doc::icmp_errors)
        .def("gso_refused", &sink::gso_refused, doc::gso_refused)
        .def("gso", &sink::gso, doc::gso)
        .def("zero_copy", &sink::zero_copy, doc::zero_copy)
        .def("packet_size", &sink::packet_size, doc::packet_size);
}

} // namespace

PYBIND11_MODULE(spead_python, m)
{
    // the base classes of the block
    py::module::import("gnuradio.gr");
    bind_items(m);
    bind_sink(m);
}
