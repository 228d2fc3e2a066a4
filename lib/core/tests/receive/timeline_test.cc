/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Heaps of 100 samples, of which 1,000 to 1,500 have been received.

#include "receive/timeline.h"

#include <boost/test/unit_test.hpp>

#include <map>
#include <ostream>
#include <string>
#include <vector>

using namespace gr::spead;
using std::chrono::milliseconds;

namespace {

using verdict = timeline::verdict;

const std::map<verdict, std::string> names{
    { verdict::fits, "fits" },
    { verdict::jump, "jump" },
    { verdict::new_stream, "new_stream" },
    { verdict::late, "late" },
    { verdict::misaligned, "misaligned" },
    { verdict::hold, "hold" },
    { verdict::confirms_held, "agrees" },
};

constexpr std::int64_t length = 100;
constexpr auto silence = milliseconds(5000);

struct heap_case {
    std::string description;
    std::uint64_t counter;
    std::uint64_t timestamp;
    verdict expected;
    milliseconds later = milliseconds(1);
    bool is_aligned = false;
};

// A stream whose heaps of counters 10 to 14 begin at timestamps 1000 to 1400, without
// that of 1200.
struct received_times {
    timeline times;
    missing_ranges missing{ 64 };
    timeline::time_point now{ std::chrono::hours(1) };

    explicit received_times(bool is_aligned)
        : times({ 1,
                  1,
                  is_aligned ? length : 1,
                  is_aligned ? length : 1,
                  10000,
                  is_aligned })
    {
        missing.restart({ 0, std::int64_t{ 1 } << 62 });
        for (const std::uint64_t i : { 0, 1, 3, 4 }) {
            auto heap = heap_of(10 + i, 1000 + i * length);
            if (i == 0) {
                heap.position = 1000;
                times.begin_stream(heap);
            } else {
                BOOST_REQUIRE(times.locate(heap, 0));
            }
            times.add(heap, 0, now);
            times.record_progress(heap, 0, now);
            missing.remove(heap.range(), [](position_range) {});
            now += milliseconds(1);
        }
    }
    static heap_time heap_of(std::uint64_t counter, std::uint64_t timestamp)
    {
        heap_time heap;
        heap.counter = counter;
        heap.timestamp = timestamp;
        heap.timestamp_bits = 48;
        heap.length = length;
        return heap;
    }
    void check(const heap_case& row)
    {
        const auto judged = judge(heap_of(row.counter, row.timestamp), row.later);
        BOOST_TEST(names.at(judged) == names.at(row.expected), row.description);
    }
    verdict judge(heap_time heap, milliseconds later = milliseconds(1))
    {
        const bool is_located = times.locate(heap, 0);
        const timeline::heap_context around{ 1100, 1500, 4096, &missing, true };
        return times.classify(heap, is_located, 0, around, now + later);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(timeline_test)

BOOST_AUTO_TEST_CASE(heaps_are_judged_by_counter_and_time)
{
    const std::vector<heap_case> cases{
        { "the next heap", 15, 1500, verdict::fits },
        { "a later heap, others lost", 25, 2500, verdict::fits },
        { "the heap that is missing", 12, 1200, verdict::fits },
        { "a heap received before", 13, 1300, verdict::fits },
        { "a heap produced before", 10, 1000, verdict::late },
        { "times continue, counters restart", 1, 1500, verdict::hold },
        { "counters continue, times jump", 15, 7000, verdict::hold },
        { "counters continue, times go back", 15, 300, verdict::late },
        { "a time out of range", 15, std::uint64_t{ 1 } << 47, verdict::hold },
        { "a hole, but out of order", 16, 1200, verdict::hold },
        { "after silence, a later time", 1, 7000, verdict::jump, silence },
        { "after silence, a distant time", 1, 900000, verdict::new_stream, silence },
        { "after silence, an earlier time", 1, 300, verdict::new_stream, silence },
        { "after silence, the next heap", 15, 1500, verdict::fits, silence },
        { "between two steps", 15, 1550, verdict::misaligned, milliseconds(1), true },
        { "with axes, the next heap", 15, 1500, verdict::fits, milliseconds(1), true },
    };
    for (const auto& row : cases)
        received_times(row.is_aligned).check(row);
}

BOOST_AUTO_TEST_CASE(a_second_heap_must_agree_with_a_jump)
{
    const std::vector<heap_case> cases{
        { "adjacent", 41, 70100, verdict::confirms_held },
        { "adjacent, before it", 39, 69900, verdict::confirms_held },
        { "a step of the stream", 45, 70500, verdict::confirms_held },
        { "the same heap again", 40, 70000, verdict::hold },
        { "another time", 41, 80000, verdict::hold },
        { "the next heap of the stream", 15, 1500, verdict::fits },
    };
    for (const auto& row : cases) {
        received_times stream(false);
        const auto held = received_times::heap_of(40, 70000);
        BOOST_TEST(names.at(stream.judge(held)) == "hold");
        stream.times.hold(held, 0);
        stream.check(row);
    }
}

BOOST_AUTO_TEST_CASE(the_first_heap_begins_a_stream)
{
    timeline times({});
    missing_ranges missing(4);
    auto heap = received_times::heap_of(7, 123);
    const timeline::heap_context around{ 0, 0, 4096, &missing, false };
    BOOST_TEST(names.at(times.classify(heap, false, 0, around, {})) == "new_stream");
    heap.position = 50;
    times.begin_stream(heap);
    BOOST_TEST(times.tick_at(60) == 133u);
}

// Lost heaps make other steps, of which the hint must not be derived.
BOOST_AUTO_TEST_CASE(hints_about_steps_need_equal_ones)
{
    const auto noted = [](const std::vector<std::uint64_t>& steps) {
        received_times stream(true);
        std::uint64_t timestamp = 5000;
        for (const auto step : steps)
            stream.times.note_timestamp(received_times::heap_of(1, timestamp += step), 0);
        return stream.times.noted_step(0);
    };
    using steps = std::vector<std::uint64_t>;
    BOOST_TEST(noted(steps(8, 64)) == 0);
    BOOST_TEST(noted(steps(10, 64)) == 64);
    BOOST_TEST(noted({ 64, 64, 64, 64, 192, 64, 64, 64, 64, 128 }) == 0);
    auto repeated = steps(10, 64);
    repeated.insert(repeated.begin() + 5, 0);
    BOOST_TEST(noted(repeated) == 64); // a duplicate
}

BOOST_AUTO_TEST_SUITE_END()
