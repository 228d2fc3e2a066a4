/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "support/parameter_error.h"
#include "tick_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gr::spead {

namespace {

__extension__ typedef __int128 wide;

constexpr unsigned binary_places = 64;
constexpr std::int64_t attoseconds_per_second = 1'000'000'000'000'000'000;
constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::int64_t max_rate = 1'000'000'000'000; // Hz

// Enough until the year 5138. A longer number is in milliseconds by mistake.
constexpr std::size_t max_digits = 11;
constexpr std::size_t max_decimals = 18;

const char* const allowed_sync_time =
    "seconds since 1970 as text with up to 11 digits and 18 decimals, such as "
    "\"1234567890.000000001\", or integer nanoseconds, 0 or at least 864000000000000 (10 "
    "days)";
constexpr std::int64_t min_nanoseconds = 864'000'000'000'000;

bool are_digits(const std::string& text, std::size_t max_size)
{
    return !text.empty() && text.size() <= max_size &&
           std::all_of(
               text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

std::optional<exact_time> parse_time(const std::string& decimal_seconds)
{
    const auto point = decimal_seconds.find('.');
    const bool has_point = point != std::string::npos;
    const std::string whole_seconds = decimal_seconds.substr(0, point);
    std::string decimals = has_point ? decimal_seconds.substr(point + 1) : "0";
    if (!are_digits(whole_seconds, max_digits) || !are_digits(decimals, max_decimals))
        return std::nullopt;
    decimals.resize(max_decimals, '0');
    return exact_time{ std::stoull(whole_seconds), std::stoull(decimals) };
}

exact_time parse_sync_time(const std::string& decimal_seconds)
{
    if (const auto time = parse_time(decimal_seconds))
        return *time;
    throw parameter_error("sync_time", "\"" + decimal_seconds + "\"", allowed_sync_time);
}

exact_time sync_time_from_nanoseconds(std::int64_t nanoseconds)
{
    // seconds, by mistake, would be seconds to minutes after 1970
    if (nanoseconds && nanoseconds < min_nanoseconds)
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
    if (numerator < 1 || denominator < 1 || (numerator - 1) / denominator >= max_rate)
        throw parameter_error(
            "sample_rate",
            std::to_string(numerator) + "/" + std::to_string(denominator),
            "a ratio of two integers from 1 on that is no more than 10^12 Hz");
}

std::optional<tick_clock::reading> tick_clock::to_tick(std::uint64_t seconds,
                                                       double fraction) const
{
    // 1 is valid: sources that add up fractions may round to it
    if (!(fraction >= 0 && fraction <= 1))
        return std::nullopt;
    // The tick is (seconds + binary / 2^64 - decimal / 10^18) / denominator, with the
    // three terms multiplied by the numerator. None overflows: the numerator has 63 bits,
    // the seconds and the binary fraction have 64 each, and an attosecond is 2^-60 s.
    const wide rate = d_rate.numerator;
    const wide denominator = d_rate.denominator;
    const wide binary = wide(std::ldexp(fraction, binary_places)) * rate;
    const wide decimal = wide(d_sync_time.attoseconds) * rate;
    wide whole = (wide(seconds) - wide(d_sync_time.seconds)) * rate +
                 (binary >> binary_places) - decimal / attoseconds_per_second;

    // The rest in units of 2^-64 x 5^-18: both fractions are multiples of this unit.
    constexpr wide fives = attoseconds_per_second >> 18;
    constexpr wide units_per_one = fives << binary_places;
    wide rest = (binary & ((wide(1) << binary_places) - 1)) * fives -
                (decimal % attoseconds_per_second << (binary_places - 18));
    if (rest < 0) {
        rest += units_per_one;
        --whole;
    }

    wide tick = whole / denominator;
    wide remainder = whole % denominator; // without the rest
    if (remainder < 0) {
        remainder += denominator;
        --tick;
    }
    const wide halves = (2 * rest + units_per_one - 1) / units_per_one; // rounded up
    if (2 * remainder + halves > denominator) {
        remainder -= denominator;
        ++tick;
    }
    using limits = std::numeric_limits<std::int64_t>;
    if (tick < limits::min() || tick > limits::max())
        return std::nullopt;
    return reading{ static_cast<std::int64_t>(tick),
                    (static_cast<double>(remainder) +
                     static_cast<double>(rest) / static_cast<double>(units_per_one)) /
                        static_cast<double>(denominator) };
}

std::optional<std::uint64_t> tick_clock::first_tick_from(const exact_time& time) const
{
    // in units of the inverse of the rate's numerator; no product overflows
    const wide rate = d_rate.numerator;
    wide whole = (wide(time.seconds) - wide(d_sync_time.seconds)) * rate;
    const wide rest = (wide(time.attoseconds) - wide(d_sync_time.attoseconds)) * rate;
    whole += rest / attoseconds_per_second + (rest % attoseconds_per_second > 0);
    if (whole < 0)
        return std::nullopt;
    const wide tick = (whole + d_rate.denominator - 1) / d_rate.denominator;
    if (tick > std::numeric_limits<std::int64_t>::max())
        return std::nullopt;
    return static_cast<std::uint64_t>(tick);
}

tick_clock::rx_time tick_clock::time_of(std::uint64_t tick) const
{
    const wide rate = d_rate.numerator;
    const wide time = wide(tick) * d_rate.denominator;
    const wide units_per_second = attoseconds_per_second * rate;
    const wide rest =
        time % rate * attoseconds_per_second + wide(d_sync_time.attoseconds) * rate;
    const auto whole_seconds =
        static_cast<std::uint64_t>(time / rate + rest / units_per_second) +
        d_sync_time.seconds;
    const double fraction = static_cast<double>(rest % units_per_second) /
                            static_cast<double>(units_per_second);
    // the conversion to double may round up to a whole second
    if (fraction >= 1)
        return { whole_seconds + 1, 0 };
    return { whole_seconds, fraction };
}

} // namespace gr::spead
