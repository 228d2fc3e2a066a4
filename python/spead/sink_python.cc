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
    // first: with a mistyped name there may be no destinations
    const auto options = arguments().read_options(positional, named);
    const auto to = arguments().read_endpoints(destinations);
    // looking up a host can take its time
    const py::gil_scoped_release release;
    return std::visit([&](const auto& each) { return sink::make(each, options); }, to);
}

// Their arguments are objects, and read here: errors name the one that is wrong.
void bind_setters(
    py::class_<sink, gr::block, gr::basic_block, std::shared_ptr<sink>>& block)
{
    py::options texts;
    texts.disable_function_signatures();
    const auto text = [](const char* signature, const char* name) {
        return std::string(signature) + " -> None\n\n" + docstrings.at(name);
    };
    block
        .def(
            "set_rate",
            [](sink& self, const py::object& rate) {
                double value;
                read("rate", rate, value, "sink");
                self.set_rate(value);
            },
            py::arg("rate"),
            text("set_rate(self, rate: float)", "set_rate").c_str())
        .def(
            "set_item",
            [](sink& self,
               const py::object& item,
               const py::object& value,
               const py::object& input) {
                std::variant<std::int64_t, std::string> which;
                std::int64_t number, at;
                read("item", item, which, "sink");
                read("value", value, number, "sink");
                read("input", input, at, "sink");
                std::visit([&](const auto& key) { self.set_item(key, number, at); },
                           which);
            },
            py::arg("item"),
            py::arg("value"),
            py::arg("input") = -1,
            text("set_item(self, item: Union[int, str], value: int, input: int = -1)",
                 "set_item")
                .c_str())
        .def(
            "set_items",
            [](sink& self, const py::object& items) {
                std::vector<item> values;
                read("items", items, values, "sink");
                self.set_items(values);
            },
            py::arg("items"),
            text("set_items(self, items: list[item])", "set_items").c_str());
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
    bind_setters(block);
    block.def("rate", &sink::rate, docstrings.at("rate"))
        .def(
            "stats",
            [](const sink& s) { return to_dict(s.stats()); },
            docstrings.at("stats"))
        .def("packet_size", &sink::packet_size, docstrings.at("packet_size"));
}

} // namespace gr::spead
