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

using namespace gr::spead;

namespace {

constexpr exact_rate fast{ 1712000000, 1 };
constexpr exact_rate odd{ 8000000, 7 };
constexpr exact_rate highest{ 1000000000000, 1 };
constexpr double below_one = 1 - std::numeric_limits<double>::epsilon() / 2;
constexpr std::uint64_t year = 31557600; // seconds
const char* const nano = "1234567890.000000001";
const char* const atto = "1700000000.123456789012345678";

struct test_vector {
    std::uint64_t seconds;
    double fraction;
    exact_rate rate;
    const char* sync_time;
    std::int64_t tick;
    double residual;
};

// Computed with Python, where f is the fraction in the table:
//     x = (seconds + Fraction(f) - Fraction(sync_time)) * Fraction(*rate)
//     tick = math.ceil(x - Fraction(1, 2))
//     residual = float(x - tick)
const test_vector vectors[] = {
    { 1234567890, 0x1.4b9ad0f953a6ep-2, fast, nano, 554401692, -0.317626026666 },
    { 2402199090, 0, fast, nano, 1998984614399999998, 0.288 },
    { 918991890, 0, fast, nano, -540266112000000002, 0.288 },
    { 1234567889, below_one, odd, nano, 0, -0.00114285727 },
    { 2402199090, below_one, odd, nano, 1334435658285714, 0.284571428445 },
    { 918991890, 0.5, odd, nano, -360658285142857, -0.144 },
    { 1700000000, 0, fast, atto, -211358023, 0.210864199264 },
    { 1857788000, below_one, fast, atto, 270133057500641977, 0.210864009194 },
    { 1700000000, 0x1.fc5414d71758ap-2, odd, atto, 426237, 0.378401309834 },
    { 1384424000, 0x1.1a175d13d74d6p-1, odd, atto, -360658285225711, -0.187442680722 },
    { 3155760000, below_one, fast, "0", 5402661121712000000, -0.00000019007 },
    { 0, 0, fast, "3155760000", -5402661120000000000, 0 },
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
    { 3, 0, { 1, 7 }, "0", 0, 0.428571428571 },
    { 4, 0, { 1, 7 }, "0", 1, -0.428571428571 },
    { 1000, 1, fast, "1000", 1712000000, 0 }, // equals second 1001
    { 1, 0x0.0000000000001p-1022, fast, "1", 0, 0 },
    { 0, 0, fast, "0.000000000292056075", -1, 0.4999999996 },
    { 0, 0, { 1, 3 }, "1.5", -1, 0.5 },
    // the largest intermediate products
    { 1692000000,
      0.3,
      { INT64_MAX, 9223373 },
      atto,
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

} // namespace

BOOST_AUTO_TEST_SUITE(tick_clocks)

BOOST_AUTO_TEST_CASE(ticks_match_rational_arithmetic)
{
    for (const auto& v : vectors) {
        const tick_clock clock(v.rate, parse_sync_time(v.sync_time));
        const auto reading = clock.to_tick(v.seconds, v.fraction);
        BOOST_TEST_CONTEXT(v.seconds << " + " << v.fraction << ", " << v.sync_time)
        {
            BOOST_REQUIRE(reading);
            BOOST_CHECK_EQUAL(reading->tick, v.tick);
            BOOST_CHECK_SMALL(reading->residual - v.residual, 1e-12);
        }
    }
}

BOOST_AUTO_TEST_CASE(times_out_of_range_have_no_tick)
{
    const tick_clock clock(fast, { 1000, 0 });
    for (const double fraction : { -1e-9, 1.1, HUGE_VAL, -HUGE_VAL, std::nan("") })
        BOOST_CHECK(!clock.to_tick(1000, fraction));
    BOOST_CHECK(!clock.to_tick(UINT64_MAX, 0));
    BOOST_CHECK(!tick_clock({ 1, 1 }, {}).to_tick(INT64_MAX, 0.6));
    BOOST_CHECK(!tick_clock(highest, {}).to_tick(100 * year, below_one));
    BOOST_CHECK(!tick_clock(highest, { 100 * year, 0 }).to_tick(0, 0));
}

BOOST_AUTO_TEST_CASE(sync_time_is_parsed_to_the_last_digit)
{
    const auto check = [](const exact_time& time, const exact_time& expected) {
        BOOST_CHECK_EQUAL(time.seconds, expected.seconds);
        BOOST_CHECK_EQUAL(time.attoseconds, expected.attoseconds);
    };
    check(parse_sync_time("0"), { 0, 0 });
    check(parse_sync_time("1234567890.5"), { 1234567890, 500000000000000000 });
    check(parse_sync_time("99999999999.999999999999999999"),
          { 99999999999, 999999999999999999 });
    check(sync_time_from_nanoseconds(1234567890000000001), { 1234567890, 1000000000 });
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
                       .find("sync_time = \"" + std::string(text) + "\" is invalid") == 0;
        });
}

// The fuzz target of timestamp_aligner tests that the time of any tick converts back to
// it.
BOOST_AUTO_TEST_CASE(the_fraction_of_a_time_is_below_one)
{
    // one that rounds to one becomes the next second
    const auto next = tick_clock({ 1, 1 }, parse_sync_time("5.999999999999999999"));
    BOOST_CHECK_EQUAL(next.time_of(0).seconds, 6u);
    BOOST_CHECK_EQUAL(next.time_of(0).fraction, 0);
    const tick_clock slow({ 2, 1 }, {});
    BOOST_CHECK_EQUAL(slow.time_of(UINT64_MAX).seconds, UINT64_MAX / 2);
    BOOST_CHECK_EQUAL(slow.time_of(UINT64_MAX).fraction, 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
