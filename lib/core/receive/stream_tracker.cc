/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "stream_tracker.h"

#include <algorithm>
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
std::optional<std::int64_t> samples_of(std::int64_t heaps, std::int64_t length)
{
    return std::abs(heaps) <= stream_time::farthest / std::max<std::int64_t>(length, 1)
               ? std::optional(heaps * length)
               : std::nullopt;
}

} // namespace

stream_tracker::stream_tracker(const config& how,
                               const output_window& window,
                               const heap_table& heaps,
                               rate_limited_log& log)
    : d_config(how),
      d_window(window),
      d_heaps(heaps),
      d_log(log),
      d_time(how.samples_per_step, how.ticks_per_step)
{
    start_run();
}

void stream_tracker::start_run()
{
    track none;
    none.senders.resize(d_config.sockets);
    d_tracks.assign(d_config.outputs, none);
    d_is_running = false;
    d_heap_samples = 0;
}

void stream_tracker::set_format(bool has_timestamps)
{
    start_run();
    d_has_timestamps = has_timestamps;
}

bool stream_tracker::note_end(std::uint64_t sender)
{
    bool is_received = false;
    for (auto& each : d_tracks)
        if (std::count(each.senders.begin(), each.senders.end(), sender)) {
            each.last_fresh = {};
            is_received = true;
        }
    return is_received;
}

// Without timestamps, positions follow from the heap counters, for heaps of equal length.
// A shorter heap is the last one of a stream. A second heap of that length means that the
// heap length of the stream has changed.
bool stream_tracker::set_position(received_heap& heap, const track& of) const
{
    std::optional<std::int64_t> position;
    if (d_has_timestamps) {
        position = d_time.position(*heap.timestamp, heap.timestamp_bits);
        // the counters tell how often timestamps have wrapped in a long gap
        if (const auto expected = expected_position(heap, of);
            expected && expected != position &&
            d_time.is_position_of(*expected, *heap.timestamp, heap.timestamp_bits))
            position = expected;
    } else if (!of.newest || heap.length > d_heap_samples ||
               (heap.length < d_heap_samples && of.newest->length == heap.length))
        return false;
    else if (const auto apart =
                 samples_of(heap.counters_from(*of.newest), d_heap_samples))
        position = of.newest->position + *apart;
    heap.position = position.value_or(0);
    return position && std::abs(*position) <= farthest_position;
}

// The position of a later heap according to its counter. None if the step of the stream
// is not known, or the counter is not a multiple of it.
std::optional<std::int64_t> stream_tracker::expected_position(const received_heap& heap,
                                                              const track& of) const
{
    if (!of.newest || !of.usual.counters)
        return std::nullopt;
    const auto counters = heap.counters_from(*of.newest);
    if (counters <= 0 || counters % of.usual.counters)
        return std::nullopt;
    const auto samples = samples_of(counters / of.usual.counters, of.usual.samples);
    return samples ? std::optional(of.newest->position + *samples) : std::nullopt;
}

// Samples from the start of one heap to that of another.
std::optional<std::int64_t> stream_tracker::distance(const received_heap& from,
                                                     const received_heap& to) const
{
    if (!d_has_timestamps)
        return from.length == to.length ? samples_of(to.counters_from(from), from.length)
                                        : std::nullopt;
    stream_time time(d_config.samples_per_step, d_config.ticks_per_step);
    time.begin(*from.timestamp, 0);
    return time.position(*to.timestamp, to.timestamp_bits);
}

// A timestamp that wraps to 0 looks like that of a restarted sender.
bool stream_tracker::has_wrapped(const received_heap& heap) const
{
    return d_has_timestamps && d_time.has_wrapped(*heap.timestamp, heap.timestamp_bits);
}

// Whether a heap is adjacent to the newest one, or as far from it as the heap counters
// imply.
bool stream_tracker::continues(const received_heap& heap, const track& of) const
{
    const auto counters = heap.counters_from(*of.newest);
    const auto samples = heap.position - of.newest->position;
    if (!d_has_timestamps) // the position follows from the counter: no evidence
        return counters > 0 && (counters == 1 || samples <= d_window.capacity());
    return (counters > 0 && samples == of.newest->length) ||
           (of.usual.counters && counters &&
            wide(samples) * of.usual.counters == wide(counters) * of.usual.samples);
}

bool stream_tracker::fits(const received_heap& heap, const track& of) const
{
    if (!of.newest) // the first heap of this output
        return !has_wrapped(heap) &&
               heap.position <= d_window.top() + d_window.capacity() &&
               heap.position >= d_window.front() - d_window.capacity();
    const bool is_in_order =
        (heap.counters_from(*of.newest) > 0) == (heap.position > of.newest->position);
    return continues(heap, of) || (heap.position < d_window.top() && is_in_order &&
                                   d_window.is_free(heap.output, heap.range()));
}

bool stream_tracker::is_silent(const track& of, clock::time_point now) const
{
    return of.last_fresh == clock::time_point{} ||
           now - of.last_fresh >= of.silence_timeout;
}

bool stream_tracker::ignores_sender(std::size_t socket,
                                    std::uint64_t sender,
                                    std::optional<std::size_t> output,
                                    clock::time_point now) const
{
    const auto ignores = [&](const track& of) {
        return has_other_address(socket, sender, of) && !is_silent(of, now);
    };
    return output ? ignores(d_tracks[*output])
                  : std::all_of(d_tracks.begin(), d_tracks.end(), ignores);
}

bool stream_tracker::has_other_address(std::size_t socket,
                                       std::uint64_t sender,
                                       const track& of)
{
    return of.senders[socket] && of.senders[socket] != sender;
}

// Only the first sender is received. Another one has another source address, or sends a
// heap for a time already received, in which an item differs that has the same value in
// two heaps of the first sender.
bool stream_tracker::is_other_sender(const received_heap& heap,
                                     track& of,
                                     bool has_position,
                                     clock::time_point now)
{
    if (!of.newest || is_silent(of, now)) {
        of.lock_item.reset();
        return false;
    }
    const bool is_from_elsewhere = has_other_address(heap.socket, heap.sender, of);
    const received_heap* same = is_from_elsewhere ? &*of.newest : nullptr;
    if (!is_from_elsewhere && has_position && !continues(heap, of))
        same = d_heaps.overlapping(heap);
    d_difference.reset();
    for (std::size_t i = 0; same && !d_difference && i < heap.values.size(); ++i)
        if (heap.value(i) != same->value(i) && same->value(i) == of.newest->value(i) &&
            !(i < of.varies.size() && of.varies[i]))
            d_difference = i;
    if (is_from_elsewhere)
        return true;
    if (d_difference)
        of.lock_item = d_difference;
    d_difference = of.lock_item;
    return d_difference && heap.value(*d_difference) != of.newest->value(*d_difference);
}

stream_tracker::verdict stream_tracker::classify(received_heap& heap,
                                                 clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    if (!d_is_running)
        return verdict::new_stream;
    const bool has_position = set_position(heap, of);
    if (d_config.is_aligned && d_has_timestamps)
        note_timestamp(heap, of);
    if (is_other_sender(heap, of, has_position, now))
        return verdict::other_sender;
    // while all outputs are silent, heaps of past times come from a restarted sender
    const bool are_all_silent =
        std::all_of(d_tracks.begin(), d_tracks.end(), [&](auto& each) {
            return is_silent(each, now);
        });
    const bool is_past = has_position && heap.range().end <= d_window.front();
    // or are late packets of the stream that has just ended
    const bool is_repeated = is_past && of.newest && continues(heap, of) &&
                             of.senders[heap.socket] == heap.sender &&
                             now - of.newest->last_packet < heap_timeout;
    if (is_past && (is_repeated || !are_all_silent))
        return verdict::late;
    if (has_position && !is_past && !is_aligned(heap)) {
        if (!are_all_silent)
            return verdict::misaligned;
    } else if (has_position && !is_past && fits(heap, of)) {
        return verdict::fits;
    }
    const bool is_pending =
        of.pending && *of.pending == heap && of.pending->timestamp == heap.timestamp;
    if (!are_all_silent && !(is_pending && of.is_confirmed)) {
        of.is_confirmed = !of.is_confirmed && confirms_pending(heap, of);
        if (!of.is_confirmed)
            of.pending = heap;
        return verdict::unconfirmed;
    }
    const bool is_next = has_position && !is_past && is_aligned(heap) &&
                         !exceeds_max_gap(heap) && !has_wrapped(heap);
    const bool is_behind = of.newest && heap.position < of.newest->range().end;
    return is_next && (d_has_timestamps || !is_behind) ? verdict::time_jump
                                                       : verdict::new_stream;
}

void stream_tracker::note_timestamp(const received_heap& heap, track& of)
{
    auto& seen = of.seen;
    const auto timestamp = *heap.timestamp;
    if (seen.last && timestamp != *seen.last) {
        const auto step =
            std::max(timestamp, *seen.last) - std::min(timestamp, *seen.last);
        const auto divisor = std::gcd(seen.ticks, step);
        seen.repeats = divisor == seen.ticks ? seen.repeats + 1 : 0;
        seen.ticks = divisor;
    }
    seen.last = timestamp;
}

// Whether a heap confirms the pending one: it is adjacent to it, or their timestamps and
// heap counters advance as those of the stream do.
bool stream_tracker::confirms_pending(const received_heap& heap, const track& of) const
{
    if (!of.pending)
        return false;
    const step from_pending{ heap.counters_from(*of.pending),
                             distance(*of.pending, heap).value_or(0) };
    const auto [counters, samples] = from_pending;
    if (!counters || !samples)
        return false;
    if (samples == of.pending->length || -samples == heap.length)
        return true;
    if (of.usual.counters)
        return wide(samples) * of.usual.counters == wide(counters) * of.usual.samples;
    return of.newest && samples > 0 && distance(*of.newest, *of.pending) == samples &&
           of.pending->counters_from(*of.newest) == counters;
}

const received_heap* stream_tracker::confirmed(std::size_t output)
{
    auto& of = d_tracks[output];
    const bool is_it =
        of.pending &&
        (of.is_confirmed || (set_position(*of.pending, of) && fits(*of.pending, of)));
    return is_it ? &*of.pending : nullptr;
}

bool stream_tracker::exceeds_max_gap(const received_heap& heap) const
{
    return heap.position - end() > d_config.max_gap;
}

std::int64_t stream_tracker::end() const
{
    auto end = d_window.top();
    for (const auto& each : d_tracks)
        if (each.newest)
            end = std::max(end, each.newest->range().end);
    return end;
}

void stream_tracker::begin_stream(received_heap& heap, std::int64_t position)
{
    for (auto& each : d_tracks) {
        each.newest.reset();
        each.last = each.usual = {};
        each.varies.clear();
        each.last_fresh = {};
    }
    if (!d_has_timestamps) {
        d_heap_samples = heap.length;
        __extension__ using wide_unsigned = unsigned __int128;
        heap.timestamp = static_cast<std::uint64_t>(
            wide_unsigned(heap.counter) * wide_unsigned(heap.length) *
            wide_unsigned(d_config.ticks_per_step) /
            wide_unsigned(d_config.samples_per_step));
    }
    heap.position = position;
    d_time.begin(*heap.timestamp, position);
    d_is_running = true;
}

void stream_tracker::append_heap(const received_heap& heap, clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    if (is_silent(of, now)) // another sender may take over, on all sockets
        of.senders.assign(d_config.sockets, 0);
    of.senders[heap.socket] = heap.sender;
    if (of.pending && *of.pending == heap && of.pending->timestamp == heap.timestamp)
        of.pending.reset();
    if (d_has_timestamps)
        d_time.advance(*heap.timestamp, heap.timestamp_bits, heap.position);
    if (of.newest && heap.position <= of.newest->position)
        return;
    if (of.newest) {
        if (!continues(heap, of)) // a pause before a jump is not one of the stream
            of.last_fresh = std::max(of.last_fresh, now);
        const step now_step{ heap.counters_from(*of.newest),
                             heap.position - of.newest->position };
        of.varies.resize(heap.values.size());
        if (now_step == of.usual)
            for (std::size_t i = 0; i < heap.values.size(); ++i)
                of.varies[i] = of.varies[i] || heap.value(i) != of.newest->value(i);
        of.repeats = now_step == of.last ? of.repeats + 1 : 0;
        if (of.repeats || (!of.usual.counters && now_step.samples == of.newest->length))
            of.usual = now_step;
        if (of.repeats == repeats_of_hint)
            check_step(heap, of);
        of.last = now_step;
    }
    of.newest = heap;
}

// Logs, once, that the timestamps of heaps do not match their lengths.
void stream_tracker::check_step(const received_heap& heap, const track& of)
{
    const auto [counters, samples] = of.usual;
    const bool is_lost = wide(heap.length) * counters == samples; // the heaps in between
    if (d_has_reported_mismatch || !d_has_timestamps || is_lost ||
        heap.length != of.newest->length || !heap.heap_length || heap.length == samples)
        return;
    // the heaps in between may arrive on other sockets
    if (heap.length < samples && d_config.sockets > 1)
        return;
    d_has_reported_mismatch = true;
    const auto ticks = *heap.timestamp - *of.newest->timestamp;
    d_log.add("heaps of ",
              heap.length,
              " samples are ",
              ticks,
              " ticks apart; if none are lost or sent elsewhere, set ",
              heap.length == d_config.samples_per_step
                  ? ""
                  : "heap_samples=" + std::to_string(heap.length) + " and ",
              "timestamp_step=",
              ticks);
}

void stream_tracker::record_progress(const received_heap& heap, clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    if (of.last_fresh != clock::time_point{})
        of.silence_timeout =
            std::clamp<clock::duration>(pauses_of_silence * (now - of.last_fresh),
                                        of.silence_timeout,
                                        max_silence_timeout);
    of.last_fresh = std::max(of.last_fresh, now);
    if (of.newest && *of.newest == heap) // an unknown length grows with each packet
        of.newest->length = std::max(of.newest->length, heap.length);
}

} // namespace gr::spead
