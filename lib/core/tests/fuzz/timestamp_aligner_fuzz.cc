/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Compares sources with discontinuities with a model that knows all samples in advance.
// Tests times at the limits of their ranges, as ticks and as heaps.

#include "fuzz_input.h"
#include "helpers/placed_stream.h"
#include "support/parameter_error.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

using namespace gr::spead;

namespace {

// The samples of one run.
struct run {
    std::int64_t first_free; // place of the first heap that no earlier run has begun
    std::int64_t start;      // place of the first sample
    std::set<std::int64_t> places; // above those of all earlier samples
};

std::int64_t heap_of(std::int64_t place, std::int64_t heap)
{
    return place >= 0 ? place / heap : -((heap - 1 - place) / heap);
}

std::int64_t next_heap(std::int64_t place, std::int64_t heap)
{
    return heap_of(place + heap - 1, heap);
}

// A heap of the samples that arrived, with zeros in place of missing ones.
placed_heap
with_zeros(const run& r, std::int64_t index, const timestamp_aligner_config& config)
{
    placed_heap heap{ placed_stream::to_timestamp(index * config.timestamp_step), {} };
    for (auto p = index * config.heap_samples; p < (index + 1) * config.heap_samples; ++p)
        heap.samples.push_back(r.places.count(p) ? p : placed_heap::zero);
    return heap;
}

bool is_complete(const placed_heap& heap)
{
    return std::count(heap.samples.begin(), heap.samples.end(), placed_heap::zero) == 0;
}

void expect_heaps(const run& r,
                  const timestamp_aligner_config& config,
                  std::vector<placed_heap>& all)
{
    if (r.places.empty())
        return;
    const auto heap = config.heap_samples;
    for (auto index = std::max(next_heap(r.start, heap), r.first_free / heap);
         (index + 1) * heap <= *r.places.rbegin() + 1;
         ++index) {
        const auto candidate = with_zeros(r, index, config);
        if (config.on_gap == gap_policy::zero_fill || is_complete(candidate))
            all.push_back(candidate);
    }
}

// Plays runs of several pieces. The first sample of each piece is tagged.
class source
{
public:
    source(fuzz_input& input, placed_stream& to) : d_input(input), d_to(to) {}

    std::vector<run> play()
    {
        std::vector<run> runs;
        const auto heap = d_to.config.heap_samples;
        do {
            runs.push_back({ next_heap(d_highest + 1, heap) * heap, 0, {} });
            d_highest = runs.back().first_free - 1;
            runs.back().start =
                d_input.between(d_highest - 2 * heap, d_highest + 3 * heap);
            tag(runs.back().start);
            send(runs.back());
            while (!d_input.empty() && !d_input.once_in(12)) {
                tag(d_input.once_in(2) ? d_to.place : d_to.place + jump(heap));
                send(runs.back());
            }
            d_to.restart();
        } while (!d_input.empty());
        return runs;
    }

private:
    std::int64_t jump(std::int64_t heap)
    {
        const auto reach = d_input.once_in(4) ? 6 * heap : heap;
        return d_input.between(-reach, reach);
    }

    // Tags a sample with an error of less than half a sample.
    void tag(std::int64_t place)
    {
        d_to.tag(place, static_cast<double>(d_input.between(-3, 3)) / 10);
    }

    void send(run& r)
    {
        const auto n = d_input.between(1, 3 * d_to.config.heap_samples);
        for (auto p = d_to.place; p < d_to.place + n; ++p)
            if (p > d_highest)
                r.places.insert(d_highest = p);
        d_to.send(static_cast<std::uint64_t>(n));
    }

    fuzz_input& d_input;
    placed_stream& d_to;
    std::int64_t d_highest = -1; // highest place of a sample or heap so far
};

void check_source(fuzz_input& input)
{
    timestamp_aligner_config config{ 1, 1, megahertz };
    using shape = std::pair<std::int64_t, std::int64_t>; // samples and ticks in a heap
    std::tie(config.heap_samples, config.timestamp_step) = input.one_of<shape>(
        { { 1, 1 }, { 8, 8 }, { 10, 8 }, { 5, 15 }, { 7, 1 }, { 4, 40 }, { 3, 1000 } });
    config.on_gap = gap_policies[input.up_to(1)];
    placed_stream s(config);
    const auto runs = source(input, s).play();

    check(s.samples_in == s.samples_out() + s.dropped, "each sample is sent or dropped");
    for (std::size_t i = 1; i < s.heaps.size(); ++i)
        check(s.heaps[i].timestamp > s.heaps[i - 1].timestamp,
              "timestamps only increase");
    for (const auto& heap : s.heaps)
        check(heap.timestamp % placed_stream::to_timestamp(config.timestamp_step) == 0,
              "timestamps are multiples of timestamp_step");
    std::vector<placed_heap> expected;
    for (const auto& r : runs)
        expect_heaps(r, config, expected);
    check(s.heaps == expected, "exactly the expected heaps are sent");
}

__extension__ using wide = __int128;

// Tracks heaps of any size at any time without storing samples.
class heap_numbers
{
public:
    explicit heap_numbers(const timestamp_aligner_config& config)
        : d_heap(static_cast<std::uint64_t>(config.heap_samples)),
          d_step(config.timestamp_step)
    {
    }

    void skip_to(std::uint64_t timestamp)
    {
        // a heap in progress has used its timestamp
        const auto next = d_timestamp + (d_samples ? d_step : 0);
        check(static_cast<wide>(timestamp) >= next, "no timestamp is repeated");
        check(timestamp % static_cast<std::uint64_t>(d_step) == 0,
              "timestamps are multiples of timestamp_step");
        d_timestamp = timestamp;
        d_samples = 0;
    }
    void add(std::uint64_t n)
    {
        const auto all = static_cast<wide>(d_samples) + n;
        d_timestamp += all / d_heap * d_step;
        d_samples = static_cast<std::uint64_t>(all % d_heap);
    }
    bool is_open() const { return d_samples != 0; }
    void restart()
    {
        d_timestamp += d_samples ? d_step : 0;
        d_samples = 0;
    }
    // Timestamps wrap beyond this. No real stream lasts this long.
    bool is_near_overflow() const { return d_timestamp >> 62 != 0; }

private:
    const std::uint64_t d_heap;
    const wide d_step;
    std::uint64_t d_samples = 0; // in the unfinished heap
    wide d_timestamp = 0;
};

void check_extreme_ticks(fuzz_input& input)
{
    timestamp_aligner_config config{ 1, 1, { 1 } };
    config.heap_samples =
        1 + static_cast<std::int64_t>(input.up_to(1) ? input.up_to(9) : input.number(4));
    config.timestamp_step = input.edge_value() & ((std::int64_t{ 1 } << 48) - 1);
    config.sample_rate =
        input.one_of<exact_rate>({ { 1 },
                                   { 1000000 },
                                   { 1, std::numeric_limits<std::int64_t>::max() },
                                   { 7, 3 } });
    config.on_gap = gap_policies[input.up_to(1)];
    sink_counter_set counters;
    if (!config.timestamp_step)
        return;
    timestamp_aligner aligner(config, counters);
    heap_numbers heaps(config);
    std::int64_t tick = 0;
    const double max_fill = 10 * static_cast<double>(config.sample_rate.numerator) /
                            static_cast<double>(config.sample_rate.denominator) *
                            static_cast<double>(config.heap_samples) /
                            static_cast<double>(config.timestamp_step);
    while (!input.empty() && !heaps.is_near_overflow()) {
        switch (input.up_to(7)) {
        case 0:
            heaps.restart();
            aligner.start_run();
            break;
        case 1:
            tick = input.edge_value();
            break;
        case 2:
            tick = static_cast<std::int64_t>(
                static_cast<std::uint64_t>(tick) +
                input.up_to(9) * static_cast<std::uint64_t>(config.timestamp_step));
            break;
        case 3: {
            const auto n = input.number(input.one_of<std::size_t>({ 1, 2, 5 }));
            const auto dropped = std::min(n, aligner.to_drop());
            heaps.add(n - dropped);
            aligner.advance(n);
            break;
        }
        default: {
            const double residual = static_cast<double>(input.between(-499, 500)) / 1000;
            const auto now = aligner.tag(tick, residual, heaps.is_open());
            if (now.realign_timestamp)
                heaps.skip_to(*now.realign_timestamp);
            heaps.add(now.zeros_to_pack);
            check(static_cast<double>(now.zeros_to_pack) <= max_fill,
                  "a filled gap is at most 10 s long");
        }
        }
    }
}

std::string sync_text(fuzz_input& input)
{
    std::string text = std::to_string(input.edge_value());
    if (input.once_in(2))
        text += "." + std::to_string(input.edge_value());
    while (input.once_in(3)) {
        const auto at = input.up_to(text.size());
        text.insert(at, 1, input.one_of({ '0', '.', '-', 'e', ' ' }));
    }
    return text;
}

void check_clock(fuzz_input& input)
{
    try {
        const auto sync = input.once_in(2)
                              ? sync_time_from_nanoseconds(input.edge_value())
                              : parse_sync_time(sync_text(input));
        check(sync.attoseconds < 1000000000000000000u,
              "attoseconds are less than a second");
        const tick_clock clock({ input.edge_value(), input.edge_value() }, sync);
        const double fraction =
            input.one_of({ static_cast<double>(input.number(7)) * 0x1p-56,
                           0.0,
                           1.0,
                           -0.0,
                           -1e-300,
                           std::nextafter(1.0, 0.0),
                           std::nextafter(1.0, 2.0),
                           std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity() });
        const auto reading =
            clock.to_tick(static_cast<std::uint64_t>(input.edge_value()), fraction);
        if (!(fraction >= 0 && fraction <= 1))
            check(!reading, "a fraction outside [0, 1] is rejected");
        if (reading)
            check(reading->residual >= -0.5 && reading->residual <= 0.5,
                  "the tick is the nearest one");
        // ticks far enough apart for double-precision fractions
        const auto tick = static_cast<std::uint64_t>(input.number(5));
        const tick_clock slow({ input.between(1, 1000000000), input.between(1, 9) },
                              sync);
        const auto time = slow.time_of(tick);
        check(time.fraction >= 0 && time.fraction < 1, "a fraction is in [0, 1)");
        const auto again = slow.to_tick(time.seconds, time.fraction);
        check(again && again->tick == static_cast<std::int64_t>(tick),
              "the time of a tick converts back to that tick");
    } catch (const parameter_error&) {
    }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    switch (input.up_to(7)) {
    case 0:
    case 1:
        check_clock(input);
        break;
    case 2:
        check_extreme_ticks(input);
        break;
    default:
        check_source(input);
    }
    return 0;
}
