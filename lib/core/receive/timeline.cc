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
constexpr int silence_pauses = 3;
// Positions beyond this begin a new stream, so that they cannot overflow.
constexpr auto max_position = std::int64_t{ 1 } << 60;

// None if the distance is too long to be computed.
std::optional<std::int64_t> length_of(std::int64_t heaps, std::int64_t length)
{
    return std::abs(heaps) <=
                   stream_time::max_distance / std::max<std::int64_t>(length, 1)
               ? std::optional(heaps * length)
               : std::nullopt;
}

} // namespace

timeline::timeline(const config& settings)
    : d_config(settings), d_time(settings.samples_per_step, settings.ticks_per_step)
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
    const auto& track = d_tracks[output];
    std::optional<std::int64_t> position;
    if (d_has_timestamps) {
        position = d_time.position(heap.timestamp, heap.timestamp_bits);
        // the counters tell how often timestamps have wrapped in a long gap
        const auto rounding = rounding_of(heap, track.newest);
        if (const auto expected = expected_position(heap, track);
            expected &&
            d_time.is_position_after_wrap(
                *expected, heap.timestamp, heap.timestamp_bits, rounding ? 1 : 0))
            position = expected;
        if (position && rounding)
            position = exact_position(heap, *position, rounding, output);
    } else if (!track.newest || heap.length > d_heap_samples ||
               (heap.length < d_heap_samples && track.newest->length == heap.length))
        return false;
    else if (const auto offset =
                 length_of(heap.counters_from(*track.newest), d_heap_samples))
        position = track.newest->position + *offset;
    heap.position = position.value_or(0);
    return position && std::abs(*position) <= max_position;
}

// By how many samples the position of a heap may be wrong, since its timestamp is rounded
// to a tick; 0 if heaps begin at ticks.
std::int64_t timeline::rounding_of(const heap_time& heap,
                                   const std::optional<heap_time>& previous) const
{
    const bool is_exact = d_time.lasts_whole_ticks(heap.length) &&
                          (!previous || (d_time.lasts_whole_ticks(previous->length) &&
                                         d_time.is_at_tick(previous->position)));
    return is_exact ? 0 : d_time.rounding();
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
        const auto offset = rounded - other.position;
        const auto heaps = (offset + (offset < 0 ? -length : length) / 2) / length;
        return other.position + heaps * length;
    };
    const auto is_near = [&](std::int64_t position) {
        return std::abs(position - rounded) <= rounding;
    };
    const auto& track = d_tracks[output];
    if (heap.length < 2 * rounding || !heap.is_length_known)
        return rounded;
    if (track.newest) {
        const auto position = nearest(*track.newest, track.newest->length);
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
                                                        const output_track& track) const
{
    if (!track.newest || !track.learned_step.counters)
        return std::nullopt;
    const auto counters = heap.counters_from(*track.newest);
    if (counters <= 0 || counters % track.learned_step.counters)
        return std::nullopt;
    const auto samples =
        length_of(counters / track.learned_step.counters, track.learned_step.samples);
    return samples ? std::optional(track.newest->position + *samples) : std::nullopt;
}

// Samples from the start of one heap, the origin, to that of another.
std::optional<std::int64_t> timeline::distance(const heap_time& origin,
                                               const heap_time& heap) const
{
    if (!d_has_timestamps)
        return origin.length == heap.length
                   ? length_of(heap.counters_from(origin), origin.length)
                   : std::nullopt;
    stream_time time(d_config.samples_per_step, d_config.ticks_per_step);
    time.begin(origin.timestamp, 0);
    return time.position(heap.timestamp, heap.timestamp_bits);
}

// A timestamp that wraps to 0 looks like that of a restarted sender.
bool timeline::has_wrapped(const heap_time& heap) const
{
    return d_has_timestamps && d_time.has_wrapped(heap.timestamp, heap.timestamp_bits);
}

bool timeline::continues(const heap_time& heap,
                         const output_track& track,
                         std::int64_t capacity) const
{
    const auto counters = heap.counters_from(*track.newest);
    const auto samples = heap.position - track.newest->position;
    if (!d_has_timestamps) // the position follows from the counter: no evidence
        return counters > 0 && (counters == 1 || samples <= capacity);
    const auto& learned_step = track.learned_step;
    const bool is_next = counters > 0 || has_same_counters(heap, *track.newest, track);
    return (is_next && samples == track.newest->length) ||
           (learned_step.counters && counters &&
            wide(samples) * learned_step.counters ==
                wide(counters) * learned_step.samples);
}

// Some senders of heaps of one packet do not count them.
bool timeline::has_same_counters(const heap_time& heap,
                                 const heap_time& other,
                                 const output_track& track) const
{
    return d_has_timestamps && !track.learned_step.counters &&
           heap.counter == other.counter;
}

bool timeline::fits(const heap_time& heap,
                    const output_track& track,
                    const heap_context& context) const
{
    if (!track.newest) // the first heap of this output
        return !has_wrapped(heap) && heap.position <= context.top + context.capacity &&
               heap.position >= context.front - context.capacity;
    const bool is_in_order = (heap.counters_from(*track.newest) > 0) ==
                             (heap.position > track.newest->position);
    const bool is_duplicate = heap.is_same(*track.newest) && context.is_known_sender;
    return is_duplicate || continues(heap, track, context.capacity) ||
           (heap.position < context.top && is_in_order &&
            context.missing->contains(heap.range()));
}

bool timeline::is_silent(std::size_t output, time_point now) const
{
    const auto& track = d_tracks[output];
    return track.last_new_sample == time_point{} ||
           now - track.last_new_sample >= track.silence_timeout;
}

bool timeline::are_all_silent(time_point now) const
{
    for (std::size_t output = 0; output < d_tracks.size(); ++output)
        if (!is_silent(output, now))
            return false;
    return true;
}

timeline::verdict timeline::classify(const heap_time& heap,
                                     bool is_located,
                                     std::size_t output,
                                     const heap_context& context,
                                     time_point now) const
{
    if (!d_is_running)
        return verdict::new_stream;
    const auto& track = d_tracks[output];
    const bool is_past = is_located && heap.range().end <= context.front;
    if (is_located && !is_past && is_aligned(heap) && fits(heap, track, context))
        return verdict::fits;
    // while all outputs are silent, heaps of past times come from a restarted sender
    const bool is_restart = are_all_silent(now);
    // or are late packets of the stream that has just ended
    const bool is_repeated = is_past && track.newest && context.is_known_sender &&
                             continues(heap, track, context.capacity) &&
                             now - track.newest_time < heap_timeout;
    if (is_past && (is_repeated || !is_restart))
        return verdict::late;
    // without heap counters, a late packet looks like a restarted sender
    const bool is_doubtful = is_past && track.newest && context.is_known_sender &&
                             has_same_counters(heap, *track.newest, track) &&
                             now - track.newest_time < heap_timeout;
    if (is_restart && !is_doubtful)
        return classify_confirmed(heap, is_located, output, context);
    if (is_located && !is_aligned(heap))
        return verdict::misaligned;
    return agrees(heap, track) ? verdict::confirms_held : verdict::hold;
}

timeline::verdict timeline::classify_confirmed(const heap_time& heap,
                                               bool is_located,
                                               std::size_t output,
                                               const heap_context& context) const
{
    const auto& newest = d_tracks[output].newest;
    const bool is_next = is_located && heap.range().end > context.front &&
                         is_aligned(heap) && !exceeds_max_gap(heap, context.top) &&
                         !has_wrapped(heap);
    const bool is_behind = newest && heap.position < newest->range().end;
    return is_next && (d_has_timestamps || !is_behind) ? verdict::jump
                                                       : verdict::new_stream;
}

// Whether a heap agrees with the held one: it is adjacent to it, or their timestamps and
// heap counters advance as those of the stream do.
bool timeline::agrees(const heap_time& heap, const output_track& track) const
{
    if (!track.held_heap)
        return false;
    const auto& held_heap = *track.held_heap;
    const auto counters = heap.counters_from(held_heap);
    const auto samples = distance(held_heap, heap).value_or(0);
    if (!samples || (!counters && !has_same_counters(heap, held_heap, track)))
        return false;
    const auto rounding = d_has_timestamps ? rounding_of(heap, track.held_heap) : 0;
    const auto is_near = [&](wide offset, wide expected) {
        return offset - expected <= rounding && expected - offset <= rounding;
    };
    if (is_near(samples, held_heap.length) || is_near(-samples, heap.length))
        return true;
    const auto& learned_step = track.learned_step;
    if (learned_step.counters)
        return counters % learned_step.counters == 0 &&
               is_near(samples,
                       wide(counters / learned_step.counters) * learned_step.samples);
    const auto previous_distance =
        track.newest ? distance(*track.newest, held_heap) : std::optional<std::int64_t>();
    return previous_distance && samples > 0 && is_near(*previous_distance, samples) &&
           held_heap.counters_from(*track.newest) == counters;
}

std::int64_t timeline::stream_end(std::int64_t top) const
{
    auto end = top;
    for (const auto& track : d_tracks)
        if (track.newest)
            end = std::max(end, track.newest->range().end);
    return end;
}

std::int64_t timeline::samples_since_0(const heap_time& heap) const
{
    const auto samples =
        d_has_timestamps
            ? wide(heap.timestamp) * d_config.samples_per_step / d_config.ticks_per_step
            : wide(heap.counter) * heap.length;
    return static_cast<std::int64_t>(std::min<wide>(samples, max_position));
}

// The time that heaps last.
std::uint64_t timeline::ticks_of(std::uint64_t heaps, std::int64_t length) const
{
    __extension__ using wide_unsigned = unsigned __int128;
    return static_cast<std::uint64_t>(wide_unsigned(heaps) * wide_unsigned(length) *
                                      wide_unsigned(d_config.ticks_per_step) /
                                      wide_unsigned(d_config.samples_per_step));
}

std::uint64_t timeline::tick_of(const heap_time& heap) const
{
    return d_has_timestamps ? heap.timestamp : ticks_of(heap.counter, heap.length);
}

// Timestamps wrap: the distance is the shortest one.
std::int64_t timeline::ticks_from_start(const heap_time& heap) const
{
    const unsigned unused = d_has_timestamps ? 64 - heap.timestamp_bits : 0;
    return static_cast<std::int64_t>((tick_of(heap) - *d_config.start_tick) << unused) >>
           unused;
}

std::int64_t timeline::position_from_start(const heap_time& heap) const
{
    const auto ticks = ticks_from_start(heap);
    // Rounded down, so that the first sample is not before the start. With axes, the
    // stream begins with a whole heap.
    const auto samples_per_unit = d_config.is_aligned ? 1 : d_config.samples_per_step;
    const auto scaled = wide(ticks) * samples_per_unit;
    const auto units = (scaled >= 0 ? scaled : scaled - d_config.ticks_per_step + 1) /
                       d_config.ticks_per_step;
    const auto position = units * (d_config.is_aligned ? d_config.samples_per_step : 1);
    return static_cast<std::int64_t>(
        std::clamp<wide>(position, -max_position, max_position));
}

void timeline::begin_stream_at_start(heap_time& heap)
{
    heap.position = position_from_start(heap);
    // not wrapped: the first output sample has exactly this time
    begin_stream(
        heap, *d_config.start_tick + static_cast<std::uint64_t>(ticks_from_start(heap)));
}

void timeline::begin_stream(heap_time& heap, std::uint64_t tick)
{
    for (auto& track : d_tracks) {
        track.newest.reset();
        track.last_step = track.learned_step = {};
        track.last_new_sample = {};
    }
    const auto wrap_at = [](unsigned bits) {
        return bits < 64 ? std::uint64_t{ 1 } << bits : 0;
    };
    auto wrap = wrap_at(heap.timestamp_bits);
    if (!d_has_timestamps) {
        d_heap_samples = heap.length;
        heap.timestamp = tick;
        wrap = ticks_of(wrap_at(heap.address_bits), heap.length);
    }
    d_time.begin(tick, heap.position, wrap);
    d_is_running = true;
}

timeline::addition
timeline::add(const heap_time& heap, std::size_t output, time_point now)
{
    auto& track = d_tracks[output];
    if (track.held_heap && track.held_heap->is_same(heap))
        track.held_heap.reset();
    if (d_has_timestamps)
        d_time.advance(heap.timestamp, heap.timestamp_bits, heap.position);
    if (track.newest && heap.position <= track.newest->position)
        return { false, false };
    bool is_next = false;
    if (track.newest) {
        constexpr auto any_distance = std::numeric_limits<std::int64_t>::max();
        if (!continues(heap, track, any_distance)) // not a pause of the stream
            track.last_new_sample = std::max(track.last_new_sample, now);
        const step this_step{ heap.counters_from(*track.newest),
                              heap.position - track.newest->position };
        is_next = this_step == track.learned_step;
        track.repeats = this_step == track.last_step ? track.repeats + 1 : 0;
        if (track.repeats ||
            (!track.learned_step.counters && this_step.samples == track.newest->length))
            track.learned_step = this_step;
        if (track.repeats == repeats_of_hint)
            check_step(heap, track);
        track.last_step = this_step;
    }
    track.newest = heap;
    track.newest_time = now;
    return { true, is_next };
}

// Notes, once, that the timestamps of heaps do not match their lengths.
void timeline::check_step(const heap_time& heap, const output_track& track)
{
    const auto [counters, samples] = track.learned_step;
    const bool is_lost = wide(heap.length) * counters == samples; // the heaps in between
    if (d_has_reported_mismatch || !d_has_timestamps || is_lost ||
        heap.length != track.newest->length || !heap.is_length_known ||
        heap.length == samples)
        return;
    // the heaps in between were ignored
    const auto ticks = heap.timestamp - track.newest->timestamp;
    if (d_config.is_aligned && track.timestamps.ticks != ticks)
        return;
    // the heaps in between may arrive from other sources
    if (heap.length < samples && d_config.sources > 1)
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
    auto& timestamps = d_tracks[output].timestamps;
    const auto timestamp = heap.timestamp;
    if (timestamps.last && timestamp != *timestamps.last) {
        const auto ticks =
            std::max(timestamp, *timestamps.last) - std::min(timestamp, *timestamps.last);
        timestamps.repeats = ticks == timestamps.ticks ? timestamps.repeats + 1 : 0;
        timestamps.ticks = ticks;
    }
    timestamps.last = timestamp;
}

void timeline::record_progress(const heap_time& heap, std::size_t output, time_point now)
{
    auto& track = d_tracks[output];
    if (track.last_new_sample != time_point{})
        track.silence_timeout =
            std::clamp<duration>(silence_pauses * (now - track.last_new_sample),
                                 track.silence_timeout,
                                 max_silence_timeout);
    track.last_new_sample = std::max(track.last_new_sample, now);
    // an unknown length grows with each packet
    if (!heap.is_length_known && track.newest && track.newest->is_same(heap))
        track.newest->length = std::max(track.newest->length, heap.length);
}

} // namespace gr::spead
