/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CHECKS_H
#define INCLUDED_SPEAD_CORE_CHECKS_H

#include "parameter_error.h"

#include <initializer_list>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

namespace gr::spead {

//! \name Checks of one parameter: they return its value, or throw parameter_error
//! \{

template <typename number>
std::string to_text(number value)
{
    std::ostringstream text;
    text.precision(15);
    text << value;
    return text.str();
}

inline std::string quoted(const std::string& text) { return "\"" + text + "\""; }

template <typename number>
number check_range(const std::string& parameter, number value, number from, number to)
{
    // written so that not-a-number is refused too
    if (!(value >= from && value <= to))
        throw parameter_error(
            parameter, to_text(value), to_text(from) + " to " + to_text(to));
    return value;
}

//! Seconds between two of many times; 0 is never.
inline void check_interval(const std::string& parameter, double seconds)
{
    constexpr double shortest = 1e-3;
    constexpr double longest = 1e9;
    if (!(seconds == 0 || (seconds >= shortest && seconds <= longest)))
        throw parameter_error(parameter,
                              to_text(seconds),
                              to_text(shortest) + " to " + to_text(longest) + ", or 0");
}

template <typename choice>
choice check_choice(const std::string& parameter,
                    const std::string& value,
                    std::initializer_list<std::pair<const char*, choice>> choices)
{
    std::string allowed;
    for (const auto& [name, meaning] : choices) {
        if (value == name)
            return meaning;
        allowed += (allowed.empty() ? "" : ", ") + quoted(name);
    }
    throw parameter_error(parameter, quoted(value), allowed);
}

//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CHECKS_H */
