/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PARAMETER_ERROR_H
#define INCLUDED_SPEAD_CORE_PARAMETER_ERROR_H

#include <stdexcept>
#include <string>

namespace gr::spead {

//! Names the parameter, its value and the allowed values. The block adds its own name.
class parameter_error : public std::invalid_argument
{
public:
    parameter_error(const std::string& parameter,
                    const std::string& value,
                    const std::string& allowed)
        : std::invalid_argument(parameter + " = " + value +
                                " is invalid; allowed: " + allowed)
    {
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PARAMETER_ERROR_H */
