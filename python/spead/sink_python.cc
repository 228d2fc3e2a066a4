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

#include <type_traits>
#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace py = pybind11;
using namespace gr::spead;

#include "docstrings.h" // made from the C++ headers

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

py::dict to_dict(const sink_stats& stats)
{
    py::dict figures;
    sink_stats::for_each(
        [&](const char* name, auto figure) { figures[name] = stats.*figure; });
    return figures;
}

// In a signature, and in an error.
struct type_text {
    const char* name;
    const char* words;
};

template <typename type>
constexpr type_text text_of{};
template <>
constexpr type_text text_of<bool>{ "bool", "True or False" };
template <>
constexpr type_text text_of<std::int64_t>{ "int", "an integer" };
template <>
constexpr type_text text_of<double>{ "float", "a number" };
template <>
constexpr type_text text_of<std::string>{ "str", "a string" };
template <>
constexpr type_text text_of<std::vector<item>>{
    "list[item]", "a list, such as [spead.timestamp(), spead.samples()]"
};
template <>
constexpr type_text text_of<std::optional<std::int64_t>>{ "Optional[int]",
                                                          "an integer, or None" };
template <>
constexpr type_text text_of<std::optional<double>>{ "Optional[float]",
                                                    "a number, or None" };
template <>
constexpr type_text text_of<std::optional<exact_rate>>{
    "Optional[Union[int, tuple[int, int], Fraction]]", "a rate, or None"
};
template <>
constexpr type_text text_of<std::variant<std::string, std::int64_t>>{ "Union[str, int]",
                                                                      "a time" };
template <>
constexpr type_text text_of<std::variant<std::string, std::vector<std::string>>>{
    "Union[str, list[str]]", "a string such as \"127.0.0.1:7148\", or a list of strings"
};

template <>
constexpr type_text text_of<std::variant<std::int64_t, std::vector<std::int64_t>>>{
    "Union[int, list[int]]", "an integer, or a list of integers, one for each input"
};

template <typename type>
void read(const char* name,
          py::handle given,
          type& value,
          const std::string& function = "sink")
{
    py::detail::make_caster<type> caster;
    if (!caster.load(given, true))
        throw py::type_error("spead." + function + ": " + name + " = " +
                             std::string(py::repr(given)) +
                             " is not possible; allowed: " + text_of<type>.words);
    value = py::detail::cast_op<type>(caster);
}

void read(const char* name, py::handle given, decltype(sink_options::sync_time)& value)
{
    time_argument time;
    read(name, given, time);
    value = time.value;
}

// The option that a mistyped one is most like: difflib knows.
std::string nearest(const std::string& mistyped)
{
    py::list names;
    names.append("destinations");
    for_each_option([&](const char* name, auto) { names.append(name); });
    const py::list found =
        py::module::import("difflib").attr("get_close_matches")(mistyped, names, 1, 0.0);
    return py::cast<std::string>(found[0]);
}

sink_options read_options(py::dict given)
{
    sink_options options;
    for_each_option([&](const char* name, auto member) {
        if (!given.contains(name))
            return;
        read(name, given[name], options.*member);
        PyDict_DelItemString(given.ptr(), name);
    });
    for (const auto& unknown : given) {
        const auto name = py::cast<std::string>(unknown.first);
        throw py::type_error("spead.sink: there is no parameter " + name +
                             "; the nearest is " + nearest(name));
    }
    return options;
}

sink::sptr
make_sink(const py::object& destinations, const py::args& positional, py::kwargs named)
{
    if (positional.size() > 1 || (!positional.empty() && named.contains("heap_samples")))
        throw py::type_error("spead.sink: only destinations and heap_samples need no "
                             "name, and heap_samples is given once");
    if (!positional.empty())
        named["heap_samples"] = positional[0];
    std::variant<std::string, std::vector<std::string>> to;
    read("destinations", destinations, to);
    const auto options = read_options(named);
    // looking up a host can take its time
    const py::gil_scoped_release release;
    return std::visit([&](const auto& each) { return sink::make(each, options); }, to);
}

// The field "destinations" in GRC: a text, or a list as Python writes it. None for a list
// with variables, whose values are not known here.
py::object destinations_in_grc(const py::object& field)
{
    const py::object text = field.attr("strip")();
    if (!py::cast<bool>(text.attr("endswith")(py::make_tuple("]", ")"))))
        return text;
    try {
        return py::module::import("ast").attr("literal_eval")(text);
    } catch (const py::error_already_set& error) {
        // no list: the sink says what a text should be
        return error.matches(PyExc_SyntaxError) ? text : py::none();
    }
}

// Why the sink refuses the fields of its block in GRC; "" if it does not, or if GRC
// itself finds no value for one of them.
std::string error_in_grc(const py::dict& fields)
{
    try {
        bool is_complete = true;
        sink_options options;
        for_each_option([&](const char* name, auto member) {
            const py::object value = fields[name];
            if (value.is_none() && !py::cast(options.*member).is_none())
                is_complete = false;
            else
                read(name, value, options.*member);
        });
        if (!is_complete)
            return "";
        // the host that runs the flow graph may have more CPUs than this one
        options.affinity = std::min<std::int64_t>(options.affinity, 0);
        std::variant<std::string, std::vector<std::string>> to = "localhost:1";
        if (const auto given = destinations_in_grc(fields["destinations"]);
            !given.is_none())
            read("destinations", given, to);
        if (const auto* same = std::get_if<std::string>(&to))
            to = std::vector{ *same };
        sink::check(std::get<std::vector<std::string>>(to), options);
        return "";
    } catch (const std::exception& error) {
        // in GRC "affinity" is that of the block's own thread
        const std::string text = error.what(), prefix = "spead.sink: ";
        const bool is_affinity = text.rfind(prefix + "affinity = ", 0) == 0;
        return is_affinity ? prefix + "sender_" + text.substr(prefix.size()) : text;
    }
}

// The signature, as pybind11 would write it if the options were arguments of a function.
std::string signature()
{
    const sink_options defaults;
    std::ostringstream text;
    text << "__init__(self, destinations: "
         << text_of<std::variant<std::string, std::vector<std::string>>>.name;
    for_each_option([&](const char* name, auto member) {
        const auto& value = defaults.*member;
        text << ", " << (std::string(name) == "input_type" ? "*, " : "") << name << ": "
             << text_of<std::decay_t<decltype(value)>>.name << " = "
             << std::string(py::repr(py::cast(value)));
    });
    text << ") -> None";
    return text.str();
}

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
            py::kw_only(),
            py::arg("id") = standard.id,
            py::arg("name") = standard.name,
            py::arg("description") = standard.description,
            (function + "(*, id: int = " + std::to_string(standard.id) +
             ", name: str = '" + standard.name + "', description: str = '" +
             standard.description + "') -> item\n\n" + docstrings.at(function))
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
        py::arg("value"),
        py::arg("description") = "",
        (std::string("immediate(id: int, name: str, value: Union[int, list[int]], "
                     "description: str = '') -> item\n\n") +
         docstrings.at("immediate"))
            .c_str());
}

void bind_sink(py::module& m)
{
    py::class_<sink, gr::block, gr::basic_block, std::shared_ptr<sink>> block(
        m, "sink", docstrings.at("sink"));
    {
        // of them it would know (destinations: object, *args, **kwargs)
        py::options texts;
        texts.disable_function_signatures();
        block.def(py::init(&make_sink),
                  py::arg("destinations") = py::none(), // which is refused by name
                  signature().c_str());
    }
    block.def_static("_error_in_grc", &error_in_grc);
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

} // namespace

PYBIND11_MODULE(spead_python, m)
{
    // the base classes of the block
    py::module::import("gnuradio.gr");
    m.attr("__version__") = SPEAD_VERSION;
    bind_items(m);
    bind_sink(m);
}
