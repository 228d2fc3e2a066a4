/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "message_ports.h"
#include "rx_time_tag.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

namespace {

// No valid form has more.
constexpr std::size_t max_elements = 4;

// Returns the elements of a tuple, vector, list or pair. Any other value, and what is
// left of a long one, is an element too.
std::vector<pmt::pmt_t> elements_of(const pmt::pmt_t& value)
{
    std::vector<pmt::pmt_t> elements;
    const bool is_tuple = pmt::is_tuple(value);
    if (is_tuple || pmt::is_vector(value)) {
        const auto n = std::min(pmt::length(value), max_elements + 1);
        for (std::size_t i = 0; i < n; ++i)
            elements.push_back(is_tuple ? pmt::tuple_ref(value, i)
                                        : pmt::vector_ref(value, i));
        return elements;
    }
    auto rest = value;
    for (; pmt::is_pair(rest) && elements.size() < max_elements; rest = pmt::cdr(rest))
        elements.push_back(pmt::car(rest));
    if (!pmt::is_null(rest))
        elements.push_back(rest);
    return elements;
}

// A fraction of 0 is valid in any unit, but any other integer may count nanoseconds.
std::optional<double> fraction_of(const pmt::pmt_t& value)
{
    if (integer(value) == 0)
        return 0;
    if (!pmt::is_real(value))
        return std::nullopt;
    const double fraction = pmt::to_double(value);
    // 1 is valid: sources that add up fractions may round to it
    return fraction >= 0 && fraction <= 1 ? std::optional(fraction) : std::nullopt;
}

// The text of a value on one line.
std::string text_of(const pmt::pmt_t& value)
{
    constexpr std::size_t max_characters = 60;
    auto text = pmt::write_string(value);
    if (text.size() > max_characters)
        text = text.substr(0, max_characters) + "...";
    // a terminal could interpret control sequences
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
}

} // namespace

rx_time_tag read_rx_time(const gr::tag_t& tag)
{
    const auto invalid = [&](const char* reason) {
        return rx_time_tag{ tag.offset,
                            0,
                            0,
                            "an rx_time tag with the value " + text_of(tag.value) +
                                " is ignored: " + reason };
    };
    const auto elements = elements_of(tag.value);
    const bool has_position = elements.size() == max_elements && integer(elements[2]) &&
                              pmt::is_real(elements[3]);
    if (elements.size() != 2 && !has_position)
        return invalid("allowed: a tuple, vector or pair of seconds and fraction");
    const auto seconds = integer(elements[0]);
    if (!seconds || *seconds < 0)
        return invalid("its seconds are not a whole number, 0 or more");
    const auto fraction = fraction_of(elements[1]);
    if (!fraction)
        return invalid("its fraction is not a real number from 0 to 1");
    return { tag.offset, static_cast<std::uint64_t>(*seconds), *fraction };
}

} // namespace gr::spead
