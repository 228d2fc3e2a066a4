/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "support/parameter_error.h"
#include "time/tick_clock.h"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace gr::spead;

namespace {

constexpr exact_rate gigahertz{ 1712000000, 1 };
constexpr exact_rate eight_sevenths{ 8000000, 7 };
constexpr double below_one = 1 - std::numeric_limits<double>::epsilon() / 2;
constexpr exact_rate highest{ 1000000000000, 1 };
const char* const nano = "1234567890.000000001";
const char* const atto = "1700000000.123456789012345678";

struct vector {
    std::uint64_t seconds;
    double fraction;
    exact_rate rate;
    const char* sync_time;
    std::int64_t tick;
    double residual;
};

// From Python, with f as the fraction of the table, and
//     x = (seconds + Fraction(f) - Fraction(sync_time)) * Fraction(*rate)
//     tick = math.ceil(x - Fraction(1, 2))
//     residual = float(x - tick)
// Fractions are 0, 0.5, below_one (the largest double that is), and random ones.
const vector vectors[] = {
    { 1234567890, 0x1.4b9ad0f953a6ep-2, gigahertz, nano, 554401692, -0.317626026666 },
    { 1234567889, 0x1.742bb54e350f3p-4, gigahertz, nano, -1556444265, 0.287999997261 },
    { 1392355890, 0, gigahertz, nano, 270133055999999998, 0.288 },
    { 2402199090, 0, gigahertz, nano, 1998984614399999998, 0.288 },
    { 918991890, 0, gigahertz, nano, -540266112000000002, 0.288 },
    { 1234567890, 0, eight_sevenths, nano, 0, -0.001142857143 },
    { 1234567889, below_one, eight_sevenths, nano, 0, -0.00114285727 },
    { 1392355890, 0x1.d0f776c4827b7p-4, eight_sevenths, nano, 180329142986877, -0.144 },
    { 2402199090, below_one, eight_sevenths, nano, 1334435658285714, 0.284571428445 },
    { 918991890, 0.5, eight_sevenths, nano, -360658285142857, -0.144 },
    { 1700000000, 0, gigahertz, atto, -211358023, 0.210864199264 },
    { 1699999999, below_one, gigahertz, atto, -211358023, 0.210864009194 },
    { 1857788000, below_one, gigahertz, atto, 270133057500641977, 0.210864009194 },
    { 2867631200, 0, gigahertz, atto, 1998984614188641977, 0.210864199264 },
    { 1384424000, below_one, gigahertz, atto, -540266110499358023, 0.210864009194 },
    { 1700000000, 0x1.fc5414d71758ap-2, eight_sevenths, atto, 426237, 0.378401309834 },
    { 1699999999, 0x1.b5719b4dcebffp-1, eight_sevenths, atto, -307514, 0.383985890685 },
    { 1857788000, 0.5, eight_sevenths, atto, 180329143287478, -0.044585537918 },
    { 2867631200, below_one, eight_sevenths, atto, 1334435658144621, -0.187442680902 },
    { 1384424000,
      0x1.1a175d13d74d6p-1,
      eight_sevenths,
      atto,
      -360658285225711,
      -0.187442680722 },
    { 3155760000, below_one, gigahertz, "0", 5402661121712000000, -0.00000019007 },
    { 0, 0, gigahertz, "3155760000", -5402661120000000000, 0 },
    { 1709000000,
      0.25,
      highest,
      "1700000000.000000000000499999",
      9000000250000000000,
      -0.499999 },
    { 1709000000,
      0.25,
      highest,
      "1700000000.000000000000500001",
      9000000249999999999,
      0.499999 },
    { 10, 0.5, { 1, 1 }, "0", 10, 0.5 },
    { 10, 0.5, { 1, 1 }, "11", -1, 0.5 },
    { 10, 0.5, { 1, 1 }, "10", 0, 0.5 },
    { 9, 0.5, { 1, 1 }, "10", -1, 0.5 },
    { 3, 0, { 1, 2 }, "0", 1, 0.5 },
    { 3, 0, { 1, 7 }, "0", 0, 0.428571428571 },
    { 4, 0, { 1, 7 }, "0", 1, -0.428571428571 },
    { 1, 0x0.0000000000001p-1022, gigahertz, "1", 0, 0 },
    { 0, 0, gigahertz, "0.000000000292056075", -1, 0.4999999996 },
    { 2, 0, { 1, 3 }, "0.5", 0, 0.5 },
    { 0, 0, { 1, 3 }, "1.5", -1, 0.5 },
    // the products are as large as they can be
    { 1700000000,
      below_one,
      { INT64_MAX, 9223373 },
      "1699999999.999999999999999999",
      999999895576,
      -0.403654473979 },
    { 1692000000,
      0.3,
      { INT64_MAX, 9223373 },
      "1700000000.123456789012345678",
      -7999998988061579092,
      -0.151691359367 },
    { INT64_MAX, 0.5, { INT64_MAX, INT64_MAX }, "0.5", INT64_MAX, 0 },
    { UINT64_MAX,
      1,
      { 1, INT64_MAX },
      "99999999999.999999999999999999",
      2,
      -1.084202172e-8 },
};

constexpr std::uint64_t year = 31557600; // seconds

} // namespace

BOOST_AUTO_TEST_SUITE(clock_of_ticks)

BOOST_AUTO_TEST_CASE(ticks_are_those_of_rational_arithmetic)
{
    for (const auto& v : vectors) {
        const tick_clock clock(v.rate, parse_sync_time(v.sync_time));
        const auto reading = clock.at(v.seconds, v.fraction);
        BOOST_TEST_CONTEXT(v.seconds << " + " << v.fraction << ", " << v.sync_time)
        {
            BOOST_REQUIRE(reading);
            BOOST_CHECK_EQUAL(reading->tick, v.tick);
            BOOST_CHECK_SMALL(reading->residual - v.residual, 1e-12);
        }
    }
}

// a source that counts samples and divides by its rate, as they all do
BOOST_AUTO_TEST_CASE(no_sample_is_lost_in_the_fraction_of_a_tag)
{
    std::mt19937_64 random(1);
    const std::uint64_t sync = 1234567890;
    for (const auto& [n, d] : { gigahertz, eight_sevenths }) {
        const tick_clock clock({ n, d }, { sync, 0 });
        const auto rate = static_cast<std::uint64_t>(n);
        const auto parts = static_cast<std::uint64_t>(d);
        for (int i = 0; i < 10000; ++i) {
            const std::uint64_t sample = random() % (50 * year * rate / parts);
            const std::uint64_t parts_of_second = sample * parts;
            const double fraction =
                static_cast<double>(parts_of_second % rate) / static_cast<double>(rate);
            const auto reading = clock.at(sync + parts_of_second / rate, fraction);
            BOOST_REQUIRE(reading);
            BOOST_REQUIRE_EQUAL(reading->tick, sample);
            BOOST_REQUIRE_SMALL(reading->residual, 2e-7);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_fraction_of_one_is_the_next_second)
{
    const tick_clock clock(gigahertz, { 1000, 0 });
    BOOST_CHECK_EQUAL(clock.at(1000, 1.0)->tick, 1712000000);
    BOOST_CHECK_EQUAL(clock.at(1000, below_one)->tick, 1712000000);
}

BOOST_AUTO_TEST_CASE(what_is_no_time_has_no_tick)
{
    const tick_clock clock(gigahertz, { 1000, 0 });
    for (const double fraction : { -1e-9, 1.1, HUGE_VAL, -HUGE_VAL, std::nan("") })
        BOOST_CHECK(!clock.at(1000, fraction));
    BOOST_CHECK(!clock.at(std::numeric_limits<std::uint64_t>::max(), 0));
}

BOOST_AUTO_TEST_CASE(ticks_end_where_64_bits_do)
{
    const tick_clock hz({ 1, 1 }, {});
    const auto last =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    BOOST_CHECK_EQUAL(hz.at(last, 0.5)->tick, std::numeric_limits<std::int64_t>::max());
    BOOST_CHECK(!hz.at(last, 0.6));

    // 100 years at the highest rate: more than ticks can count, but nothing worse
    BOOST_CHECK(!tick_clock(highest, {}).at(100 * year, below_one));
    BOOST_CHECK(!tick_clock(highest, { 100 * year, 0 }).at(0, 0));
}

BOOST_AUTO_TEST_CASE(sync_time_is_read_to_the_last_digit)
{
    const auto check =
        [](const exact_time& time, std::uint64_t seconds, std::uint64_t attoseconds) {
            BOOST_CHECK_EQUAL(time.seconds, seconds);
            BOOST_CHECK_EQUAL(time.attoseconds, attoseconds);
        };
    check(parse_sync_time("0"), 0, 0);
    check(parse_sync_time(nano), 1234567890, 1000000000);
    check(parse_sync_time("1234567890.5"), 1234567890, 500000000000000000);
    check(parse_sync_time("99999999999.999999999999999999"),
          99999999999,
          999999999999999999);
    check(sync_time_from_nanoseconds(0), 0, 0);
    check(sync_time_from_nanoseconds(1234567890000000001), 1234567890, 1000000000);
}

BOOST_AUTO_TEST_CASE(what_is_no_sync_time_is_refused_by_name)
{
    for (const char* text : { "",
                              ".",
                              "1.",
                              ".5",
                              "-1",
                              "+1",
                              " 1",
                              "1 ",
                              "1e9",
                              "0x10",
                              "1,5",
                              "1.2.3",
                              "nan",
                              "1234567890123",
                              "1.0000000000000000001" })
        BOOST_CHECK_EXCEPTION(parse_sync_time(text), parameter_error, [&](auto& error) {
            return std::string(error.what())
                       .find("sync_time = \"" + std::string(text) + "\" is invalid") !=
                   std::string::npos;
        });
    BOOST_CHECK_THROW(sync_time_from_nanoseconds(-1), parameter_error);
}

BOOST_AUTO_TEST_CASE(what_is_no_rate_is_refused)
{
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const exact_rate rate : { exact_rate{ 0, 1 },
                                   exact_rate{ 1, 0 },
                                   exact_rate{ -1, -1 },
                                   exact_rate{ 1000000000001, 1 },
                                   exact_rate{ 2000000000001, 2 },
                                   exact_rate{ most, 1 } })
        BOOST_CHECK_THROW(tick_clock(rate, {}), parameter_error);
    BOOST_CHECK_NO_THROW(tick_clock(highest, {}));
    BOOST_CHECK_NO_THROW(tick_clock({ 1, most }, {}));
    BOOST_CHECK_NO_THROW(tick_clock({ most, most }, {}));
}

BOOST_AUTO_TEST_CASE(the_time_of_a_tick_gives_the_tick_again)
{
    constexpr exact_rate rates[] = { { 1, 1 },       { 48000, 1 }, { 1000000000, 7 },
                                     { 8000000, 7 }, gigahertz,    { 3, 7 } };
    std::mt19937_64 random(1);
    for (const auto& rate : rates)
        for (const char* sync_time :
             { "0", nano, atto, "1700000000.999999999999999999" }) {
            const tick_clock clock(rate, parse_sync_time(sync_time));
            for (int i = 0; i < 2000; ++i) {
                const auto tick = i < 1000 ? static_cast<std::uint64_t>(i)
                                           : random() >> (16 + random() % 32);
                const auto [seconds, fraction] = clock.time_of(tick);
                BOOST_REQUIRE(fraction >= 0 && fraction < 1);
                const auto again = clock.at(seconds, fraction);
                BOOST_REQUIRE(again);
                BOOST_REQUIRE_EQUAL(again->tick, static_cast<std::int64_t>(tick));
            }
        }
}

BOOST_AUTO_TEST_CASE(a_fraction_that_is_rounded_to_one_is_the_next_second)
{
    const tick_clock clock({ 1, 1 }, parse_sync_time("5.999999999999999999"));
    const auto [seconds, fraction] = clock.time_of(0);
    BOOST_CHECK_EQUAL(seconds, 6);
    BOOST_CHECK_EQUAL(fraction, 0);
}

BOOST_AUTO_TEST_CASE(the_largest_tick_has_a_time)
{
    const auto largest = std::numeric_limits<std::uint64_t>::max();
    const tick_clock clock({ 2, 1 }, {});
    BOOST_CHECK_EQUAL(clock.time_of(largest).seconds, largest / 2);
    BOOST_CHECK_EQUAL(clock.time_of(largest).fraction, 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
