/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_PYTHON_ARGUMENTS_H
#define INCLUDED_SPEAD_PYTHON_ARGUMENTS_H

#include "casters.h"
#include "support/parameter_error.h"
#include <gnuradio/spead/item.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <type_traits>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// Arguments arrive as Python objects and are converted here, so that an error names the
// argument and its allowed values.

namespace gr::spead {

namespace py = pybind11;

//! What an argument may be, for errors.
struct type_text {
    std::string allowed;
    //! a float would lose digits: wrong values raise ValueError, not TypeError
    bool is_exact = false;
};

inline type_text text_of(bool) { return { "True or False" }; }
inline type_text text_of(std::int64_t) { return { "an integer" }; }
inline type_text text_of(double) { return { "a number" }; }
inline type_text text_of(const std::string&) { return { "a string" }; }
inline type_text text_of(const std::vector<std::string>&)
{
    return { "a string such as \"127.0.0.1:7148\", or a list of strings" };
}
inline type_text text_of(const std::vector<item>&)
{
    return {
        "a list of items, with parentheses, such as [spead.timestamp(), spead.samples()]",
    };
}
inline type_text text_of(const std::variant<std::string, std::int64_t>&)
{
    return { "seconds since 1970 as text, such as \"1234567890.000000001\", or integer "
             "nanoseconds; a float is precise only to about 0.2 us",
             true };
}
inline type_text text_of(const std::optional<std::variant<std::string, std::int64_t>>&)
{
    return { "a tick as an integer, or seconds since 1970 as text, such as "
             "\"1234567890.000000001\", or None",
             true };
}
inline type_text text_of(const std::optional<exact_rate>&)
{
    return { "a whole number of Hz, or an exact ratio: a tuple of two integers, such as "
             "(8000000, 7), or a fractions.Fraction; a float would round it",
             true };
}
template <typename type>
type_text text_of(const std::optional<type>&)
{
    return { text_of(type{}).allowed + ", or None" };
}
inline type_text text_of(const std::variant<std::int64_t, std::string>&)
{
    return { "the ID or the name of an item" };
}
inline type_text text_of(const std::variant<std::int64_t, std::vector<std::int64_t>>&)
{
    return { "an integer, or a list of integers, one for each input" };
}

//! Whether \p given, or an element of it, is bytes, which pybind11 accepts as a string,
//! or has a NUL, at which C functions would end the string.
inline bool has_bytes_or_nul(py::handle given)
{
    if (py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given))
        return std::any_of(given.begin(), given.end(), has_bytes_or_nul);
    if (py::isinstance<py::str>(given))
        return given.contains(py::str("\0", 1));
    return PyBytes_Check(given.ptr()) || PyByteArray_Check(given.ptr());
}

//! Converts whole floats, also in lists, to integers: widgets of GRC only give floats.
inline py::object with_integers(py::handle given)
{
    if (py::isinstance<py::float_>(given) && py::cast<bool>(given.attr("is_integer")()))
        return py::int_(py::reinterpret_borrow<py::object>(given));
    if (!py::isinstance<py::list>(given))
        return py::reinterpret_borrow<py::object>(given);
    py::list numbers;
    for (const auto& element : given)
        numbers.append(with_integers(element));
    return numbers;
}

//! Converts \p given, the argument \p name of \p function (such as "sink").
template <typename type>
type read(const std::string& name, py::handle given, const std::string& function)
{
    // pybind11 would truncate other numbers, such as Decimal, to integers
    constexpr bool takes_any_number =
        std::is_same_v<type, double> || std::is_same_v<type, std::optional<double>>;
    const bool is_refused = has_bytes_or_nul(given);
    auto text = text_of(type{});
    const auto converted = takes_any_number || text.is_exact
                               ? py::reinterpret_borrow<py::object>(given)
                               : with_integers(given);
    py::detail::make_caster<type> caster;
    try {
        if (!is_refused && caster.load(converted, takes_any_number))
            return py::detail::cast_op<type>(caster);
    } catch (const py::reference_cast_error&) {
        // a list contains None; reported below
    }
    int overflow = 0;
    if (PyLong_Check(given.ptr()) && !takes_any_number)
        PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
    if (overflow)
        text.allowed += "; integers are from -2^63 to 2^63 - 1";
    if (is_refused)
        text.allowed += "; bytes and NUL are not allowed";
    const parameter_error error(
        "spead." + function + ": " + name, py::repr(given), text.allowed);
    if (!is_refused && text.is_exact)
        throw error;
    throw py::type_error(error.what());
}

//! An argument before its conversion. Signatures show the type to which it is converted.
template <typename type>
struct argument {
    py::object given;

    type read(const char* name, const char* function) const
    {
        return spead::read<type>(name, given, function);
    }
};

} // namespace gr::spead

namespace pybind11::detail {

template <typename type>
struct type_caster<gr::spead::argument<type>> {
    PYBIND11_TYPE_CASTER(gr::spead::argument<type>, make_caster<type>::name);

    bool load(handle source, bool)
    {
        value.given = reinterpret_borrow<object>(source);
        return true;
    }
};

} // namespace pybind11::detail

#endif /* INCLUDED_SPEAD_PYTHON_ARGUMENTS_H */
