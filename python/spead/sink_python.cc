/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "casters.h"
#include <gnuradio/spead/sink.h>

#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <sstream>

namespace py = pybind11;
using namespace gr::spead;

#include "docstrings.h" // made from the C++ headers

namespace {

std::string kind(const item& i)
{
    return i.holds == item::content::samples     ? "samples"
           : i.holds == item::content::timestamp ? "timestamp"
                                                 : "immediate";
}

std::string repr(const item& i)
{
    std::ostringstream text;
    text << "spead." << kind(i) << "(id=0x" << std::hex << i.id
         << ", name=" << std::string(py::repr(py::str(i.name)));
    if (i.holds == item::content::immediate)
        text << ", value="
             << std::string(py::repr(i.values.size() == 1 ? py::cast(i.values[0])
                                                          : py::cast(i.values)));
    text << ")";
    return text.str();
}

item make_immediate(std::int64_t id,
                    const std::string& name,
                    const std::variant<std::int64_t, std::vector<std::int64_t>>& value,
                    const std::string& description)
{
    const auto* one = std::get_if<std::int64_t>(&value);
    return immediate(id,
                     name,
                     one ? std::vector{ *one }
                         : std::get<std::vector<std::int64_t>>(value),
                     description);
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
    d["samples_clipped"] = s.samples_clipped;
    d["gaps"] = s.gaps;
    d["samples_missing"] = s.samples_missing;
    d["samples_zero_filled"] = s.samples_zero_filled;
    d["steps_back"] = s.steps_back;
    d["gso"] = s.gso;
    d["zero_copy"] = s.zero_copy;
    d["send_errors"] = s.send_errors;
    return d;
}

// The same options as the C++ struct, each by its name.
// The same options as the C++ struct, each by its name and in its order.
sink::sptr
make_sink(const std::variant<std::string, std::vector<std::string>>& destinations,
          std::int64_t heap_samples,
          std::int64_t num_inputs,
          std::int64_t max_skew,
          const std::string& input_type,
          const std::string& byte_order,
          double scale,
          std::int64_t max_packet_size,
          std::int64_t heap_address_bits,
          std::int64_t heap_id_start,
          std::int64_t heap_id_step,
          const std::vector<item>& items,
          const std::string& descriptors,
          double descriptor_interval,
          bool pad_packets,
          std::int64_t timestamp_start,
          std::optional<std::int64_t> timestamp_step,
          const std::string& timestamp_source,
          std::optional<exact_rate> sample_rate,
          const time_argument& sync_time,
          const std::string& on_gap,
          const std::string& on_start,
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
          std::int64_t affinity,
          double stats_interval)
{
    // looking up a host can take its time
    const py::gil_scoped_release release;
    const sink_options options{ heap_samples,
                                num_inputs,
                                max_skew,
                                input_type,
                                byte_order,
                                scale,
                                max_packet_size,
                                heap_address_bits,
                                heap_id_start,
                                heap_id_step,
                                items,
                                descriptors,
                                descriptor_interval,
                                pad_packets,
                                timestamp_start,
                                timestamp_step,
                                timestamp_source,
                                sample_rate,
                                sync_time.value,
                                on_gap,
                                on_start,
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
                                affinity,
                                stats_interval };
    return std::visit([&](const auto& to) { return sink::make(to, options); },
                      destinations);
}

void bind_items(py::module& m)
{
    py::class_<item>(m, "item", doc::item)
        .def_readonly("id", &item::id)
        .def_readonly("name", &item::name)
        .def_readonly("description", &item::description)
        .def_readonly("values", &item::values)
        .def_property_readonly("kind", &kind)
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
    m.def("immediate",
          &make_immediate,
          py::arg("id"),
          py::arg("name"),
          py::arg("value"),
          py::arg("description") = "",
          doc::immediate);
}

void bind_sink(py::module& m)
{
    const sink_options o;
    py::class_<sink, gr::block, gr::basic_block, std::shared_ptr<sink>>(
        m, "sink", doc::sink)
        .def(py::init(&make_sink),
             py::arg("destinations"),
             py::arg("heap_samples") = o.heap_samples,
             py::kw_only(),
             py::arg("num_inputs") = o.num_inputs,
             py::arg("max_skew") = o.max_skew,
             py::arg("input_type") = o.input_type,
             py::arg("byte_order") = o.byte_order,
             py::arg("scale") = o.scale,
             py::arg("max_packet_size") = o.max_packet_size,
             py::arg("heap_address_bits") = o.heap_address_bits,
             py::arg("heap_id_start") = o.heap_id_start,
             py::arg("heap_id_step") = o.heap_id_step,
             py::arg("items") = o.items,
             py::arg("descriptors") = o.descriptors,
             py::arg("descriptor_interval") = o.descriptor_interval,
             py::arg("pad_packets") = o.pad_packets,
             py::arg("timestamp_start") = o.timestamp_start,
             py::arg("timestamp_step") = o.timestamp_step,
             py::arg("timestamp_source") = o.timestamp_source,
             py::arg("sample_rate") = o.sample_rate,
             py::arg("sync_time") = time_argument{ o.sync_time },
             py::arg("on_gap") = o.on_gap,
             py::arg("on_start") = o.on_start,
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
             py::arg("affinity") = o.affinity,
             py::arg("stats_interval") = o.stats_interval)
        .def("set_rate", &sink::set_rate, py::arg("rate"), doc::set_rate)
        .def("rate", &sink::rate, doc::rate)
        .def("set_item",
             py::overload_cast<std::int64_t, std::int64_t, std::int64_t>(&sink::set_item),
             py::arg("item"),
             py::arg("value"),
             py::arg("input") = -1,
             doc::set_item)
        .def("set_item",
             py::overload_cast<const std::string&, std::int64_t, std::int64_t>(
                 &sink::set_item),
             py::arg("item"),
             py::arg("value"),
             py::arg("input") = -1,
             doc::set_item)
        .def("set_items", &sink::set_items, py::arg("items"), doc::set_items)
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
        .def("samples_clipped", &sink::samples_clipped, doc::samples_clipped)
        .def("gaps", &sink::gaps, doc::gaps)
        .def("samples_missing", &sink::samples_missing, doc::samples_missing)
        .def("samples_zero_filled", &sink::samples_zero_filled, doc::samples_zero_filled)
        .def("steps_back", &sink::steps_back, doc::steps_back)
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
