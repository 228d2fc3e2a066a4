/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "stream_tracker.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

namespace {

// A stream is silent when nothing new has come for so long, or for three times its
// longest pause so far.
constexpr std::chrono::milliseconds shortest_silence{ 100 };
constexpr std::chrono::seconds longest_silence{ 10 };
constexpr int pauses_of_silence = 3;
// Packets from before the front may be late ones for so long.
constexpr std::chrono::seconds longest_lateness{ 1 };
// An item that tells another sender apart is remembered for so long.
constexpr std::chrono::seconds longest_lock{ 1 };
// A stream begins anew before its positions could overflow.
constexpr auto farthest_position = std::int64_t{ 1 } << 60;

// None if that is too far to be counted.
std::optional<std::int64_t> samples_of(std::int64_t heaps, std::int64_t length)
{
    return std::abs(heaps) <= stream_time::farthest / std::max<std::int64_t>(length, 1)
               ? std::optional(heaps * length)
               : std::nullopt;
}

} // namespace

stream_tracker::stream_tracker(const plan& how,
                               const output_window& window,
                               const heap_table& heaps,
                               rate_limited_log& log)
    : d_plan(how),
      d_window(window),
      d_heaps(heaps),
      d_log(log),
      d_time(how.samples_per_step, how.ticks_per_step),
      d_tracks(how.outputs)
{
    for (auto& each : d_tracks) {
        each.newest.values.reserve(how.values);
        each.pending.values.reserve(how.values);
    }
    start_run();
}

void stream_tracker::start_run()
{
    for (auto& each : d_tracks) {
        each.is_known = false;
        each.last_fresh = {};
        each.silence = shortest_silence;
        each.counter_step = each.last_counter_step = 0;
        each.senders.assign(d_plan.sockets, 0);
        each.locked_until = {};
        each.has_pending = each.is_over = false;
    }
    d_is_running = false;
    d_heap_samples = 0;
    d_last_fresh = {};
}

void stream_tracker::set_format(bool has_timestamps)
{
    start_run();
    d_has_timestamps = has_timestamps;
}

bool stream_tracker::note_end(std::uint64_t sender)
{
    bool is_received = false;
    for (auto& each : d_tracks) {
        const auto& all = each.senders;
        const bool is_it = std::find(all.begin(), all.end(), sender) != all.end();
        each.is_over |= is_it;
        is_received |= is_it;
    }
    return is_received;
}

// Without timestamps, heaps take places of equal length in the order of their counters. A
// shorter heap is the last one of a stream; a second one of that length means that the
// stream has changed its length.
bool stream_tracker::set_position(received_heap& heap, const track& of) const
{
    if (!d_has_timestamps) {
        if (heap.length > d_heap_samples ||
            (heap.length < d_heap_samples && of.newest.length == heap.length))
            return false;
        const auto apart = samples_of(heap.counters_from(of.newest), d_heap_samples);
        heap.position = of.newest.position + apart.value_or(2 * farthest_position);
    } else {
        const auto position = d_time.position(*heap.timestamp, heap.timestamp_bits);
        heap.position = position.value_or(2 * farthest_position);
    }
    return std::abs(heap.position) <= farthest_position;
}

// Samples from the begin of a heap to that of another one.
std::optional<std::int64_t> stream_tracker::distance(const received_heap& from,
                                                     const received_heap& to) const
{
    if (!d_has_timestamps)
        return from.length == to.length ? samples_of(to.counters_from(from), from.length)
                                        : std::nullopt;
    stream_time time(d_plan.samples_per_step, d_plan.ticks_per_step);
    time.begin(*from.timestamp, 0);
    return time.position(*to.timestamp, to.timestamp_bits);
}

// A timestamp that wraps to 0 looks like that of a sender that starts again.
bool stream_tracker::has_wrapped(const received_heap& heap) const
{
    return d_has_timestamps && d_time.has_wrapped(*heap.timestamp, heap.timestamp_bits);
}

// Whether a heap is the next one, or as far away as its counter says.
bool stream_tracker::continues(const received_heap& heap, const track& of) const
{
    __extension__ using wide = __int128;
    const auto counters = heap.counters_from(of.newest);
    const auto samples = heap.position - of.newest.position;
    if (!d_has_timestamps) // the position follows from the counter: it proves nothing
        return counters > 0 && samples <= d_window.capacity();
    return (counters > 0 && heap.position == of.newest.range().end) ||
           (of.counter_step && counters &&
            wide(samples) * of.counter_step == wide(counters) * of.sample_step);
}

bool stream_tracker::fits(const received_heap& heap, const track& of) const
{
    if (!of.is_known) // the first heap of this output
        return !has_wrapped(heap) &&
               heap.position <= d_window.top() + d_window.capacity() &&
               heap.position >= d_window.front() - d_window.capacity();
    const bool is_in_order =
        (heap.counters_from(of.newest) > 0) == (heap.position > of.newest.position);
    return continues(heap, of) || (heap.position < d_window.top() && is_in_order &&
                                   d_window.is_free(heap.output, heap.range()));
}

bool stream_tracker::is_silent(const track& of, clock::time_point now) const
{
    return of.is_over || now - of.last_fresh >= of.silence;
}

bool stream_tracker::are_silent(clock::time_point now) const
{
    return std::all_of(d_tracks.begin(), d_tracks.end(), [&](const track& each) {
        return is_silent(each, now);
    });
}

// Of two senders, the first one is received. Another one has another source address, or
// sends heaps for times that have been received, with another value of an item that is
// the same in all heaps of the first one.
bool stream_tracker::is_other_sender(const received_heap& heap,
                                     track& of,
                                     bool has_place,
                                     clock::time_point now)
{
    if (!of.is_known || is_silent(of, now)) {
        of.locked_until = {};
        return false;
    }
    const auto sender = of.senders[heap.socket];
    const bool is_other = sender && sender != heap.sender;
    const received_heap* same = is_other ? &of.newest : nullptr;
    if (!is_other && has_place && !continues(heap, of))
        same = d_heaps.overlapping(heap);
    std::optional<std::size_t> difference;
    for (std::size_t i = 0; same && !difference && i < heap.values.size(); ++i)
        if (heap.value(i) != same->value(i) && same->value(i) == of.newest.value(i))
            difference = i;
    if (difference && !is_other) {
        of.locked_until = now + longest_lock;
        of.lock_item = *difference;
    }
    d_difference = is_other ? difference : of.lock_item;
    return is_other || (now < of.locked_until &&
                        heap.value(of.lock_item) != of.newest.value(of.lock_item));
}

stream_tracker::verdict stream_tracker::judge(received_heap& heap, clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    if (!d_is_running)
        return verdict::begins;
    const bool has_place = set_position(heap, of);
    if (is_other_sender(heap, of, has_place, now))
        return verdict::other;
    // in a silence, heaps of past times are those of a sender that starts again
    const bool are_all_silent = are_silent(now);
    const bool is_past = has_place && heap.range().end <= d_window.front();
    if (is_past && !are_all_silent)
        return verdict::late;
    // other outputs may be ahead of this one, if their packets were read first
    const auto newest = of.is_known ? of.newest.range().end : d_window.front();
    const bool is_behind = has_place && heap.range().end <= newest;
    const bool goes_on = has_place && !is_past && fits(heap, of);
    const bool is_far = heap.position - end() > d_plan.max_gap;
    const bool begins_anew = !has_place || is_past || is_far || has_wrapped(heap) ||
                             (is_behind && !d_has_timestamps);
    const bool is_pending = of.has_pending && of.pending.has_key_of(heap) &&
                            of.pending.timestamp == heap.timestamp;
    if (!goes_on && !(is_pending && of.is_agreed)) {
        if (is_behind && !are_all_silent)
            return verdict::ignore;
        if (!are_all_silent || (is_behind && now - d_last_fresh < longest_lateness)) {
            // two streams at different times must not take turns
            of.is_agreed = !of.is_agreed && agrees(heap, of) &&
                           (!begins_anew || d_fresh_packets == of.pending_since);
            if (of.is_agreed)
                return verdict::agrees;
            if (!is_pending)
                of.pending = heap;
            of.has_pending = true;
            of.pending_since = d_fresh_packets;
            return verdict::wait;
        }
    }
    if (goes_on)
        return is_far ? verdict::skips : verdict::fits;
    return begins_anew ? verdict::begins : verdict::jumps;
}

// Whether a heap agrees with the pending one: it is the next one, or the one before, or
// their times and counters advance as those of the stream.
bool stream_tracker::agrees(const received_heap& heap, const track& of) const
{
    __extension__ using wide = __int128;
    const auto counters = heap.counters_from(of.pending);
    const auto apart =
        of.has_pending && counters ? distance(of.pending, heap) : std::nullopt;
    if (!apart || *apart == 0)
        return false;
    if (*apart == of.pending.length || -*apart == heap.length)
        return true;
    if (!of.is_known)
        return false;
    if (of.counter_step)
        return wide(*apart) * of.counter_step == wide(counters) * of.sample_step;
    return *apart > 0 && distance(of.newest, of.pending) == apart &&
           of.pending.counters_from(of.newest) == counters;
}

const received_heap* stream_tracker::fitting_pending(std::size_t output)
{
    auto& of = d_tracks[output];
    const bool fits_now =
        of.has_pending && set_position(of.pending, of) && fits(of.pending, of);
    of.has_pending &= !fits_now;
    return fits_now ? &of.pending : nullptr;
}

std::int64_t stream_tracker::end() const
{
    auto end = d_window.top();
    for (const auto& each : d_tracks)
        if (each.is_known)
            end = std::max(end, each.newest.range().end);
    return end;
}

void stream_tracker::begin_stream(received_heap& heap, std::int64_t position)
{
    for (auto& each : d_tracks) {
        each.is_known = false;
        each.counter_step = each.last_counter_step = 0;
    }
    if (!d_has_timestamps) {
        d_heap_samples = heap.length;
        __extension__ using wide = unsigned __int128;
        heap.timestamp = static_cast<std::uint64_t>(
            wide(heap.counter) * wide(heap.length) * wide(d_plan.ticks_per_step) /
            wide(d_plan.samples_per_step));
    }
    heap.position = position;
    d_time.begin(*heap.timestamp, position);
    d_is_running = true;
}

void stream_tracker::accept(const received_heap& heap, clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    if (is_silent(of, now)) // another one may take over, on all sockets
        of.senders.assign(d_plan.sockets, 0);
    of.senders[heap.socket] = heap.sender;
    of.is_over = false;
    of.has_pending &=
        !(of.pending.has_key_of(heap) && of.pending.timestamp == heap.timestamp);
    if (d_has_timestamps)
        d_time.advance(*heap.timestamp, heap.timestamp_bits, heap.position);
    const bool is_newest = !of.is_known || heap.position > of.newest.position;
    if (of.is_known && is_newest) {
        const auto counters = heap.counters_from(of.newest);
        const auto samples = heap.position - of.newest.position;
        const bool is_first_step = !of.counter_step && samples == of.newest.length;
        if (is_first_step ||
            (counters == of.last_counter_step && samples == of.last_sample_step)) {
            of.counter_step = counters;
            of.sample_step = samples;
            check_step(heap, of);
        }
        of.last_counter_step = counters;
        of.last_sample_step = samples;
    }
    if (is_newest)
        of.newest = heap;
    if (of.is_known)
        of.silence = std::clamp<clock::duration>(
            pauses_of_silence * (now - of.last_fresh), of.silence, longest_silence);
    of.is_known = true;
    of.last_fresh = now;
}

// Says, once, if the times of heaps do not match their lengths.
void stream_tracker::check_step(const received_heap& heap, const track& of)
{
    if (d_has_reported_mismatch || !d_has_timestamps || heap.length != of.newest.length ||
        !heap.heap_length || heap.length == of.sample_step)
        return;
    // those in between may come on other sockets
    if (heap.length < of.sample_step && d_plan.sockets > 1)
        return;
    d_has_reported_mismatch = true;
    const auto ticks = *heap.timestamp - *of.newest.timestamp;
    d_log.add("heaps of ",
              heap.length,
              " samples are ",
              ticks,
              " ticks apart; if none are lost or sent elsewhere, set heap_samples=",
              heap.length,
              " and timestamp_step=",
              ticks);
}

void stream_tracker::note_fresh(const received_heap& heap, clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    of.silence = std::clamp<clock::duration>(
        pauses_of_silence * (now - of.last_fresh), of.silence, longest_silence);
    d_last_fresh = of.last_fresh = now;
    ++d_fresh_packets;
    if (of.newest.has_key_of(heap)) // its length may be unknown
        of.newest.length = std::max(of.newest.length, heap.length);
}

} // namespace gr::spead
