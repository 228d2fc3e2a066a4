/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "support/parameter_error.h"
#include "timestamp_aligner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gr::spead {

namespace {

// Seconds. After a longer gap, the source was switched off or reconfigured.
constexpr double max_fill = 10;
// Samples. More than 0.5, since a time half-way between two samples may be rounded either
// way.
constexpr double expected_within = 0.6;
// Samples. Above any rounding error of a double: sample_rate or sync_time is not that of
// the source.
constexpr double noticeable_residual = 0.1;
// Seconds. Warn if a step back drops more.
constexpr double noticeable_loss = 1;
// Samples from tick 0. Counting can continue from there for years without overflow.
constexpr std::int64_t furthest = std::int64_t{ 7 } << 60;

// Valid for any two numbers: their difference may need all 64 bits.
std::uint64_t distance(std::int64_t from, std::int64_t to)
{
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

double samples_per_second(const timestamp_aligner_config& config)
{
    return static_cast<double>(config.sample_rate.numerator) /
           static_cast<double>(config.sample_rate.denominator) *
           static_cast<double>(config.heap_samples) /
           static_cast<double>(config.timestamp_step);
}

} // namespace

timestamp_aligner::timestamp_aligner(const timestamp_aligner_config& config,
                                     sink_counter_set& counts)
    : d_heap(config.heap_samples),
      d_step(config.timestamp_step),
      d_on_gap(config.on_gap),
      d_samples_per_second(samples_per_second(config)),
      d_counters(counts)
{
    if (d_step < 1)
        throw parameter_error(
            "timestamp_step", std::to_string(d_step), "at least 1 with sample_rate");
}

void timestamp_aligner::start_run()
{
    if (d_tagged)
        d_seen = d_expected;
    else if (d_counted)
        d_seen = d_next;
    d_tagged = d_counted = false;
    d_drop = 0;
    d_next = heap_after(d_next);
}

void timestamp_aligner::advance(std::uint64_t samples)
{
    if (!d_tagged && samples) {
        d_counted = true;
        raise(&tag_warnings::no_tag, true);
    }
    const auto dropped = std::min(samples, d_drop);
    d_drop -= dropped;
    d_next += static_cast<std::int64_t>(samples - dropped);
    d_expected += static_cast<std::int64_t>(samples);
}

correction timestamp_aligner::tag(std::int64_t tick, double residual, bool heap_has_left)
{
    const auto place = place_of(tick, residual);
    if (!place) {
        raise(&tag_warnings::out_of_range, true);
        return {};
    }
    const bool expected = d_tagged && is_expected(*place);
    const std::int64_t at = expected ? d_expected : place->nearest;
    const double off = place->residual + static_cast<double>(place->nearest - at);
    if (std::abs(off) > noticeable_residual)
        raise(&tag_warnings::residual, off);
    if (at < 0)
        raise(&tag_warnings::before_sync, true);

    if (expected)
        return {};
    return d_tagged ? close_gap(at) : start(at, heap_has_left);
}

// Returns nullopt if the tick is too far from tick 0.
std::optional<timestamp_aligner::tagged_place>
timestamp_aligner::place_of(std::int64_t tick, double residual) const
{
    const std::int64_t heap = tick / d_step;
    const std::int64_t most = furthest / d_heap;
    if (heap < -most || heap > most)
        return std::nullopt;
    // within a heap, a double is precise enough
    const double samples = (static_cast<double>(tick % d_step) + residual) *
                           static_cast<double>(d_heap) / static_cast<double>(d_step);
    const double nearest = std::round(samples);
    return tagged_place{ heap * d_heap + static_cast<std::int64_t>(nearest),
                         samples - nearest };
}

bool timestamp_aligner::is_expected(const tagged_place& place) const
{
    // may wrap around if they are far apart, but never to a small offset
    const auto off = static_cast<std::int64_t>(distance(d_expected, place.nearest));
    return std::abs(static_cast<double>(off) + place.residual) <= expected_within;
}

correction timestamp_aligner::start(std::int64_t place, bool heap_has_left)
{
    // do not reuse the timestamps of heaps that were sent before the first tag
    d_next = heap_has_left ? heap_after(d_next) : heap_before(d_next);
    const std::int64_t seen = d_counted ? d_next : d_seen;
    if (seen && place < seen)
        d_counters.steps_back.add(1);
    note_loss(place);
    d_expected = place;
    d_tagged = true;
    return begin_at(place);
}

correction timestamp_aligner::close_gap(std::int64_t place)
{
    if (place > d_expected) {
        d_counters.gaps.add(1);
        d_counters.samples_missing.add(distance(d_expected, place));
    } else {
        d_counters.steps_back.add(1);
    }
    note_jump(place);
    d_expected = place;
    if (place <= d_next) {
        note_loss(place);
        d_drop = distance(place, d_next);
        return {};
    }
    const auto missing = distance(d_next, place);
    if (d_on_gap == gap_policy::zero_fill &&
        static_cast<double>(missing) <= max_fill * d_samples_per_second) {
        d_next = place;
        d_drop = 0;
        return { std::nullopt, missing };
    }
    return begin_at(place);
}

// Begins the first unused heap that starts at \p place or later.
correction timestamp_aligner::begin_at(std::int64_t place)
{
    d_next = heap_after(std::max(place, d_next));
    d_drop = distance(place, d_next);
    return { static_cast<std::uint64_t>(d_next / d_heap) *
             static_cast<std::uint64_t>(d_step) };
}

// Returns the start of the heap that contains \p place.
std::int64_t timestamp_aligner::heap_before(std::int64_t place) const
{
    return place / d_heap * d_heap;
}

// Returns the start of the first heap that begins at \p place or later.
std::int64_t timestamp_aligner::heap_after(std::int64_t place) const
{
    return heap_before(place + d_heap - 1);
}

// Leaves larger steps back to note_loss().
void timestamp_aligner::note_jump(std::int64_t place)
{
    const double jump = static_cast<double>(place) - static_cast<double>(d_expected);
    if (jump >= -noticeable_loss * d_samples_per_second)
        raise(&tag_warnings::jump, jump);
}

// Samples from \p place to d_next have timestamps that are already in use: they are lost.
void timestamp_aligner::note_loss(std::int64_t place)
{
    if (d_next <= std::max<std::int64_t>(place, 0))
        return;
    const double loss = static_cast<double>(distance(place, d_next));
    if (loss > noticeable_loss * d_samples_per_second)
        d_untold.late = loss / d_samples_per_second;
}

tag_warnings timestamp_aligner::take_warnings() { return std::exchange(d_untold, {}); }

template <typename type>
void timestamp_aligner::raise(type tag_warnings::*notice, type value)
{
    if (!(d_raised.*notice))
        d_raised.*notice = d_untold.*notice = value;
}

} // namespace gr::spead
