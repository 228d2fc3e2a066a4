/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Sources that jump at random, against a model that knows all samples in advance.

#include "helpers/placed_stream.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace gr::spead;

namespace {

// What came in one run: where it started, and the places that none had reached before.
struct run {
    std::int64_t free; // heaps before have been begun in other runs
    std::int64_t first;
    std::set<std::int64_t> places;
};

std::int64_t heap_of(std::int64_t place, std::int64_t heap)
{
    return place >= 0 ? place / heap : -((heap - 1 - place) / heap);
}

std::int64_t next_heap(std::int64_t place, std::int64_t heap)
{
    return heap_of(place + heap - 1, heap);
}

// The heap as far as its samples came, with zeros for the others.
placed_heap with_zeros(const run& r, std::int64_t index, const timeline_plan& plan)
{
    placed_heap heap{ placed_stream::stamp(index * plan.timestamp_step), {} };
    for (auto p = index * plan.heap_samples; p < (index + 1) * plan.heap_samples; ++p)
        heap.samples.push_back(r.places.count(p) ? p : placed_heap::zero);
    return heap;
}

// One that lacks none, or only its first samples where they may be zeros.
bool is_usable(const placed_heap& heap, start_policy on_start)
{
    const auto& s = heap.samples;
    const auto zeros_end = std::find_if(
        s.begin(), s.end(), [](auto sample) { return sample != placed_heap::zero; });
    return zeros_end != s.end() &&
           (zeros_end == s.begin() || on_start == start_policy::zero_fill) &&
           std::count(zeros_end, s.end(), placed_heap::zero) == 0;
}

std::vector<placed_heap> expected_heaps(const run& r, const timeline_plan& plan)
{
    std::vector<placed_heap> heaps;
    if (r.places.empty())
        return heaps;
    const auto heap = plan.heap_samples;
    const auto free = r.free / heap;
    auto index = next_heap(r.first, heap);
    if (plan.on_start == start_policy::zero_fill && heap_of(r.first, heap) >= free)
        index = heap_of(r.first, heap);
    for (index = std::max(index, free); (index + 1) * heap <= *r.places.rbegin() + 1;
         ++index) {
        const auto candidate = with_zeros(r, index, plan);
        if (plan.on_gap == gap_policy::zero_fill || is_usable(candidate, plan.on_start))
            heaps.push_back(candidate);
    }
    return heaps;
}

class random_source
{
public:
    explicit random_source(unsigned seed) : d_random(seed) {}

    std::int64_t between(std::int64_t least, std::int64_t most)
    {
        return std::uniform_int_distribution<std::int64_t>(least, most)(d_random);
    }

    // Some runs of some pieces each, whose first samples are tagged.
    void play(placed_stream& s, std::vector<run>& runs)
    {
        for (auto left = between(1, 3); left; --left) {
            const auto heap = s.plan.heap_samples;
            runs.push_back({ next_heap(d_highest + 1, heap) * heap, 0, {} });
            d_highest = runs.back().free - 1;
            runs.back().first = between(d_highest - 2 * heap, d_highest + 3 * heap);
            s.tag(runs.back().first);
            send(s, runs.back());
            for (auto pieces = between(0, 12); pieces; --pieces) {
                s.tag(between(0, 1) ? s.place : s.place + jump(heap));
                send(s, runs.back());
            }
            s.restart();
        }
    }

private:
    std::int64_t jump(std::int64_t heap)
    {
        const std::int64_t reach = between(0, 3) ? heap : 6 * heap;
        return between(-reach, reach);
    }

    void send(placed_stream& s, run& r)
    {
        const auto n = between(1, 3 * s.plan.heap_samples);
        for (auto p = s.place; p < s.place + n; ++p)
            if (p > d_highest)
                r.places.insert(d_highest = p);
        s.send(static_cast<std::uint64_t>(n));
    }

    std::mt19937 d_random;
    std::int64_t d_highest = -1; // the highest place that a sample, or a heap, has had
};

constexpr unsigned seeds = 2000;

} // namespace

BOOST_AUTO_TEST_SUITE(random_times)

BOOST_AUTO_TEST_CASE(every_heap_that_can_be_is_there_and_no_other)
{
    // samples and ticks in a heap
    const std::pair<int, int> shapes[] = {
        { 1, 1 }, { 8, 8 }, { 10, 8 }, { 5, 15 }, { 7, 1 }
    };
    for (const auto on_gap : { gap_policy::realign, gap_policy::zero_fill })
        for (const auto on_start : start_policies)
            for (const auto& [samples, step] : shapes)
                for (unsigned seed = 0; seed < seeds; ++seed) {
                    placed_stream s({ samples, step, megahertz, on_gap, on_start });
                    std::vector<run> runs;
                    random_source(seed).play(s, runs);

                    std::vector<placed_heap> expected;
                    for (const auto& r : runs)
                        for (auto& heap : expected_heaps(r, s.plan))
                            expected.push_back(std::move(heap));
                    BOOST_TEST_CONTEXT("seed " << seed << ", " << samples << " in "
                                               << step)
                    check_heaps(s, expected);
                }
}

BOOST_AUTO_TEST_CASE(timestamps_only_grow_and_are_on_the_grid)
{
    for (const auto on_gap : gap_policies)
        for (const auto on_start : start_policies)
            for (unsigned seed = 0; seed < seeds; ++seed) {
                placed_stream s({ 10, 8, megahertz, on_gap, on_start });
                std::vector<run> runs;
                random_source(seed).play(s, runs);
                for (std::size_t i = 0; i < s.heaps.size(); ++i) {
                    BOOST_REQUIRE_EQUAL(s.heaps[i].timestamp % 8, 0u);
                    if (i)
                        BOOST_REQUIRE_GT(s.heaps[i].timestamp, s.heaps[i - 1].timestamp);
                }
                BOOST_REQUIRE_EQUAL(s.samples_in, s.samples_out() + s.dropped);
            }
}

BOOST_AUTO_TEST_SUITE_END()
