/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "arguments.h"
#include "bindings.h"
#include <gnuradio/spead/sink.h>

#include <map>

#include "docstrings.h" // made from the C++ headers

namespace gr::spead {

namespace {

block_arguments<sink_options> arguments()
{
    return { "sink", "destinations", "heap_samples" };
}

sink::sptr
make(const py::object& destinations, const py::args& positional, const py::kwargs& named)
{
    const auto to = arguments().read_endpoints(destinations);
    const auto options = arguments().read_options(positional, named);
    // looking up a host can take its time
    const py::gil_scoped_release release;
    return std::visit([&](const auto& each) { return sink::make(each, options); }, to);
}

} // namespace

void bind_sink(py::module& m)
{
    py::class_<sink, gr::block, gr::basic_block, std::shared_ptr<sink>> block(
        m, "sink", docstrings.at("sink"));
    {
        // of them it would know (destinations: object, *args, **kwargs)
        py::options texts;
        texts.disable_function_signatures();
        block.def(py::init(&make),
                  py::arg("destinations") = py::none(), // which is refused by name
                  arguments().signature().c_str());
    }
    block.def_static("_error_in_grc", [](const py::dict& fields) {
        return arguments().error_in_grc(
            fields, "sender_affinity", &sink_options::num_inputs, &sink::check);
    });
    sink_stats::for_each([&](const char* name, auto figure) {
        if constexpr (!std::is_class_v<std::decay_t<decltype(sink_stats().*figure)>>)
            block.def(
                name,
                [figure](const sink& self) { return self.stats().*figure; },
                docstrings.at(name));
    });
    block.def("set_rate", &sink::set_rate, py::arg("rate"), docstrings.at("set_rate"))
        .def("rate", &sink::rate, docstrings.at("rate"))
        .def("set_item",
             py::overload_cast<std::int64_t, std::int64_t, std::int64_t>(&sink::set_item),
             py::arg("item"),
             py::arg("value"),
             py::arg("input") = -1,
             docstrings.at("set_item"))
        .def("set_item",
             py::overload_cast<const std::string&, std::int64_t, std::int64_t>(
                 &sink::set_item),
             py::arg("item"),
             py::arg("value"),
             py::arg("input") = -1,
             docstrings.at("set_item"))
        .def("set_items", &sink::set_items, py::arg("items"), docstrings.at("set_items"))
        .def(
            "stats",
            [](const sink& s) { return to_dict(s.stats()); },
            docstrings.at("stats"))
        .def("packet_size", &sink::packet_size, docstrings.at("packet_size"));
}

} // namespace gr::spead
