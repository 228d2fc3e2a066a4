/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "timeline.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace gr::spead {

namespace {

__extension__ using wide = __int128;

constexpr std::chrono::seconds max_silence_timeout{ 10 };
constexpr int pauses_of_silence = 3;
// Positions beyond this begin a new stream, so that they cannot overflow.
constexpr auto farthest_position = std::int64_t{ 1 } << 60;

// None if the distance is too long to be computed.
std::optional<std::int64_t> length_of(std::int64_t heaps, std::int64_t length)
{
    return std::abs(heaps) <= stream_time::farthest / std::max<std::int64_t>(length, 1)
               ? std::optional(heaps * length)
               : std::nullopt;
}

} // namespace

timeline::timeline(const config& chosen)
    : d_config(chosen), d_time(chosen.samples_per_step, chosen.ticks_per_step)
{
    start_run();
}

void timeline::start_run()
{
    d_tracks.assign(d_config.outputs, {});
    d_is_running = false;
    d_heap_samples = 0;
}

void timeline::set_format(bool has_timestamps)
{
    start_run();
    d_has_timestamps = has_timestamps;
}

// Without timestamps, positions follow from the heap counters, for heaps of equal length.
// A shorter heap is the last one of a stream. A second heap of that length means that the
// heap length of the stream has changed.
bool timeline::locate(heap_time& heap, std::size_t output) const
{
    const auto& current = d_tracks[output];
    std::optional<std::int64_t> position;
    if (d_has_timestamps) {
        position = d_time.position(heap.timestamp, heap.timestamp_bits);
        // the counters tell how often timestamps have wrapped in a long gap
        const auto rounding = d_time.rounding(heap.length);
        if (const auto expected = expected_position(heap, current);
            expected && expected != position &&
            d_time.is_position_of(
                *expected, heap.timestamp, heap.timestamp_bits, rounding ? 1 : 0))
            position = expected;
        if (position && rounding)
            position = exact_position(heap, *position, rounding, output);
    } else if (!current.newest || heap.length > d_heap_samples ||
               (heap.length < d_heap_samples && current.newest->length == heap.length))
        return false;
    else if (const auto apart =
                 length_of(heap.counters_from(*current.newest), d_heap_samples))
        position = current.newest->position + *apart;
    heap.position = position.value_or(0);
    return position && std::abs(*position) <= farthest_position;
}

// The position near \p rounded that a heap has if it continues another one: its timestamp
// is rounded to a tick.
std::int64_t timeline::exact_position(const heap_time& heap,
                                      std::int64_t rounded,
                                      std::int64_t rounding,
                                      std::size_t output) const
{
    const auto nearest = [&](const heap_time& other, std::int64_t length) {
        if (length <= 0)
            return other.position;
        const auto apart = rounded - other.position;
        const auto heaps = (apart + (apart < 0 ? -length : length) / 2) / length;
        return other.position + heaps * length;
    };
    const auto is_near = [&](std::int64_t position) {
        return std::abs(position - rounded) <= rounding;
    };
    const auto& current = d_tracks[output];
    if (heap.length < 2 * rounding || !heap.is_length_known)
        return rounded;
    if (current.newest) {
        const auto position = nearest(*current.newest, current.newest->length);
        return is_near(position) ? position : rounded;
    }
    for (const auto& other : d_tracks)
        if (other.newest)
            if (const auto position = nearest(*other.newest, heap.length);
                is_near(position))
                return position;
    return rounded;
}

// The position of a later heap according to its counter. None if the step of the stream
// is not known, or the counter is not a multiple of it.
std::optional<std::int64_t> timeline::expected_position(const heap_time& heap,
                                                        const track& current) const
{
    if (!current.newest || !current.learned.counters)
        return std::nullopt;
    const auto counters = heap.counters_from(*current.newest);
    if (counters <= 0 || counters % current.learned.counters)
        return std::nullopt;
    const auto samples =
        length_of(counters / current.learned.counters, current.learned.samples);
    return samples ? std::optional(current.newest->position + *samples) : std::nullopt;
}

// Samples from the start of one heap to that of another.
std::optional<std::int64_t> timeline::distance(const heap_time& from,
                                               const heap_time& to) const
{
    if (!d_has_timestamps)
        return from.length == to.length ? length_of(to.counters_from(from), from.length)
                                        : std::nullopt;
    stream_time time(d_config.samples_per_step, d_config.ticks_per_step);
    time.begin(from.timestamp, 0);
    return time.position(to.timestamp, to.timestamp_bits);
}

// A timestamp that wraps to 0 looks like that of a restarted sender.
bool timeline::has_wrapped(const heap_time& heap) const
{
    return d_has_timestamps && d_time.has_wrapped(heap.timestamp, heap.timestamp_bits);
}

bool timeline::continues(const heap_time& heap,
                         const track& current,
                         std::int64_t capacity) const
{
    const auto counters = heap.counters_from(*current.newest);
    const auto samples = heap.position - current.newest->position;
    if (!d_has_timestamps) // the position follows from the counter: no evidence
        return counters > 0 && (counters == 1 || samples <= capacity);
    const auto& learned = current.learned;
    const bool is_next =
        counters > 0 || has_same_counters(heap, *current.newest, current);
    return (is_next && samples == current.newest->length) ||
           (learned.counters && counters &&
            wide(samples) * learned.counters == wide(counters) * learned.samples);
}

// Some senders of heaps of one packet do not count them.
bool timeline::has_same_counters(const heap_time& heap,
                                 const heap_time& other,
                                 const track& current) const
{
    return d_has_timestamps && !current.learned.counters && heap.counter == other.counter;
}

bool timeline::fits(const heap_time& heap,
                    const track& current,
                    const surroundings& around) const
{
    if (!current.newest) // the first heap of this output
        return !has_wrapped(heap) && heap.position <= around.top + around.capacity &&
               heap.position >= around.front - around.capacity;
    const bool is_in_order = (heap.counters_from(*current.newest) > 0) ==
                             (heap.position > current.newest->position);
    const bool is_duplicate = heap.is_same(*current.newest) && around.is_known_sender;
    return is_duplicate || continues(heap, current, around.capacity) ||
           (heap.position < around.top && is_in_order &&
            around.missing->contains(heap.range()));
}

bool timeline::is_silent(std::size_t output, time_point now) const
{
    const auto& current = d_tracks[output];
    return current.last_new_sample == time_point{} ||
           now - current.last_new_sample >= current.silence_timeout;
}

bool timeline::are_all_silent(time_point now) const
{
    for (std::size_t output = 0; output < d_tracks.size(); ++output)
        if (!is_silent(output, now))
            return false;
    return true;
}

timeline::verdict timeline::judge(const heap_time& heap,
                                  bool is_located,
                                  std::size_t output,
                                  const surroundings& around,
                                  time_point now) const
{
    if (!d_is_running)
        return verdict::new_stream;
    const auto& current = d_tracks[output];
    const bool is_past = is_located && heap.range().end <= around.front;
    if (is_located && !is_past && is_aligned(heap) && fits(heap, current, around))
        return verdict::fits;
    // while all outputs are silent, heaps of past times come from a restarted sender
    const bool is_restart = are_all_silent(now);
    // or are late packets of the stream that has just ended
    const bool is_repeated = is_past && current.newest && around.is_known_sender &&
                             continues(heap, current, around.capacity) &&
                             now - current.newest_time < heap_timeout;
    if (is_past && (is_repeated || !is_restart))
        return verdict::late;
    if (is_restart)
        return judge_agreed(heap, is_located, output, around);
    if (is_located && !is_aligned(heap))
        return verdict::misaligned;
    return agrees(heap, current) ? verdict::agrees : verdict::hold;
}

timeline::verdict timeline::judge_agreed(const heap_time& heap,
                                         bool is_located,
                                         std::size_t output,
                                         const surroundings& around) const
{
    const auto& newest = d_tracks[output].newest;
    const bool is_next = is_located && heap.range().end > around.front &&
                         is_aligned(heap) && !exceeds_max_gap(heap, around.top) &&
                         !has_wrapped(heap);
    const bool is_behind = newest && heap.position < newest->range().end;
    return is_next && (d_has_timestamps || !is_behind) ? verdict::jump
                                                       : verdict::new_stream;
}

// Whether a heap agrees with the held one: it is adjacent to it, or their timestamps and
// heap counters advance as those of the stream do.
bool timeline::agrees(const heap_time& heap, const track& current) const
{
    if (!current.held)
        return false;
    const auto& held = *current.held;
    const auto counters = heap.counters_from(held);
    const auto samples = distance(held, heap).value_or(0);
    if (!samples || (!counters && !has_same_counters(heap, held, current)))
        return false;
    const auto rounding = d_has_timestamps ? d_time.rounding(heap.length) : 0;
    const auto is_near = [&](wide apart, wide expected) {
        return apart - expected <= rounding && expected - apart <= rounding;
    };
    if (is_near(samples, held.length) || is_near(-samples, heap.length))
        return true;
    const auto& learned = current.learned;
    if (learned.counters)
        return counters % learned.counters == 0 &&
               is_near(samples, wide(counters / learned.counters) * learned.samples);
    const auto before =
        current.newest ? distance(*current.newest, held) : std::optional<std::int64_t>();
    return before && samples > 0 && is_near(*before, samples) &&
           held.counters_from(*current.newest) == counters;
}

std::int64_t timeline::end(std::int64_t top) const
{
    auto end = top;
    for (const auto& current : d_tracks)
        if (current.newest)
            end = std::max(end, current.newest->range().end);
    return end;
}

void timeline::begin_stream(heap_time& heap)
{
    for (auto& current : d_tracks) {
        current.newest.reset();
        current.last = current.learned = {};
        current.last_new_sample = {};
    }
    const auto wrap_at = [](unsigned bits) {
        return bits < 64 ? std::uint64_t{ 1 } << bits : 0;
    };
    auto wrap = wrap_at(heap.timestamp_bits);
    if (!d_has_timestamps) {
        d_heap_samples = heap.length;
        const auto ticks_of = [&](std::uint64_t heaps) {
            __extension__ using wide_unsigned = unsigned __int128;
            return static_cast<std::uint64_t>(wide_unsigned(heaps) *
                                              wide_unsigned(heap.length) *
                                              wide_unsigned(d_config.ticks_per_step) /
                                              wide_unsigned(d_config.samples_per_step));
        };
        heap.timestamp = ticks_of(heap.counter);
        wrap = ticks_of(wrap_at(heap.address_bits));
    }
    d_time.begin(heap.timestamp, heap.position, wrap);
    d_is_running = true;
}

timeline::addition
timeline::add(const heap_time& heap, std::size_t output, time_point now)
{
    auto& current = d_tracks[output];
    if (current.held && current.held->is_same(heap))
        current.held.reset();
    if (d_has_timestamps)
        d_time.advance(heap.timestamp, heap.timestamp_bits, heap.position);
    if (current.newest && heap.position <= current.newest->position)
        return { false, false };
    bool is_next = false;
    if (current.newest) {
        constexpr auto any_distance = std::numeric_limits<std::int64_t>::max();
        if (!continues(heap, current, any_distance)) // not a pause of the stream
            current.last_new_sample = std::max(current.last_new_sample, now);
        const step this_step{ heap.counters_from(*current.newest),
                              heap.position - current.newest->position };
        is_next = this_step == current.learned;
        current.repeats = this_step == current.last ? current.repeats + 1 : 0;
        if (current.repeats ||
            (!current.learned.counters && this_step.samples == current.newest->length))
            current.learned = this_step;
        if (current.repeats == repeats_of_hint)
            check_step(heap, current);
        current.last = this_step;
    }
    current.newest = heap;
    current.newest_time = now;
    return { true, is_next };
}

// Notes, once, that the timestamps of heaps do not match their lengths.
void timeline::check_step(const heap_time& heap, const track& current)
{
    const auto [counters, samples] = current.learned;
    const bool is_lost = wide(heap.length) * counters == samples; // the heaps in between
    if (d_has_reported_mismatch || !d_has_timestamps || is_lost ||
        heap.length != current.newest->length || !heap.is_length_known ||
        heap.length == samples)
        return;
    // the heaps in between were ignored
    const auto ticks = heap.timestamp - current.newest->timestamp;
    if (d_config.is_aligned && current.seen.ticks != ticks)
        return;
    // the heaps in between may arrive on other sockets
    if (heap.length < samples && d_config.sockets > 1)
        return;
    d_has_reported_mismatch = true;
    d_mismatch = mismatch{ heap.length, ticks };
}

std::optional<timeline::mismatch> timeline::take_mismatch()
{
    return std::exchange(d_mismatch, std::nullopt);
}

void timeline::note_timestamp(const heap_time& heap, std::size_t output)
{
    auto& seen = d_tracks[output].seen;
    const auto timestamp = heap.timestamp;
    if (seen.last && timestamp != *seen.last) {
        const auto ticks =
            std::max(timestamp, *seen.last) - std::min(timestamp, *seen.last);
        seen.repeats = ticks == seen.ticks ? seen.repeats + 1 : 0;
        seen.ticks = ticks;
    }
    seen.last = timestamp;
}

void timeline::record_progress(const heap_time& heap, std::size_t output, time_point now)
{
    auto& current = d_tracks[output];
    if (current.last_new_sample != time_point{})
        current.silence_timeout =
            std::clamp<duration>(pauses_of_silence * (now - current.last_new_sample),
                                 current.silence_timeout,
                                 max_silence_timeout);
    current.last_new_sample = std::max(current.last_new_sample, now);
    // an unknown length grows with each packet
    if (!heap.is_length_known && current.newest && current.newest->is_same(heap))
        current.newest->length = std::max(current.newest->length, heap.length);
}

} // namespace gr::spead
