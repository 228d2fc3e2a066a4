/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "arguments.h"
#include "bindings.h"
#include <gnuradio/spead/item.h>

#include <pybind11/operators.h>

#include <map>
#include <sstream>
#include <tuple>

#include "docstrings.h" // generated from the C++ headers

namespace gr::spead {

namespace {

std::string kind(const item& item)
{
    return item.kind == item_kind::samples     ? "samples"
           : item.kind == item_kind::timestamp ? "timestamp"
                                               : "immediate";
}

std::string repr(const item& item)
{
    std::ostringstream text;
    text << "spead." << kind(item) << "(id=0x" << std::hex << item.id
         << ", name=" << std::string(py::repr(py::str(item.name)));
    if (item.kind == item_kind::immediate)
        text << ", value="
             << std::string(py::repr(item.values.size() == 1 ? py::cast(item.values[0])
                                                             : py::cast(item.values)));
    text << ")";
    return text.str();
}

} // namespace

void bind_items(py::module& m)
{
    py::class_<item> bound(m, "item", docstrings.at("item"));
    bound.attr("__module__") = "gnuradio.spead";
    bound.def_readonly("id", &item::id)
        .def_readonly("name", &item::name)
        .def_readonly("description", &item::description)
        .def_readonly("values", &item::values)
        .def_property_readonly("kind", &kind)
        .def(py::self == py::self)
        .def("__hash__",
             [](const item& item) { return py::hash(py::str(item.name)) ^ item.id; })
        .def("__repr__", &repr);
    using text = argument<std::string>;
    using integer = argument<std::int64_t>;
    using integers = argument<std::variant<std::int64_t, std::vector<std::int64_t>>>;
    const auto bind_function =
        [&](const char* function, auto make, const item& defaults) {
            m.def(
                function,
                [=](const integer& id, const text& name, const text& description) {
                    // in braces: the first one that is wrong is named
                    return std::apply(
                        make,
                        std::tuple{ id.read("id", function),
                                    name.read("name", function),
                                    description.read("description", function) });
                },
                py::arg("id") = defaults.id,
                py::arg("name") = defaults.name,
                py::arg("description") = defaults.description,
                docstrings.at(function));
        };
    bind_function("timestamp", &timestamp, timestamp());
    bind_function("samples", &samples, samples());
    m.def(
        "immediate",
        [](const integer& id,
           const text& name,
           const integers& value,
           const text& description) {
            const auto item_id = id.read("id", "immediate");
            const auto item_name = name.read("name", "immediate");
            const auto values = value.read("value", "immediate");
            const auto* single = std::get_if<std::int64_t>(&values);
            return immediate(item_id,
                             item_name,
                             single ? std::vector{ *single }
                                    : std::get<std::vector<std::int64_t>>(values),
                             description.read("description", "immediate"));
        },
        py::arg("id"),
        py::arg("name"),
        py::arg("value") = py::list(),
        py::arg("description") = "",
        docstrings.at("immediate"));
}

} // namespace gr::spead
