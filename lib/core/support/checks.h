/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CHECKS_H
#define INCLUDED_SPEAD_CORE_CHECKS_H

#include "parameter_error.h"

#include <type_traits>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

namespace gr::spead {

inline std::string quoted(const std::string& text) { return "\"" + text + "\""; }

//! \name Values in error messages, formatted much as the user wrote them
//! \{

template <typename number>
std::string to_text(number value)
{
    std::ostringstream text;
    text.precision(15);
    text << value;
    return text.str();
}

inline std::string to_text(const std::string& text) { return quoted(text); }

template <typename... types>
std::string to_text(const std::variant<types...>& value)
{
    return std::visit([](const auto& held) { return to_text(held); }, value);
}

//! \}

//! The allowed range of a number, including both ends.
template <typename number>
struct bounds {
    number min;
    number max;
    //! appended in errors if 0 is allowed as well; nullptr if it is not
    const char* or_zero = nullptr;
    //! replaces the numbers in errors if they are hard to read
    const char* text = nullptr;
};
template <typename lower, typename upper, typename... texts>
bounds(lower, upper, texts...) -> bounds<std::common_type_t<lower, upper, std::int64_t>>;

//! The allowed values, each with its meaning.
template <typename meaning, std::size_t count, typename value = const char*>
using choices = std::array<std::pair<value, meaning>, count>;

//! \name Checks of one parameter; they throw parameter_error
//! \{

template <typename value>
void require(bool is_allowed,
             const std::string& parameter,
             const value& given,
             const std::string& allowed)
{
    if (!is_allowed)
        throw parameter_error(parameter, to_text(given), allowed);
}

template <typename number>
number
check_value(const std::string& parameter, number given, const bounds<number>& allowed)
{
    // a comparison that also rejects NaN
    const bool is_inside = given >= allowed.min && given <= allowed.max;
    if (!is_inside && !(allowed.or_zero && given == 0))
        throw parameter_error(parameter,
                              to_text(given),
                              allowed.text
                                  ? allowed.text
                                  : to_text(allowed.min) + " to " + to_text(allowed.max) +
                                        (allowed.or_zero ? allowed.or_zero : ""));
    return given;
}

//! Returns the meaning of the value.
template <typename value, typename meaning, std::size_t count, typename key>
meaning check_value(const std::string& parameter,
                    const value& given,
                    const std::array<std::pair<key, meaning>, count>& allowed)
{
    std::string allowed_text;
    for (const auto& [choice, mapped] : allowed) {
        if (given == choice)
            return mapped;
        allowed_text += (allowed_text.empty() ? "" : ", ") + to_text(value(choice));
    }
    throw parameter_error(parameter, to_text(given), allowed_text);
}

//! Checks the value if it is set.
template <typename value, typename rule>
void check_value(const std::string& parameter,
                 const std::optional<value>& given,
                 const rule& allowed)
{
    if (given)
        check_value(parameter, *given, allowed);
}

//! \}

//! A row in a table of options.
template <typename options, typename value, typename rule>
struct option {
    const char* name;
    value options::*member;
    //! bounds or choices, or a function that returns them for the options
    rule allowed;
};
template <typename options, typename value, typename rule>
option(const char*, value options::*, rule) -> option<options, value, rule>;

//! Checks the options in the order of the rows.
template <typename options, typename... rows>
void check_table(const options& given, const std::tuple<rows...>& table)
{
    const auto check = [&](const auto& row) {
        if constexpr (std::is_invocable_v<decltype(row.allowed), const options&>)
            check_value(row.name, given.*row.member, row.allowed(given));
        else
            check_value(row.name, given.*row.member, row.allowed);
    };
    std::apply([&](const auto&... row) { (check(row), ...); }, table);
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CHECKS_H */
