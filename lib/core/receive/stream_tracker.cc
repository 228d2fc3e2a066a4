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


bool overlap(position_range a, position_range b)
{
    return a.begin < b.end && b.begin < a.end;
}

} // namespace

stream_tracker::stream_tracker(const plan& how,
                               const output_window& window,
                               const heap_table& heaps)
    : d_plan(how),
      d_window(window),
      d_heaps(heaps),
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
    d_agreed = nullptr;
}

void stream_tracker::set_format(bool has_timestamps)
{
    start_run();
    d_has_timestamps = has_timestamps;
}

void stream_tracker::note_end(std::uint64_t sender)
{
    for (auto& each : d_tracks)
        each.is_over |= std::find(each.senders.begin(), each.senders.end(), sender) !=
                        each.senders.end();
}

bool stream_tracker::is_sender(std::uint64_t sender) const
{
    return std::any_of(d_tracks.begin(), d_tracks.end(), [&](const track& each) {
        return std::find(each.senders.begin(), each.senders.end(), sender) !=
               each.senders.end();
    });
}

// Without timestamps, heaps take places of equal length in the order of their counters.
bool stream_tracker::has_position(received_heap& heap) const
{
    if (!d_has_timestamps) {
        if (heap.length > d_heap_samples)
            return false;
        const auto& any = d_tracks[heap.output].newest;
        heap.position = any.position + heap.counters_from(any) * d_heap_samples;
        return true;
    }
    const auto position = d_time.position(*heap.timestamp, heap.timestamp_bits);
    heap.position = position.value_or(0);
    return position.has_value();
}

// Samples from the begin of a heap to that of another one.
std::optional<std::int64_t> stream_tracker::distance(const received_heap& from,
                                                     const received_heap& to) const
{
    if (!d_has_timestamps)
        return from.length == to.length
                   ? std::optional(to.counters_from(from) * from.length)
                   : std::nullopt;
    stream_time time(d_plan.samples_per_step, d_plan.ticks_per_step);
    time.begin(*from.timestamp, 0);
    return time.position(*to.timestamp, to.timestamp_bits);
}

bool stream_tracker::is_in_step(const received_heap& heap, const track& of) const
{
    __extension__ using wide = __int128;
    const auto counters = heap.counters_from(of.newest);
    const auto samples = heap.position - of.newest.position;
    if (!d_has_timestamps) // the position follows from the counter: it proves nothing
        return std::abs(samples) <= d_window.capacity();
    return of.counter_step && counters &&
           wide(samples) * of.counter_step == wide(counters) * of.sample_step;
}

// Such a jump is as likely that of a sender that starts again.
bool stream_tracker::has_wrapped(const received_heap& heap) const
{
    return d_has_timestamps && d_time.has_wrapped(*heap.timestamp, heap.timestamp_bits);
}

bool stream_tracker::fits(const received_heap& heap, const track& of) const
{
    if (!of.is_known) // the first heap of this output
        return !has_wrapped(heap) &&
               heap.position <= d_window.top() + d_window.capacity() &&
               heap.position >= d_window.front() - d_window.capacity();
    return heap.position == of.newest.range().end || is_in_step(heap, of) ||
           (heap.position < d_window.top() &&
            d_window.is_free(heap.output, heap.range()) && d_heaps.is_in_order(heap));
}

std::optional<std::size_t> stream_tracker::different_item(const received_heap& a,
                                                          const received_heap& b) const
{
    for (std::size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i)
        if (a.values[i] && b.values[i] && *a.values[i] != *b.values[i])
            return i;
    return std::nullopt;
}

bool stream_tracker::is_silent(const track& of, clock::time_point now) const
{
    return of.is_over || now - of.last_fresh >= of.silence;
}

// Of two senders, the first one is received. Another one has another source address, or
// sends heaps for times that have been received, with another value of an item.
bool stream_tracker::is_other_sender(const received_heap& heap,
                                     track& of,
                                     bool has_place,
                                     clock::time_point now)
{
    if (is_silent(of, now)) {
        of.locked_until = {};
        return false;
    }
    const auto known = of.senders[heap.socket];
    if (known && known != heap.sender) {
        d_difference = different_item(heap, of.newest);
        return true;
    }
    const bool is_taken = has_place && (overlap(heap.range(), of.newest.range()) ||
                                        (heap.position < d_window.top() &&
                                         !d_window.is_free(heap.output, heap.range())));
    const auto* same =
        is_taken && !is_in_step(heap, of) ? d_heaps.overlapping(heap) : nullptr;
    for (std::size_t i = 0; same && i < heap.values.size(); ++i)
        // one that is the same in all heaps of the first sender
        if (heap.value(i) != same->value(i) && same->value(i) == of.newest.value(i)) {
            of.locked_until = now + longest_lock;
            of.lock_item = i;
            break;
        }
    d_difference = of.lock_item;
    return now < of.locked_until &&
           heap.value(of.lock_item) != of.newest.value(of.lock_item);
}

// Other outputs may be ahead of this one, if their packets were read first.
bool stream_tracker::is_behind_newest(const received_heap& heap, const track& of) const
{
    return heap.position < (of.is_known ? of.newest.range().end : d_window.front());
}

stream_tracker::verdict stream_tracker::judge(received_heap& heap, clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    d_agreed = nullptr;
    if (!d_is_running)
        return verdict::believe;
    const bool has_place = has_position(heap);
    if (of.is_known && is_other_sender(heap, of, has_place, now))
        return verdict::other;
    // in a silence, heaps of past times are those of a sender that starts again
    const bool may_be_again =
        has_place && heap.range().end <= d_window.front() && are_silent(now);
    if (has_place && fits(heap, of) && !may_be_again)
        return verdict::fits;
    return judge_unfit(heap, of, has_place, now);
}

bool stream_tracker::are_silent(clock::time_point now) const
{
    return std::all_of(d_tracks.begin(), d_tracks.end(), [&](const track& each) {
        return is_silent(each, now);
    });
}

stream_tracker::verdict stream_tracker::judge_unfit(received_heap& heap,
                                                    track& of,
                                                    bool has_place,
                                                    clock::time_point now)
{
    const bool is_behind = has_place && is_behind_newest(heap, of);
    const bool was_silent = are_silent(now);
    if (is_behind && !was_silent)
        return heap.range().end <= d_window.front() ? verdict::late : verdict::ignore;
    if (was_silent && (!is_behind || now - d_last_fresh >= longest_lateness))
        return verdict::believe;
    if (agrees(heap, of) && can_jump(heap, of)) {
        d_agreed = &of.pending;
        return verdict::believe;
    }
    const bool is_known = of.has_pending && of.pending.has_key_of(heap) &&
                          of.pending.timestamp == heap.timestamp;
    if (!is_known)
        of.pending = heap;
    of.has_pending = true;
    of.pending_since = d_fresh_packets;
    return verdict::wait;
}

// Whether a heap agrees with the pending one: it is the next one, or the one before, or
// their times and counters advance as those of the stream.
bool stream_tracker::agrees(const received_heap& heap, const track& of) const
{
    __extension__ using wide = __int128;
    const auto apart = of.has_pending ? distance(of.pending, heap) : std::nullopt;
    if (!apart || *apart == 0)
        return false;
    if (*apart == of.pending.length || -*apart == heap.length)
        return true;
    const auto counters = heap.counters_from(of.pending);
    if (!of.is_known || counters == 0)
        return false;
    if (of.counter_step)
        return wide(*apart) * of.counter_step == wide(counters) * of.sample_step;
    return *apart > 0 && distance(of.newest, of.pending) == apart &&
           of.pending.counters_from(of.newest) == counters;
}

// Two streams at different times must not take turns.
bool stream_tracker::can_jump(received_heap heap, const track& of) const
{
    return continuation_of(heap) != continuation::begins ||
           d_fresh_packets == of.pending_since;
}

bool stream_tracker::finds_fitting(std::size_t output)
{
    auto& of = d_tracks[output];
    const bool is_found =
        of.has_pending && has_position(of.pending) && fits(of.pending, of);
    d_agreed = is_found ? &of.pending : nullptr;
    return is_found;
}

std::int64_t stream_tracker::end() const
{
    auto end = d_window.top();
    for (const auto& each : d_tracks)
        if (each.is_known)
            end = std::max(end, each.newest.range().end);
    return end;
}

stream_tracker::continuation stream_tracker::continuation_of(received_heap& heap) const
{
    if (!d_is_running || !has_position(heap) || heap.range().end <= d_window.front())
        return continuation::begins;
    const auto& of = d_tracks[heap.output];
    const bool goes_on =
        of.is_known && (is_in_step(heap, of) || heap.position == of.newest.range().end);
    const bool is_near = heap.position - end() <= d_plan.max_gap;
    if (is_near && (goes_on || !has_wrapped(heap)))
        return continuation::same;
    return goes_on ? continuation::skip : continuation::begins;
}

void stream_tracker::begin_stream(received_heap& heap, std::int64_t first)
{
    for (auto& each : d_tracks) {
        each.is_known = false;
        each.counter_step = each.last_counter_step = 0;
    }
    if (!d_has_timestamps) {
        d_heap_samples = heap.length;
        heap.timestamp = heap.counter * static_cast<std::uint64_t>(heap.length) *
                         static_cast<std::uint64_t>(d_plan.ticks_per_step) /
                         static_cast<std::uint64_t>(d_plan.samples_per_step);
    }
    heap.position = d_window.front() - first;
    d_time.begin(*heap.timestamp, heap.position);
    d_is_running = true;
}

void stream_tracker::accept(const received_heap& heap, clock::time_point now)
{
    auto& of = d_tracks[heap.output];
    of.senders[heap.socket] = heap.sender;
    of.is_over = false;
    const bool is_newest = !of.is_known || heap.position > of.newest.position;
    if (d_has_timestamps)
        d_time.advance(*heap.timestamp, heap.timestamp_bits, heap.position);
    if (of.is_known && is_newest) {
        const auto counters = heap.counters_from(of.newest);
        const auto samples = heap.position - of.newest.position;
        const bool is_first_step = !of.counter_step && samples == of.newest.length;
        if (is_first_step ||
            (counters == of.last_counter_step && samples == of.last_sample_step)) {
            of.counter_step = counters;
            of.sample_step = samples;
            check_step(of, heap);
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
    // the times of heaps increase with their counters: what says otherwise is wrong
    auto& other = of.pending;
    if (!of.has_pending)
        return;
    const bool is_same = other.has_key_of(heap) && other.timestamp == heap.timestamp;
    if (is_same || (has_position(other) && (overlap(other.range(), heap.range()) ||
                                            (other.counters_from(heap) > 0) !=
                                                (other.position > heap.position))))
        of.has_pending = false;
}

void stream_tracker::check_step(const track& of, const received_heap& heap)
{
    if (d_has_reported_mismatch || !d_has_timestamps || heap.length != of.newest.length ||
        !heap.heap_length || heap.length == of.sample_step)
        return;
    // those in between may come on other sockets
    if (heap.length < of.sample_step && d_plan.sockets > 1)
        return;
    d_has_reported_mismatch = true;
    d_mismatch = { static_cast<std::int64_t>(*heap.timestamp - *of.newest.timestamp),
                   heap.length };
}

std::optional<stream_tracker::mismatch> stream_tracker::take_mismatch()
{
    return std::exchange(d_mismatch, std::nullopt);
}

} // namespace gr::spead
