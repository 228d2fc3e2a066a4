/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_PYTHON_ARGUMENTS_H
#define INCLUDED_SPEAD_PYTHON_ARGUMENTS_H

#include "casters.h"
#include <gnuradio/spead/item.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <type_traits>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

// Arguments come as Python's objects, and are read here: so errors name the one that is
// wrong, and say what is allowed.

namespace gr::spead {

namespace py = pybind11;

// In a signature, and in an error.
struct type_text {
    const char* name;
    const char* words;
};

template <typename type>
inline constexpr type_text text_of{};
template <>
inline constexpr type_text text_of<bool>{ "bool", "True or False" };
template <>
inline constexpr type_text text_of<std::int64_t>{ "int", "an integer" };
template <>
inline constexpr type_text text_of<double>{ "float", "a number" };
template <>
inline constexpr type_text text_of<std::string>{ "str", "a string" };
template <>
inline constexpr type_text text_of<std::vector<item>>{
    "list[item]", "a list of items with (), such as [spead.timestamp(), spead.samples()]"
};
template <>
inline constexpr type_text text_of<std::optional<std::int64_t>>{ "Optional[int]",
                                                                 "an integer, or None" };
template <>
inline constexpr type_text text_of<std::optional<double>>{ "Optional[float]",
                                                           "a number, or None" };
template <>
inline constexpr type_text text_of<std::optional<std::vector<item>>>{
    "Optional[list[item]]",
    "a list of items with (), such as [spead.timestamp(), spead.samples()], or None"
};
template <>
inline constexpr type_text text_of<std::optional<exact_rate>>{
    "Optional[Union[int, tuple[int, int], Fraction]]", "a rate, or None"
};
template <>
inline constexpr type_text text_of<std::variant<std::string, std::int64_t>>{
    "Union[str, int]", "a time"
};
template <>
inline constexpr type_text text_of<std::variant<std::string, std::vector<std::string>>>{
    "Union[str, list[str]]", "a string such as \"127.0.0.1:7148\", or a list of strings"
};

template <>
inline constexpr type_text text_of<std::variant<std::int64_t, std::string>>{
    "Union[int, str]", "the ID or the name of an item"
};
template <>
inline constexpr type_text text_of<std::variant<std::int64_t, std::vector<std::int64_t>>>{
    "Union[int, list[int]]", "an integer, or a list of integers, one for each input"
};

//! Whether C++ takes it as Python shows it: bytes would be text, and text end at NUL.
inline bool is_text_or_other(py::handle given)
{
    if (py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given))
        return std::all_of(given.begin(), given.end(), is_text_or_other);
    if (py::isinstance<py::str>(given))
        return !given.contains(py::str("\0", 1));
    return !PyBytes_Check(given.ptr()) && !PyByteArray_Check(given.ptr());
}

//! One text for all streams, or one for each.
using endpoint_lists = std::variant<std::string, std::vector<std::string>>;

//! Reads the argument \p name of \p function, such as "sink".
template <typename type>
void read(const char* name, py::handle given, type& value, const std::string& function)
{
    py::detail::make_caster<type> caster;
    // what is no integer would be cut to one
    constexpr bool takes_any_number =
        std::is_same_v<type, double> || std::is_same_v<type, std::optional<double>>;
    const bool is_text = is_text_or_other(given);
    bool is_read = false;
    try {
        is_read = is_text && caster.load(given, takes_any_number);
    } catch (const py::reference_cast_error&) {
        // None in a list
    } catch (const py::value_error& error) {
        throw py::value_error("spead." + function + ": " + error.what());
    }
    if (!is_read) {
        std::string allowed = is_text ? text_of<type>.words : "text (str) without NUL";
        int overflow = 0;
        if (PyLong_Check(given.ptr()) && !takes_any_number)
            PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
        if (overflow)
            allowed += "; integers are from -2^63 to 2^63 - 1";
        throw py::type_error("spead." + function + ": " + name + " = " +
                             std::string(py::repr(given)) +
                             " is not possible; allowed: " + allowed);
    }
    value = py::detail::cast_op<type>(caster);
}

inline void read(const char* name,
                 py::handle given,
                 std::variant<std::string, std::int64_t>& value,
                 const std::string& function)
{
    time_argument time;
    read(name, given, time, function);
    value = time.value;
}

/*!
 * \brief The arguments of a block whose parameters are \p options and, in front of them,
 * its endpoints.
 */
template <typename options>
class block_arguments
{
public:
    //! \p positional: the option that needs no name, if there is one
    block_arguments(std::string block, std::string endpoints, std::string positional = "")
        : d_block(std::move(block)),
          d_endpoints(std::move(endpoints)),
          d_positional(std::move(positional))
    {
    }

    endpoint_lists read_endpoints(const py::object& given) const
    {
        endpoint_lists value;
        spead::read(d_endpoints.c_str(), given, value, d_block);
        return value;
    }

    options read_options(const py::args& positional, py::kwargs named) const
    {
        if (positional.size() > (d_positional.empty() ? 0 : 1) ||
            (!positional.empty() && named.contains(d_positional.c_str())))
            throw py::type_error("spead." + d_block + ": only " + d_endpoints +
                                 (d_positional.empty()
                                      ? " needs no name"
                                      : " and " + d_positional + " need no name, and " +
                                            d_positional + " is given once"));
        if (!positional.empty())
            named[d_positional.c_str()] = positional[0];
        options value;
        options::for_each([&](const char* name, auto member) {
            if (!named.contains(name))
                return;
            spead::read(name, named[name], value.*member, d_block);
            PyDict_DelItemString(named.ptr(), name);
        });
        for (const auto& unknown : named) {
            const auto name = py::cast<std::string>(unknown.first);
            throw py::type_error("spead." + d_block + ": there is no parameter " + name +
                                 "; the nearest is " + nearest(name));
        }
        return value;
    }

    //! As pybind11 would write it if the options were arguments of a function.
    std::string signature() const
    {
        const options defaults;
        std::ostringstream text;
        text << "__init__(self, " << d_endpoints << ": " << text_of<endpoint_lists>.name;
        bool needs_name = false;
        options::for_each([&](const char* name, auto member) {
            const auto& value = defaults.*member;
            const bool is_first = !needs_name && name != d_positional;
            needs_name |= is_first;
            text << ", " << (is_first ? "*, " : "") << name << ": "
                 << text_of<std::decay_t<decltype(value)>>.name << " = "
                 << std::string(py::repr(py::cast(value)));
        });
        text << ") -> None";
        return text.str();
    }

    //! Why the block refuses the fields of its block in GRC; "" if it does not, or if GRC
    //! itself finds no value for one of them. In GRC "affinity" is that of the block's
    //! own thread, and ours has the name \p affinity. \p streams is the number of inputs
    //! or outputs.
    template <typename function>
    std::string error_in_grc(const py::dict& fields,
                             const std::string& affinity,
                             std::int64_t options::*streams,
                             function&& check) const
    {
        const std::string prefix = "spead." + d_block + ": ";
        try {
            bool is_complete = true;
            options value;
            options::for_each([&](const char* name, auto member) {
                const py::object field = fields[name];
                if (field.is_none() && !py::cast(value.*member).is_none())
                    is_complete = false;
                else
                    spead::read(name, field, value.*member, d_block);
            });
            if (!is_complete)
                return "";
            allow_any_cpu(value, 0);
            // which any block takes, whatever its options
            endpoint_lists lists = std::vector<std::string>(
                std::clamp<std::size_t>(value.*streams, 1, 64), "localhost:1");
            if (const auto given = endpoints_in_grc(fields[d_endpoints.c_str()]);
                !given.is_none())
                lists = read_endpoints(given);
            if (const auto* same = std::get_if<std::string>(&lists))
                lists = std::vector{ *same };
            check(std::get<std::vector<std::string>>(lists), value);
            return "";
        } catch (const std::exception& error) {
            const std::string text = error.what();
            const bool is_affinity = text.rfind(prefix + "affinity = ", 0) == 0;
            return is_affinity ? prefix + affinity + text.substr(prefix.size() + 8)
                               : text;
        }
    }

private:
    // The host that runs the flow graph may have more CPUs than this one.
    template <typename with_affinity>
    static auto allow_any_cpu(with_affinity& value, int)
        -> decltype(value.affinity, void())
    {
        value.affinity = std::min<std::int64_t>(value.affinity, 0);
    }
    template <typename without>
    static void allow_any_cpu(without&, long)
    {
    }

    // The option that a mistyped one is most like: difflib knows.
    std::string nearest(const std::string& mistyped) const
    {
        py::list names;
        names.append(d_endpoints);
        options::for_each([&](const char* name, auto) { names.append(name); });
        const py::list found = py::module::import("difflib").attr("get_close_matches")(
            mistyped, names, 1, 0.0);
        return py::cast<std::string>(found[0]);
    }

    // A text, or a list as Python writes it. None for a list with variables, whose values
    // are not known here.
    static py::object endpoints_in_grc(const py::object& field)
    {
        const py::object text = field.attr("strip")();
        if (!py::cast<bool>(text.attr("endswith")(py::make_tuple("]", ")"))))
            return text;
        try {
            return py::module::import("ast").attr("literal_eval")(text);
        } catch (const py::error_already_set& error) {
            // no list: the block says what a text should be
            return error.matches(PyExc_SyntaxError) ? text : py::none();
        }
    }

    const std::string d_block;
    const std::string d_endpoints;
    const std::string d_positional;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_PYTHON_ARGUMENTS_H */
