/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "support/parameter_error.h"
#include "tick_clock.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gr::spead {

namespace {

// Times are counted in units of 10^-18 x 2^-64 s, which decimal seconds and doubles are
// both multiples of: 64 bits of seconds, 124 of units and 63 of the rate make 251.
using wide = boost::multiprecision::int256_t;

constexpr unsigned binary_places = 64;
constexpr std::int64_t attoseconds_per_second = 1'000'000'000'000'000'000;
constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::int64_t highest_rate = 1'000'000'000'000; // Hz

// Until the year 5138; what is longer are milliseconds by mistake.
constexpr std::size_t max_digits = 11;
constexpr std::size_t max_decimals = 18;

const char* const allowed_sync_time =
    "seconds since 1970 as text with up to 11 digits and 18 decimals, such as "
    "\"1234567890.000000001\", or integer nanoseconds, 0 or more";

bool are_digits(const std::string& text, std::size_t most)
{
    return !text.empty() && text.size() <= most &&
           std::all_of(
               text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

exact_time parse_sync_time(const std::string& decimal_seconds)
{
    const auto point = decimal_seconds.find('.');
    const bool has_point = point != std::string::npos;
    const std::string whole = decimal_seconds.substr(0, point);
    std::string decimals = has_point ? decimal_seconds.substr(point + 1) : "0";
    if (!are_digits(whole, max_digits) || !are_digits(decimals, max_decimals))
        throw parameter_error(
            "sync_time", "\"" + decimal_seconds + "\"", allowed_sync_time);
    decimals.resize(max_decimals, '0');
    return { std::stoull(whole), std::stoull(decimals) };
}

exact_time sync_time_from_nanoseconds(std::int64_t nanoseconds)
{
    if (nanoseconds < 0)
        throw parameter_error(
            "sync_time", std::to_string(nanoseconds), allowed_sync_time);
    constexpr auto attoseconds = attoseconds_per_second / nanoseconds_per_second;
    return { static_cast<std::uint64_t>(nanoseconds / nanoseconds_per_second),
             static_cast<std::uint64_t>(nanoseconds % nanoseconds_per_second *
                                        attoseconds) };
}

tick_clock::tick_clock(exact_rate sample_rate, exact_time sync_time)
    : d_rate(sample_rate), d_sync_time(sync_time)
{
    const auto [numerator, denominator] = sample_rate;
    if (numerator < 1 || denominator < 1 || (numerator - 1) / denominator >= highest_rate)
        throw parameter_error(
            "sample_rate",
            std::to_string(numerator) + "/" + std::to_string(denominator),
            "a ratio of two integers from 1 on that is no more than 10^12 Hz");
}

std::optional<tick_clock::reading> tick_clock::at(std::uint64_t seconds,
                                                  double fraction) const
{
    // 1 included: where sources add fractions, rounding can end there
    if (!(fraction >= 0 && fraction <= 1))
        return std::nullopt;
    const wide second = wide(attoseconds_per_second) << binary_places;
    const wide time = (wide(seconds) - d_sync_time.seconds) * second +
                      wide(std::ldexp(fraction, binary_places)) * attoseconds_per_second -
                      (wide(d_sync_time.attoseconds) << binary_places);

    const wide ticks = time * d_rate.numerator; // in parts of a tick
    const wide tick = second * d_rate.denominator;
    wide nearest = ticks / tick; // towards 0 as yet
    wide rest = ticks - nearest * tick;
    if (2 * rest > tick) {
        ++nearest;
        rest -= tick;
    } else if (2 * rest <= -tick) {
        --nearest;
        rest += tick;
    }
    using limits = std::numeric_limits<std::int64_t>;
    if (nearest < limits::min() || nearest > limits::max())
        return std::nullopt;
    return reading{ static_cast<std::int64_t>(nearest),
                    static_cast<double>(rest) / static_cast<double>(tick) };
}

tick_clock::tag_time tick_clock::time_of(std::uint64_t tick) const
{
    // in parts of an attosecond
    const wide part = d_rate.numerator;
    const wide second = wide(attoseconds_per_second) * part;
    const wide time = wide(tick) * d_rate.denominator * attoseconds_per_second +
                      wide(d_sync_time.seconds) * second +
                      wide(d_sync_time.attoseconds) * part;
    const wide whole = time / second;
    const double fraction =
        static_cast<double>(time - whole * second) / static_cast<double>(second);
    // what is rounded to a second belongs to the next one
    if (fraction >= 1)
        return { static_cast<std::uint64_t>(whole) + 1, 0 };
    return { static_cast<std::uint64_t>(whole), fraction };
}

} // namespace gr::spead
