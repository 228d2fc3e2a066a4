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

#include "docstrings.h" // made from the C++ headers

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
    py::class_<item>(m, "item", docstrings.at("item"))
        .def_readonly("id", &item::id)
        .def_readonly("name", &item::name)
        .def_readonly("description", &item::description)
        .def_readonly("values", &item::values)
        .def_property_readonly("kind", &kind)
        .def(py::self == py::self)
        .def("__hash__", [](const item& i) { return py::hash(py::str(i.name)) ^ i.id; })
        .def("__repr__", &repr);
    // arguments are objects, and read here: errors name the one that is wrong
    py::options texts;
    texts.disable_function_signatures();
    for (const auto& [name, make] :
         { std::pair{ "timestamp", &timestamp }, std::pair{ "samples", &samples } }) {
        const item standard = make == &timestamp ? timestamp() : samples();
        const std::string function = name;
        m.def(
            name,
            [function, make = make](const py::object& id,
                                    const py::object& called,
                                    const py::object& description) {
                item i;
                read("id", id, i.id, function);
                read("name", called, i.name, function);
                read("description", description, i.description, function);
                return make(i.id, i.name, i.description);
            },
            py::arg("id") = standard.id,
            py::arg("name") = standard.name,
            py::arg("description") = standard.description,
            (function + "(id: int = " + std::to_string(standard.id) + ", name: str = '" +
             standard.name + "', description: str = '" + standard.description +
             "') -> item\n\n" + docstrings.at(function))
                .c_str());
    }
    m.def(
        "immediate",
        [](const py::object& id,
           const py::object& name,
           const py::object& value,
           const py::object& description) {
            const std::string function = "immediate";
            item i;
            std::variant<std::int64_t, std::vector<std::int64_t>> values;
            read("id", id, i.id, function);
            read("name", name, i.name, function);
            read("value", value, values, function);
            read("description", description, i.description, function);
            const auto* one = std::get_if<std::int64_t>(&values);
            return immediate(i.id,
                             i.name,
                             one ? std::vector{ *one }
                                 : std::get<std::vector<std::int64_t>>(values),
                             i.description);
        },
        py::arg("id"),
        py::arg("name"),
        py::arg("value") = py::list(),
        py::arg("description") = "",
        (std::string("immediate(id: int, name: str, value: Union[int, list[int]] = [], "
                     "description: str = '') -> item\n\n") +
         docstrings.at("immediate"))
            .c_str());
}

} // namespace gr::spead
