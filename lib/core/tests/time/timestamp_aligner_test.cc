/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/placed_stream.h"

#include <boost/test/unit_test.hpp>

#include <limits>

using namespace gr::spead;

namespace {

constexpr auto zero = placed_heap::zero;

// Heaps of four samples in 40 ticks.
timestamp_aligner_config config(gap_policy on_gap = gap_policy::realign)
{
    return { 4, 40, megahertz, on_gap };
}

void check_heaps(const placed_stream& s, const std::vector<placed_heap>& heaps)
{
    BOOST_CHECK_EQUAL_COLLECTIONS(
        s.heaps.begin(), s.heaps.end(), heaps.begin(), heaps.end());
    BOOST_CHECK_EQUAL(s.samples_in, s.samples_out() + s.dropped);
}

// The place of a tag, or one of the constants below, and the number of samples after it.
using step = std::pair<std::int64_t, std::uint64_t>;
constexpr auto untagged = std::numeric_limits<std::int64_t>::max();
constexpr auto restart = untagged - 1;

struct counts {
    std::uint64_t dropped = 0, gaps = 0, missing = 0, zero_filled = 0, steps_back = 0;
};

struct scenario {
    const char* name;
    std::vector<gap_policy> policies;
    std::vector<step> steps;
    std::vector<placed_heap> heaps;
    counts expected;
};

const std::vector<gap_policy> both{ gap_policy::realign, gap_policy::zero_fill };
const std::vector<gap_policy> realign{ gap_policy::realign };
const std::vector<gap_policy> zero_fill{ gap_policy::zero_fill };
const placed_heap at_0{ 0, { 0, 1, 2, 3 } };
const placed_heap at_40{ 40, { 4, 5, 6, 7 } };
const placed_heap at_80{ 80, { 8, 9, 10, 11 } };
const placed_heap at_120{ 120, { 12, 13, 14, 15 } };

const scenario scenarios[] = {
    { "start on the grid", both, { { 0, 5 } }, { at_0 }, {} },
    { "start off the grid", both, { { 5, 7 } }, { at_80 }, { 3 } },
    { "expected tags",
      both,
      { { 0, 0 }, { 0, 2 }, { 2, 0 }, { 2, 1 }, { 3, 1 }, { 4, 4 } },
      { at_0, at_40 },
      {} },
    { "expected tags while dropping",
      both,
      { { 5, 0 }, { 5, 1 }, { 6, 6 } },
      { at_80 },
      { 3 } },
    { "samples before sync_time", both, { { -6, 4 }, { -2, 6 } }, { at_0 }, { 6 } },
    { "late first tag is a start",
      realign,
      { { untagged, 6 }, { 101, 7 } },
      { at_0, { 1040, { 104, 105, 106, 107 } } },
      { 5 } },
    { "gap within a heap",
      realign,
      { { 0, 6 }, { 7, 5 } },
      { at_0, at_80 },
      { 3, 1, 1 } },
    { "gap of many heaps",
      realign,
      { { 0, 6 }, { 40, 4 } },
      { at_0, { 400, { 40, 41, 42, 43 } } },
      { 2, 1, 34 } },
    { "zeros within a heap",
      zero_fill,
      { { 0, 1 }, { 3, 1 } },
      { { 0, { 0, zero, zero, 3 } } },
      { 0, 1, 2, 2 } },
    { "heaps of zeros",
      zero_fill,
      { { 0, 3 }, { 9, 3 } },
      { { 0, { 0, 1, 2, zero } },
        { 40, { zero, zero, zero, zero } },
        { 80, { zero, 9, 10, 11 } } },
      { 0, 1, 6, 6 } },
    { "step back", both, { { 0, 6 }, { 1, 7 } }, { at_0, at_40 }, { 5, 0, 0, 0, 1 } },
    { "gap that ends within the samples to drop",
      both,
      { { 0, 6 }, { 1, 1 }, { 4, 4 } },
      { at_0, at_40 },
      { 3, 1, 2, 0, 1 } },
    { "gap beyond samples to drop, filled",
      zero_fill,
      { { 5, 1 }, { 10, 2 } },
      { { 80, { zero, zero, 10, 11 } } },
      { 1, 1, 4, 2 } },
    { "gap beyond samples to drop",
      realign,
      { { 5, 1 }, { 10, 6 } },
      { at_120 },
      { 3, 1, 4 } },
    { "two gaps, filled",
      zero_fill,
      { { 0, 1 }, { 2, 0 }, { 3, 1 } },
      { { 0, { 0, zero, zero, 3 } } },
      { 0, 2, 2, 2 } },
    { "two gaps", realign, { { 0, 1 }, { 3, 1 }, { 6, 6 } }, { at_80 }, { 4, 2, 4 } },
    { "pause between runs is no gap",
      both,
      { { 0, 6 }, { restart, 0 }, { 9, 7 } },
      { at_0, at_120 },
      { 5 } },
    { "new run does not repeat a timestamp",
      both,
      { { 0, 6 }, { restart, 0 }, { 1, 11 } },
      { at_0, at_80 },
      { 9, 0, 0, 0, 1 } },
    { "new run without a tag continues after the unfinished heap",
      realign,
      { { 4, 6 }, { restart, 0 }, { untagged, 5 } },
      { at_40, { 120, { 10, 11, 12, 13 } } },
      { 2 } },
    { "new run does not repeat a timestamp of counted samples",
      realign,
      { { untagged, 2 }, { restart, 0 }, { untagged, 1 }, { 1, 11 } },
      { at_40, at_80 },
      { 6, 0, 0, 0, 1 } },
    { "counted samples delay one run only",
      realign,
      { { untagged, 4 }, { 8, 4 }, { restart, 0 }, { 12, 4 }, { restart, 0 } },
      { at_0, at_80, at_120 },
      {} },
    { "source that continues in a new run has not stepped back",
      both,
      { { 5, 1 }, { restart, 0 }, { 6, 4 }, { 9, 1 }, { restart, 0 }, { 10, 6 } },
      { at_120 },
      { 8, 0, 0, 0, 1 } },
};

constexpr std::int64_t samples_per_second = 100000;

} // namespace

BOOST_AUTO_TEST_SUITE(timestamp_aligners)

BOOST_AUTO_TEST_CASE(samples_are_placed_according_to_tags)
{
    for (const auto& row : scenarios)
        for (const auto on_gap : row.policies) {
            BOOST_TEST_CONTEXT(row.name)
            {
                placed_stream s(config(on_gap));
                for (const auto& [place, samples] : row.steps) {
                    if (place == restart)
                        s.restart();
                    else if (place != untagged)
                        s.tag(place);
                    s.send(samples);
                }
                check_heaps(s, row.heaps);
                BOOST_CHECK_EQUAL(s.dropped, row.expected.dropped);
                BOOST_CHECK_EQUAL(s.counters.gaps.get(), row.expected.gaps);
                BOOST_CHECK_EQUAL(s.counters.samples_missing.get(), row.expected.missing);
                BOOST_CHECK_EQUAL(s.zero_filled, row.expected.zero_filled);
                BOOST_CHECK_EQUAL(s.counters.steps_back.get(), row.expected.steps_back);
            }
        }
}

// Before the first tag, samples are counted: timestamp 0 covers ticks 0 to 39, timestamp
// 40 ticks 40 to 79.
BOOST_AUTO_TEST_CASE(late_first_tag_skips_the_timestamp_of_a_heap_already_sent)
{
    for (const bool heap_has_left : { false, true }) {
        placed_stream s(config());
        s.heap_has_left = heap_has_left;
        s.send(6);
        s.send_tagged({ { 2, 14 } });
        BOOST_REQUIRE_EQUAL(s.heaps.size(), heap_has_left ? 3u : 4u);
        BOOST_CHECK_EQUAL(s.heaps[1].timestamp, heap_has_left ? 80u : 40u);
        BOOST_CHECK_EQUAL(s.heaps.back(), at_120);
    }
}

BOOST_AUTO_TEST_CASE(gap_above_ten_seconds_is_not_filled)
{
    auto p = config(gap_policy::zero_fill);
    p.sample_rate = { 10 }; // one sample per second
    for (const std::int64_t end : { 12, 13 }) {
        placed_stream s(p);
        s.send_tagged({ { 0, 2 } });
        s.tag(end);
        BOOST_CHECK_EQUAL(s.zero_filled, end == 12 ? 10u : 0u);
        BOOST_CHECK_EQUAL(s.heaps.size(), end == 12 ? 3u : 0u);
    }
}

BOOST_AUTO_TEST_CASE(times_between_samples_are_rounded_to_the_nearest)
{
    placed_stream s(config(gap_policy::zero_fill));
    s.tag(0, 0.499);
    for (int i = 0; i < 4; ++i) { // no discontinuity
        s.send(1);
        s.tag(i + 1, i % 2 ? 0.501 : 0.499);
    }
    check_heaps(s, { at_0 });
    BOOST_CHECK_EQUAL(s.counters.gaps.get(), 0u);
    s.send(1);
    s.tag(5, 0.7); // rounds to place 6
    s.send(2);
    check_heaps(s, { at_0, { 40, { 4, zero, 5, 6 } } });

    // a tick is 1.25 samples
    placed_stream slow({ 10, 8, megahertz, gap_policy::zero_fill });
    slow.aligner.process_tag(0, 0, false);
    slow.send(5);
    BOOST_CHECK_EQUAL(slow.aligner.process_tag(5, 0, false).zeros_to_pack,
                      1u); // place 6.25

    // a tick is two samples: the residual tells them apart
    placed_stream fast({ 8, 4, megahertz, gap_policy::zero_fill });
    fast.send_tagged({ { 0, 3 }, { 4, 4 } });
    check_heaps(fast, { { 0, { 0, 1, 2, zero, 4, 5, 6, 7 } } });
}

BOOST_AUTO_TEST_CASE(extreme_times_are_ignored_or_counted)
{
    using limits = std::numeric_limits<std::int64_t>;
    for (const auto tick : { limits::min(), limits::max() }) {
        placed_stream s({ 4, 4, megahertz });
        s.send_tagged({ { 0, 3 } });
        s.aligner.process_tag(tick, 0.5, false);
        BOOST_CHECK(s.aligner.take_warnings().out_of_range);
        s.send_tagged({ { 3, 1 } });
        check_heaps(s, { at_0 });
    }
    // in range if samples are long
    placed_stream s(config(gap_policy::zero_fill));
    for (const auto tick : { limits::min(), limits::max(), limits::min() }) {
        s.aligner.process_tag(tick, -0.5, false);
        s.aligner.advance(1000);
    }
    BOOST_CHECK_EQUAL(s.counters.gaps.get(), 1u);
    BOOST_CHECK_EQUAL(s.counters.steps_back.get(), 1u);
}

// Simulates years, with heaps of 8-bit and 10-bit samples counted in bytes.
BOOST_AUTO_TEST_CASE(lossless_source_has_no_gaps)
{
    for (const exact_rate rate :
         { exact_rate{ 1712000000, 1 }, exact_rate{ 8000000, 7 } })
        for (const std::int64_t heap : { 4096, 5120 }) {
            const std::uint64_t sync = 1234567890;
            const tick_clock clock(rate, { sync, 0 });
            sink_counter_set counters;
            timestamp_aligner aligner({ heap, 4096, rate }, counters);
            const auto n = static_cast<std::uint64_t>(rate.numerator);
            const auto d = static_cast<std::uint64_t>(rate.denominator);
            std::uint64_t tick = 0;
            for (int i = 0; i < 1000; ++i) {
                const double fraction =
                    static_cast<double>(tick * d % n) / static_cast<double>(n);
                const auto reading = clock.to_tick(sync + tick * d / n, fraction);
                BOOST_REQUIRE_EQUAL(reading->tick, tick);
                aligner.process_tag(reading->tick, reading->residual, false);
                const std::uint64_t blocks = 1 + 250 * n / d * static_cast<unsigned>(i);
                tick += 4 * blocks;
                aligner.advance(4 * blocks * static_cast<std::uint64_t>(heap) / 4096);
            }
            BOOST_CHECK_EQUAL(counters.gaps.get() + counters.steps_back.get(), 0u);
            BOOST_CHECK(!aligner.take_warnings().residual);
        }
}

BOOST_AUTO_TEST_CASE(warnings_are_raised_once)
{
    placed_stream s(config());
    s.send(4);
    BOOST_CHECK(s.aligner.take_warnings().no_tag);
    s.restart();
    s.send(4);
    BOOST_CHECK(!s.aligner.take_warnings().no_tag);

    placed_stream early(config());
    early.tag(-6);
    BOOST_CHECK(early.aligner.take_warnings().before_sync);
    early.send(4);
    early.tag(-2);
    BOOST_CHECK(!early.aligner.take_warnings().before_sync);

    placed_stream off(config());
    off.tag(0, 0.09);
    off.send(2);
    BOOST_CHECK(!off.aligner.take_warnings().residual);
    off.tag(2, -0.4);
    off.tag(2, 0.4);
    BOOST_CHECK_CLOSE(off.aligner.take_warnings().residual, -0.4, 1e-9);
    BOOST_CHECK(!off.aligner.take_warnings().residual);

    for (const std::int64_t jump : { 1, -2, 30 * 100000 }) {
        placed_stream jumps(config());
        jumps.send_tagged({ { 0, 4 }, { 4 + jump, 4 } });
        BOOST_CHECK_EQUAL(jumps.aligner.take_warnings().jump_samples,
                          static_cast<double>(jump));
        jumps.send_tagged({ { 8 + 2 * jump, 4 } });
        BOOST_CHECK_EQUAL(jumps.aligner.take_warnings().jump_samples, 0.);
    }
}

// A block that rounds the positions of tags moves them in both directions.
BOOST_AUTO_TEST_CASE(small_jumps_in_both_directions_raise_a_warning)
{
    const auto jitter = [](const std::vector<std::int64_t>& jumps) {
        placed_stream s(config());
        std::int64_t place = 0;
        s.send_tagged({ { place, 100 } });
        for (const auto jump : jumps) {
            place += 100 + jump;
            s.send_tagged({ { place, 100 } });
        }
        return s.aligner.take_warnings().jitter_samples;
    };
    BOOST_CHECK_EQUAL(jitter({ 1, 0, -1, 2, -2 }), -1.);
    BOOST_CHECK_EQUAL(jitter({ -1, 0, 0, 1 }), 1.);
    BOOST_CHECK_EQUAL(jitter({ 1, 1, 0, 2 }), 0.);        // losses
    BOOST_CHECK_EQUAL(jitter({ 1000, -1000, 1000 }), 0.); // wrong tags
}

BOOST_AUTO_TEST_CASE(each_step_back_of_more_than_a_second_raises_a_warning)
{
    placed_stream s(config());
    s.tag(9 * samples_per_second);
    s.send(4);
    s.tag(8 * samples_per_second + 4);
    BOOST_CHECK_EQUAL(s.aligner.take_warnings().drop_seconds, 0.);
    for (int i = 0; i < 2; ++i) {
        s.tag(4 + (i + 2) * samples_per_second);
        BOOST_CHECK_EQUAL(s.aligner.take_warnings().drop_seconds, 7. - i);
        BOOST_CHECK_EQUAL(s.aligner.take_warnings().drop_seconds, 0.);
    }
    s.restart(); // the clock was set back between runs
    s.tag(4);
    BOOST_CHECK_EQUAL(s.aligner.take_warnings().drop_seconds, 9.);

    placed_stream start({ 10 * samples_per_second, 100 * samples_per_second, megahertz });
    start.tag(1);
    BOOST_CHECK(start.aligner.samples_to_drop() > 9 * samples_per_second);
    BOOST_CHECK_EQUAL(start.aligner.take_warnings().drop_seconds, 0.);
}

BOOST_AUTO_TEST_SUITE_END()
