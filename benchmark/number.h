/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_BENCHMARK_NUMBER_H
#define INCLUDED_SPEAD_BENCHMARK_NUMBER_H

#include <type_traits>
#include <sstream>
#include <stdexcept>
#include <string>

//! The value of an option; std::invalid_argument if the text is anything else than a
//! number in the range. (strtoull() and the like take what is no number for 0, and the
//! beginning of a text for all of it.)
template <typename T>
T number(const char* option, const char* text, T least, T most)
{
    std::istringstream in(text);
    T value{};
    const bool negative = text[0] == '-'; // else it becomes a large unsigned number
    if (!negative && in >> value && in.eof() && value >= least && value <= most)
        return value;
    std::ostringstream message;
    message.precision(15); // no 1e+06
    message << option << " " << text << ": "
            << (std::is_integral_v<T> ? "a whole number" : "a number") << " from "
            << least << " to " << most << " is possible";
    throw std::invalid_argument(message.str());
}

#endif
