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
#include <utility>

namespace pybind11::detail {

//! Converts an integer, a tuple of two integers, a fraction, or a whole float.
template <>
struct type_caster<gr::spead::exact_rate> {
    PYBIND11_TYPE_CASTER(gr::spead::exact_rate,
                         const_name("Union[int, Tuple[int, int], Fraction]"));

    bool load(handle source, bool)
    {
        object rate = reinterpret_borrow<object>(source);
        if (isinstance<float_>(rate) && pybind11::cast<bool>(rate.attr("is_integer")()))
            rate = int_(rate);
        if (!isinstance<tuple>(rate))
            rate = make_tuple(getattr(rate, "numerator", none()),
                              getattr(rate, "denominator", none()));
        make_caster<std::pair<std::int64_t, std::int64_t>> ratio;
        if (!ratio.load(rate, false))
            return false;
        const auto [numerator, denominator] =
            cast_op<std::pair<std::int64_t, std::int64_t>>(ratio);
        value = { numerator, denominator };
        return true;
    }

    static handle cast(const gr::spead::exact_rate& rate, return_value_policy, handle)
    {
        return make_tuple(rate.numerator, rate.denominator).release();
    }
};

} // namespace pybind11::detail

#endif /* INCLUDED_SPEAD_PYTHON_CASTERS_H */
