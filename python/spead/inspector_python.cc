/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "arguments.h"
#include "bindings.h"
#include "inspect/listening_inspector.h"
#include "inspect/trial.h"
#include "receive/stream_format.h"
#include <gnuradio/spead/source.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <type_traits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::spead {

namespace py = pybind11;
namespace {

template <typename number>
py::dict to_dict(const std::map<std::string, number>& numbers)
{
    py::dict dict;
    for (const auto& [name, value] : numbers)
        dict[name.c_str()] = value;
    return dict;
}

// The options of a source, from keyword arguments.
source_options read_options(py::kwargs keywords)
{
    source_options options;
    source_options::for_each([&](const char* name, auto member) {
        if (keywords.contains(name))
            options.*member = read<std::decay_t<decltype(options.*member)>>(
                name, keywords[name], "source");
    });
    return options;
}

py::dict try_source_options(const listening_inspector& inspector,
                            const std::vector<std::string>& endpoints,
                            const py::kwargs& keywords)
{
    const auto options = read_options(keywords);
    trial_result result;
    {
        const py::gil_scoped_release release;
        result = try_source(inspector.stored_packets(), endpoints, options);
    }
    py::dict dict;
    dict["heaps"] = result.heaps;
    dict["heaps_received"] = result.stats.heaps_received;
    dict["samples_received"] = result.stats.samples_received;
    dict["samples_missing"] = result.stats.samples_missing;
    dict["packets_ignored"] = result.stats.packets_ignored;
    dict["packets_rejected"] = to_dict(result.stats.packets_rejected);
    dict["log"] = result.log;
    dict["ignored_reason"] = result.ignored_reason;
    dict["is_partial"] = inspector.stored_packets().is_partial();
    return dict;
}

// Makes sources that know the descriptors which have arrived.
py::cpp_function described_source(const listening_inspector& inspector)
{
    std::vector<item_description> descriptions;
    for (const auto& [key, stream] : inspector.inspector().streams())
        if (descriptions.empty())
            descriptions = stream.descriptions;
    return [descriptions](const py::object& given, const py::kwargs& keywords) {
        const auto endpoints =
            py::isinstance<py::str>(given)
                ? std::vector<std::string>{ py::cast<std::string>(given) }
                : py::cast<std::vector<std::string>>(given);
        const auto options = read_options(keywords);
        // resolving a host name may take long
        const py::gil_scoped_release release;
        return source::make_described(endpoints, options, descriptions);
    };
}

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

// A wire_type or, of numbers that no block converts, their bits and their type.
std::string type_text(const number_format& format)
{
    if (!format.type)
        return "";
    return format.bits % 8 && !format.is_packed()
               ? std::to_string(format.bits) + "-bit " + format.type
               : format.dtype();
}

py::dict to_dict(const item_description& item)
{
    py::dict dict;
    dict["id"] = item.id;
    dict["name"] = item.name;
    dict["text"] = item.text;
    dict["type"] = type_text(item.format);
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
            const auto selected = format_for(descriptions, type, {}, nullptr);
            format["samples"] = selected.samples_id;
            format["timestamp"] = selected.timestamp_id;
            format["wire_type"] = type_text(selected.samples_format);
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
    dict["heap_counters"] = stream.counted;
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
    for (const auto& description : stream.descriptions)
        descriptions.append(to_dict(description));
    dict["descriptions"] = descriptions;
    dict["formats"] = formats_of(stream.descriptions);
    return dict;
}

py::list to_list(const std::vector<inspected_heap>& heaps)
{
    py::list list;
    for (const auto& heap : heaps) {
        py::dict items;
        for (const auto& [id, value] : heap.items)
            items[py::int_(id)] = value;
        list.append(py::make_tuple(heap.arrival, heap.counter, items));
    }
    return list;
}

py::list to_list(const stream_inspector::streams_by_key& streams)
{
    py::list list;
    for (const auto& [key, stream] : streams) {
        auto dict = to_dict(stream);
        dict["endpoint"] = key.first;
        dict["sender"] = key.second;
        list.append(dict);
    }
    return list;
}

py::list to_list(const std::vector<packet_kinds::kind>& kinds)
{
    py::list list;
    for (const auto& kind : kinds) {
        py::dict dict;
        dict["first"] = py::bytes(reinterpret_cast<const char*>(kind.first.data()),
                                  kind.first.size());
        dict["packets"] = kind.packets;
        dict["rejection"] = kind.rejection;
        list.append(dict);
    }
    return list;
}

} // namespace

void bind_inspector(py::module& m)
{
    m.def("_sample_types", [] {
        py::list rows;
        for (const auto& row : sample_type_table)
            rows.append(py::make_tuple(row.name, row.label, row.wire.dtype()));
        return rows;
    });
    py::class_<listening_inspector>(m, "_inspector")
        .def(py::init<const std::string&, const std::string&>(),
             py::arg("endpoints"),
             py::arg("interface") = "")
        .def("receive",
             &listening_inspector::receive,
             py::arg("seconds"),
             py::call_guard<py::gil_scoped_release>())
        .def("try_source", &try_source_options, py::arg("endpoints"))
        .def("described_source", &described_source)
        .def("add",
             [](listening_inspector& self,
                const py::bytes& datagram,
                const std::string& sender,
                std::size_t endpoint) {
                 const std::string data = datagram;
                 self.add(reinterpret_cast<const std::byte*>(data.data()),
                          data.size(),
                          sender,
                          endpoint);
             })
        .def("streams",
             [](const listening_inspector& self) {
                 return to_list(self.inspector().streams());
             })
        .def("described_streams",
             [](const listening_inspector& self) {
                 const auto streams = streams_of(self.stored_packets().described());
                 auto list = to_list(streams);
                 std::size_t i = 0;
                 for (const auto& [key, stream] : streams)
                     list[i++]["first_heaps"] = to_list(stream.first_heaps);
                 return list;
             })
        .def(
            "packet_kinds",
            [](const listening_inspector& self) { return to_list(self.kinds().kinds()); })
        .def("packets_of_other_kinds",
             [](const listening_inspector& self) { return self.kinds().others(); })
        .def("rejected",
             [](const listening_inspector& self) { return self.inspector().rejected(); })
        .def("rejected_sender",
             [](const listening_inspector& self) {
                 return self.inspector().last_sender_rejected();
             })
        .def("packets_of_others",
             [](const listening_inspector& self) {
                 return self.inspector().packets_of_others();
             })
        .def("seconds", &listening_inspector::seconds)
        .def("is_partial",
             [](const listening_inspector& self) {
                 return self.stored_packets().is_partial();
             })
        .def("is_capture", &listening_inspector::is_capture)
        .def("has_ended", &listening_inspector::has_ended)
        .def("failures", &listening_inspector::failures)
        .def("endpoints", &listening_inspector::endpoints)
        .def("destinations", &listening_inspector::destinations)
        .def("dropped", &listening_inspector::dropped);
}

} // namespace gr::spead
