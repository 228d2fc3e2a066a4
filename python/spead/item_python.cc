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

std::string kind(const item& i)
{
    return i.kind == item_kind::samples     ? "samples"
           : i.kind == item_kind::timestamp ? "timestamp"
                                            : "immediate";
}

std::string repr(const item& i)
{
    std::ostringstream text;
    text << "spead." << kind(i) << "(id=0x" << std::hex << i.id
         << ", name=" << std::string(py::repr(py::str(i.name)));
    if (i.kind == item_kind::immediate)
        text << ", value="
             << std::string(py::repr(i.values.size() == 1 ? py::cast(i.values[0])
                                                          : py::cast(i.values)));
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
        .def("__hash__", [](const item& i) { return py::hash(py::str(i.name)) ^ i.id; })
        .def("__repr__", &repr);
    using text = argument<std::string>;
    using integer = argument<std::int64_t>;
    using integers = argument<std::variant<std::int64_t, std::vector<std::int64_t>>>;
    const auto bind_function = [&](const char* name, auto make, const item& standard) {
        m.def(
            name,
            [=](const integer& id, const text& called, const text& description) {
                // in braces: the first one that is wrong is named
                return std::apply(make,
                                  std::tuple{ id.read("id", name),
                                              called.read("name", name),
                                              description.read("description", name) });
            },
            py::arg("id") = standard.id,
            py::arg("name") = standard.name,
            py::arg("description") = standard.description,
            docstrings.at(name));
    };
    bind_function("timestamp", &timestamp, timestamp());
    bind_function("samples", &samples, samples());
    m.def(
        "immediate",
        [](const integer& id,
           const text& name,
           const integers& value,
           const text& description) {
            const auto number = id.read("id", "immediate");
            const auto called = name.read("name", "immediate");
            const auto given = value.read("value", "immediate");
            const auto* one = std::get_if<std::int64_t>(&given);
            return immediate(number,
                             called,
                             one ? std::vector{ *one }
                                 : std::get<std::vector<std::int64_t>>(given),
                             description.read("description", "immediate"));
        },
        py::arg("id"),
        py::arg("name"),
        py::arg("value") = py::list(),
        py::arg("description") = "",
        docstrings.at("immediate"));
}

} // namespace gr::spead
