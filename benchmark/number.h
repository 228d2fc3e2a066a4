/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_BENCHMARK_NUMBER_H
#define INCLUDED_SPEAD_BENCHMARK_NUMBER_H

#include <sstream>
#include <stdexcept>

//! Parses the value of an option; throws std::invalid_argument if it is out of range.
template <typename T>
T number(const char* option, const char* text, T least, T most)
{
    std::istringstream in(text);
    T value{};
    if (in >> value && in.eof() && value >= least && value <= most)
        return value;
    std::ostringstream message;
    message << option << ' ' << text << ": must be a number from " << least << " to "
            << most;
    throw std::invalid_argument(message.str());
}

#endif /* INCLUDED_SPEAD_BENCHMARK_NUMBER_H */
