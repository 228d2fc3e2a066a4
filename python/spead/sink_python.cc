/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "bindings.h"
#include "block_binding.h"
#include "support/shortened.h"
#include <gnuradio/spead/sink.h>

namespace gr::spead {

void bind_sink(py::module& m)
{
    using key = std::variant<std::int64_t, std::string>;
    block_binding<sink, sink_options>(
        "sink", "destinations", &sink_options::num_inputs, "heap_samples")
        .bind(m)
        .def(
            "set_rate",
            [](sink& self, const argument<double>& rate) {
                self.set_rate(rate.read("rate", "sink"));
            },
            py::arg("rate"),
            docstrings.at("sink.set_rate"))
        .def(
            "set_item",
            [](sink& self,
               const argument<key>& item,
               const argument<std::int64_t>& value,
               const argument<std::int64_t>& input) {
                const auto id_or_name = item.read("item", "sink");
                const auto number = value.read("value", "sink");
                const auto input_index = input.read("input", "sink");
                std::visit(
                    [&](const auto& item_key) {
                        self.set_item(item_key, number, input_index);
                    },
                    id_or_name);
            },
            py::arg("item"),
            py::arg("value"),
            py::arg("input") = -1,
            docstrings.at("sink.set_item"))
        .def(
            "set_items",
            [](sink& self, const argument<std::vector<item>>& items) {
                self.set_items(items.read("items", "sink"));
            },
            py::arg("items"),
            docstrings.at("sink.set_items"))
        .def("rate", &sink::rate, docstrings.at("sink.rate"))
        .def(
            "stats",
            [](const sink& self) { return to_dict(self.stats()); },
            docstrings.at("sink.stats"))
        .def("packet_size", &sink::packet_size, docstrings.at("sink.packet_size"))
        .def("destinations", &sink::destinations, docstrings.at("sink.destinations"))
        .def("__repr__", [](const sink& self) {
            return "<spead.sink to " + shortened(self.destinations()) + ">";
        });
}

} // namespace gr::spead
