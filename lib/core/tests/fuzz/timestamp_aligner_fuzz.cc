/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Checks the heaps of sources with discontinuities, times at the limits of their ranges,
// and conversions between ticks and times.

#include "fuzz_input.h"
#include "helpers/placed_stream.h"
#include "support/parameter_error.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

using namespace gr::spead;

namespace {

// Plays runs of several pieces, each of which begins with a tag. Samples and heaps show
// their places.
void check_source(fuzz_input& input)
{
    timestamp_aligner_config config{ 1, 1, megahertz };
    using shape = std::pair<std::int64_t, std::int64_t>; // samples and ticks in a heap
    std::tie(config.heap_samples, config.timestamp_step) = input.one_of<shape>(
        { { 1, 1 }, { 8, 8 }, { 10, 8 }, { 5, 15 }, { 7, 1 }, { 4, 40 }, { 3, 1000 } });
    config.on_gap = gap_policies[input.up_to(1)];
    const bool fills = config.on_gap == gap_policy::zero_fill;
    const auto heap_samples = config.heap_samples;
    placed_stream s(config);
    std::int64_t unused = 0; // the places from here on have had no sample and no heap
    const auto play = [&](std::int64_t place, bool is_first) {
        const bool is_gap = place > s.place;
        const auto dropped_before = s.aligner.samples_to_drop();
        // an error of less than half a sample
        const auto now = s.tag(place, static_cast<double>(input.between(-3, 3)) / 10);
        check(is_first || is_gap || !(now.realign_timestamp || now.zeros_to_pack),
              "only a gap is corrected");
        check(is_first || !(fills && now.realign_timestamp), "a short gap is filled");
        const auto n_used = std::max<std::int64_t>(unused - place, 0);
        const auto before_heap = static_cast<std::uint64_t>(heap_samples - 1);
        check(s.aligner.samples_to_drop() <=
                  static_cast<std::uint64_t>(n_used) +
                      (now.realign_timestamp ? before_heap : dropped_before),
              "only samples at used places or before the next heap are dropped");
        s.send(static_cast<std::uint64_t>(input.between(1, 3 * heap_samples)));
        unused = std::max(unused, s.place);
    };
    do {
        unused = (unused + heap_samples - 1) / heap_samples * heap_samples;
        play(unused - 1 + input.between(-2 * heap_samples, 3 * heap_samples), true);
        while (!input.empty() && !input.once_in(12)) {
            const bool is_expected = input.once_in(2);
            const auto reach =
                is_expected ? 0 : (input.once_in(4) ? 6 : 1) * heap_samples;
            play(is_expected ? s.place : s.place + input.between(-reach, reach), false);
        }
        s.restart();
    } while (!input.empty());

    check(s.samples_in == s.samples_out() + s.dropped, "each sample is sent or dropped");
    const auto step = placed_stream::to_timestamp(config.timestamp_step);
    std::uint64_t min_timestamp = 0;
    for (const auto& heap : s.heaps) {
        check(heap.timestamp >= min_timestamp, "timestamps only increase");
        min_timestamp = heap.timestamp + 1;
        check(heap.timestamp % step == 0, "timestamps are multiples of timestamp_step");
        auto place = static_cast<std::int64_t>(heap.timestamp / step) * heap_samples;
        for (const auto sample : heap.samples)
            check(sample == place++ || (fills && sample == placed_heap::zero),
                  "the timestamp is that of the samples");
    }
}

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
    const auto heap = static_cast<std::uint64_t>(config.heap_samples);
    const auto step = static_cast<std::uint64_t>(config.timestamp_step);
    __extension__ using wide = __int128;
    wide timestamp = 0; // of the first heap of a sequence
    wide packed = 0;    // samples in the sequence
    const auto end_sequence = [&] {
        timestamp += (packed + heap - 1) / heap * step;
        packed = 0;
    };
    std::int64_t tick = 0;
    const double max_fill = 10 * static_cast<double>(config.sample_rate.numerator) /
                            static_cast<double>(config.sample_rate.denominator) *
                            static_cast<double>(config.heap_samples) /
                            static_cast<double>(config.timestamp_step);
    // no real stream lasts until timestamps wrap
    while (!input.empty() && (timestamp + packed / heap * step) >> 62 == 0) {
        switch (input.up_to(7)) {
        case 0:
            end_sequence();
            aligner.start_run();
            break;
        case 1:
            tick = input.edge_value();
            break;
        case 2:
            tick = static_cast<std::int64_t>(static_cast<std::uint64_t>(tick) +
                                             input.up_to(9) * step);
            break;
        case 3: {
            const auto n = input.number(input.one_of<std::size_t>({ 1, 2, 5 }));
            packed += n - std::min(n, aligner.samples_to_drop());
            aligner.advance(n);
            break;
        }
        default: {
            const double residual = static_cast<double>(input.between(-499, 500)) / 1000;
            const auto now = aligner.process_tag(tick, residual, packed % heap != 0);
            if (now.realign_timestamp) {
                end_sequence();
                check(*now.realign_timestamp >= timestamp, "no timestamp is repeated");
                timestamp = *now.realign_timestamp;
                check(timestamp % step == 0, "timestamps are multiples of the step");
            }
            packed += now.zeros_to_pack;
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
