/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_PYTHON_CASTERS_H
#define INCLUDED_SPEAD_PYTHON_CASTERS_H

#include <gnuradio/spead/exact_rate.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <variant>

//! What Python gives for sync_time.
struct time_argument {
    std::variant<std::string, std::int64_t> value;
};

namespace pybind11 {
namespace detail {

// Here a float is a mistake that deserves a reason, where pybind11 would only say that
// the arguments are incompatible. The name of the block is added in front.
[[noreturn]] inline void
refuse(const char* parameter, handle value, const std::string& allowed)
{
    throw value_error(std::string(parameter) + " = " + std::string(repr(value)) +
                      " is not possible; allowed: " + allowed);
}

//! Out of an integer, a tuple of two, or a fraction; out of a float if it is whole.
template <>
struct type_caster<gr::spead::exact_rate> {
    PYBIND11_TYPE_CASTER(gr::spead::exact_rate,
                         const_name("Union[int, Tuple[int, int], Fraction]"));

    bool load(handle source, bool)
    {
        object rate = reinterpret_borrow<object>(source);
        if (isinstance<float_>(rate) && pybind11::cast<bool>(rate.attr("is_integer")()))
            rate = int_(rate);
        const bool is_pair = isinstance<tuple>(rate) && len(rate) == 2;
        const bool is_ratio = hasattr(rate, "numerator") && hasattr(rate, "denominator");
        make_caster<std::int64_t> numerator, denominator;
        if ((!is_pair && !is_ratio) ||
            !numerator.load(is_pair ? object(rate[int_(0)]) : rate.attr("numerator"),
                            false) ||
            !denominator.load(is_pair ? object(rate[int_(1)]) : rate.attr("denominator"),
                              false))
            refuse("sample_rate",
                   source,
                   "a whole number of Hz, or an exact ratio: a tuple of two integers, "
                   "such as (8000000, 7), or a fractions.Fraction; a float would round "
                   "it");
        value = { cast_op<std::int64_t>(numerator), cast_op<std::int64_t>(denominator) };
        return true;
    }

    static handle cast(const gr::spead::exact_rate& rate, return_value_policy, handle)
    {
        return make_tuple(rate.numerator, rate.denominator).release();
    }
};

template <>
struct type_caster<time_argument> {
    PYBIND11_TYPE_CASTER(time_argument, const_name("Union[str, int]"));

    bool load(handle source, bool)
    {
        make_caster<std::int64_t> nanoseconds;
        if (isinstance<str>(source))
            value.value = pybind11::cast<std::string>(source);
        else if (nanoseconds.load(source, false))
            value.value = cast_op<std::int64_t>(nanoseconds);
        else
            refuse("sync_time",
                   source,
                   "seconds since 1970 as text, such as \"1234567890.000000001\", or "
                   "integer nanoseconds; a float would round it to about 0.2 us");
        return true;
    }

    static handle cast(const time_argument& source, return_value_policy, handle)
    {
        return pybind11::cast(source.value).release();
    }
};

} // namespace detail
} // namespace pybind11

#endif /* INCLUDED_SPEAD_PYTHON_CASTERS_H */
