/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "stream_follower.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace gr::spead {

namespace {

// Packets from before the first one of a stream may arrive up to this much later.
constexpr std::chrono::milliseconds start_delay{ 10 };
constexpr auto no_limit = std::numeric_limits<std::int64_t>::max();
constexpr auto no_front = -(std::int64_t{ 1 } << 60); // distances do not overflow

} // namespace

stream_follower::stream_follower(const receive_config& config,
                                 const indexed_format& format,
                                 heap_slots& slots,
                                 output_window& window,
                                 sender_memory& senders,
                                 common_counter_set& common_counters,
                                 no_output_reason& reason,
                                 rate_limited_log& log)
    : d_config(config),
      d_format(format),
      d_slots(slots),
      d_window(window),
      d_senders(senders),
      d_common_counters(common_counters),
      d_no_output_reason(reason),
      d_log(log),
      d_timeline(config.timeline_config),
      d_locks(config.timeline_config.outputs,
              sender_lock(config.timeline_config.sources)),
      d_held_slots(config.timeline_config.outputs)
{
}

void stream_follower::start_run()
{
    d_timeline.start_run();
    for (auto& lock : d_locks)
        lock.restart();
    d_has_stopped = d_has_logged_misaligned = false;
    d_awaits_start = d_config.timeline_config.start_tick.has_value();
    d_window.set_first_position(d_awaits_start ? std::optional(std::int64_t{ 0 })
                                               : std::nullopt);
}

void stream_follower::restart(const sample_group& group)
{
    d_group = group;
    d_timeline.set_format(d_format->timestamp_id.has_value());
    for (auto& lock : d_locks)
        lock.restart();
}

void stream_follower::forget(const heap_slot& slot)
{
    if (d_confirmed_slot == &slot)
        d_confirmed_slot = nullptr;
    for (auto& held_slot : d_held_slots)
        if (held_slot == &slot)
            held_slot = nullptr;
}

// Judgement

stream_follower::decision stream_follower::decide(heap_slot& slot, time_point now)
{
    const auto new_verdict = verdict_of(slot, now);
    if (!new_verdict)
        return decision::refuse;
    slot.verdict = *new_verdict;
    switch (slot.verdict) {
    case verdict::late:
        // It must not change the timeline. Its packets are placed like others, so that
        // the window counts their samples as late.
        slot.has_entered = true;
        [[fallthrough]];
    case verdict::fits:
    case verdict::jump:
    case verdict::new_stream:
        return decision::place;
    case verdict::hold:
    case verdict::confirms_held:
        hold(slot);
        return decision::hold;
    case verdict::misaligned:
        break;
    }
    log_misaligned(slot.output);
    return decision::refuse;
}

// None if the heap is not used, whatever its time is.
std::optional<timeline::verdict> stream_follower::verdict_of(heap_slot& slot,
                                                             time_point now)
{
    if (!has_usable_items(slot))
        return std::nullopt;
    if (!d_timeline.is_running())
        return verdict::new_stream;
    auto& time = slot.time;
    const bool is_located = d_timeline.locate(time, slot.output);
    if (d_config.timeline_config.is_aligned && d_format->timestamp_id)
        d_timeline.note_timestamp(time, slot.output);
    // Before the time is judged: heaps of another sender agree with each other, which
    // would make the stream jump back and forth between the senders.
    if (has_other_sender(slot, is_located, now)) {
        d_no_output_reason.note_other_sender(*d_format,
                                             d_locks[slot.output].difference());
        d_no_output_reason.log_once(d_log);
        return std::nullopt;
    }
    const auto context = context_of(slot);
    return std::exchange(slot.is_confirmed, false)
               ? d_timeline.classify_confirmed(time, is_located, slot.output, context)
               : d_timeline.classify(
                     time, is_located, slot.output, context, slot.first_arrival);
}

bool stream_follower::has_usable_items(heap_slot& slot)
{
    auto& items = slot.items;
    auto& time = slot.time;
    d_senders.complete(slot.id, slot.time, slot.first_arrival, items);
    if (!slot.is_held) // else it has been counted
        d_common_counters.selection.count(items.values);
    time.timestamp = items.timestamp.value_or(0);
    time.timestamp_bits = items.timestamp_bits;
    time.length = static_cast<std::int64_t>(
        d_group.samples_of(items.seen_end - *items.samples_begin));
    time.is_length_known = items.has_known_end();
    const auto& axes = d_config.axes;
    if (items.samples_end == *items.samples_begin)
        d_no_output_reason.note(cause::no_bytes);
    else if ((!d_format->timestamp_id || !axes.empty()) && !items.has_known_end())
        d_no_output_reason.note(axes.empty() ? cause::no_length
                                             : cause::no_length_of_axes);
    else if (d_group.is_packed() && items.has_known_end() &&
             d_group.bytes_of(time.length) !=
                 static_cast<std::int64_t>(items.seen_end - *items.samples_begin))
        d_no_output_reason.note_partial_group(items.seen_end - *items.samples_begin,
                                              d_group);
    else if (!select_output(slot))
        d_no_output_reason.note_no_output(*d_format, items.values);
    else if (!axes.empty() && time.length != static_cast<std::int64_t>(axes.samples()))
        d_no_output_reason.note_wrong_length(time.length, axes.samples());
    else
        return true;
    return false;
}

// The values in items select heaps: one value for all outputs, or one per output.
bool stream_follower::select_output(heap_slot& slot) const
{
    bool is_selected =
        d_config.timeline_config.outputs == 1 || d_config.has_group_for_each_output;
    slot.output = d_config.has_group_for_each_output ? slot.id.group : 0;
    for (std::size_t i = 0; i < d_format->immediates.size(); ++i) {
        const auto& values = d_format->immediates[i].values;
        if (values.empty())
            continue;
        const auto item_value = slot.items.value(i);
        const auto found =
            std::find_if(values.begin(), values.end(), [&](std::int64_t value) {
                return item_value && static_cast<std::uint64_t>(value) == *item_value;
            });
        if (found == values.end())
            return false;
        if (values.size() == 1)
            continue;
        const auto output = static_cast<std::size_t>(found - values.begin());
        if (d_config.has_group_for_each_output && output != slot.id.group)
            return false;
        slot.output = output;
        is_selected = true;
    }
    return is_selected;
}

bool stream_follower::has_other_sender(const heap_slot& slot,
                                       bool is_located,
                                       time_point now)
{
    const auto output = slot.output;
    auto& lock = d_locks[output];
    if (!d_timeline.newest(output) || d_timeline.is_silent(output, slot.first_arrival)) {
        lock.release_item();
        return false;
    }
    // an overlapping heap is sought only out of order
    const bool may_differ =
        !d_format->immediates.empty() && is_located &&
        (d_timeline.is_before_newest(slot.time, output) ||
         !d_timeline.continues(slot.time, output, d_window.capacity()));
    const bool was_known = lock.has_item();
    const bool is_refused =
        lock.refuses(slot, may_differ ? d_slots.find_overlapping(slot) : nullptr);
    if (!was_known && lock.has_item())
        withdraw_others(output, now);
    return is_refused;
}

// Heaps of another sender may have been accepted before a difference was known.
void stream_follower::withdraw_others(std::size_t output, time_point now)
{
    const auto placed_slots = d_slots.placed();
    for (auto* slot : placed_slots)
        if (slot->output == output && d_locks[output].has_other_item(*slot)) {
            if (slot->received_samples)
                d_window.withdraw(output, slot->range(), now);
            d_slots.refuse(*slot);
        }
}

timeline::heap_context stream_follower::context_of(const heap_slot& slot) const
{
    // before the start, nothing is output, so nothing is late
    return { d_awaits_start ? no_front : d_window.front(),
             d_window.top(),
             d_window.capacity(),
             &d_window.missing(slot.output),
             d_locks[slot.output].admits(slot.source, slot.id.sender) };
}

// Holds a heap until another one agrees with its time. A single heap with an unexpected
// time may be wrong, and to follow it would break the stream twice: at it and after it.
// If this one agrees with the heap that is held, that one is judged first: it came first,
// and this one then continues the stream from there.
void stream_follower::hold(heap_slot& slot)
{
    slot.is_held = true;
    auto& held_slot = d_held_slots[slot.output];
    if (slot.verdict == verdict::confirms_held) {
        // the timeline also knows the time of a held heap whose slot was needed
        auto& confirmed_slot = held_slot ? *held_slot : slot;
        confirmed_slot.is_confirmed = true;
        d_confirmed_slot = &confirmed_slot;
        d_slots.set_ready(confirmed_slot, true);
        d_slots.set_ready(slot, true);
        return;
    }
    held_slot = &slot;
    d_timeline.hold(slot.time, slot.output);
    d_no_output_reason.note(cause::different_times);
}

// Whether the held heap may come from a restart after which the sender reuses the counter
// of this heap.
bool stream_follower::has_held_restart(const heap_slot& slot) const
{
    const auto* held_slot =
        slot.status == state::placed ? d_held_slots[slot.output] : nullptr;
    return held_slot && held_slot->arrival_number > slot.arrival_number &&
           held_slot->id.sender == slot.id.sender &&
           held_slot->id.group == slot.id.group &&
           slot.time.counters_from(held_slot->time) >= 0;
}

// Judges held heaps again that may fit after a heap has been accepted.
void stream_follower::release_held(const heap_slot& accepted)
{
    if (accepted.verdict != verdict::fits) {
        for (auto* slot : d_slots.collecting())
            if (slot->is_held)
                d_slots.set_ready(*slot, true);
        return;
    }
    auto* held_slot = d_held_slots[accepted.output];
    if (!held_slot || held_slot == &accepted || held_slot->status != state::collecting)
        return;
    auto time = held_slot->time;
    if (d_timeline.locate(time, held_slot->output) &&
        d_timeline.classify(time,
                            true,
                            held_slot->output,
                            context_of(*held_slot),
                            held_slot->first_arrival) == verdict::fits)
        d_slots.set_ready(*held_slot, true);
}

// Samples of other heaps come out, so the log must say why this one is ignored.
void stream_follower::log_misaligned(std::size_t output)
{
    const auto ticks = d_timeline.noted_step(output);
    const auto step = static_cast<std::uint64_t>(d_config.timeline_config.ticks_per_step);
    if (!ticks || std::exchange(d_has_logged_misaligned, true))
        return;
    if (ticks % step == 0)
        d_log.add("heaps are ignored because their timestamps are no multiples of "
                  "timestamp_step, ",
                  step,
                  ", from the first one; check the sender");
    else
        d_log.add("heaps are ignored because they are ",
                  ticks,
                  " ticks apart, but timestamp_step is ",
                  step,
                  ": set timestamp_step=",
                  ticks);
}

void stream_follower::log_mismatch()
{
    const auto mismatch = d_timeline.take_mismatch();
    if (!mismatch)
        return;
    d_log.add("heaps of ",
              mismatch->length,
              " samples are ",
              mismatch->ticks,
              " ticks apart; if none are lost or sent elsewhere, set ",
              mismatch->length == d_config.timeline_config.samples_per_step
                  ? ""
                  : "heap_samples=" + std::to_string(mismatch->length) + " and ",
              "timestamp_step=",
              mismatch->ticks);
}

// Streams

// Adds an accepted heap to the stream. False if samples must be produced before: a new
// stream, and a jump by more than max_gap, move the front of the window, which would lose
// the samples that it holds. The packets of the heap wait in the slot meanwhile, and the
// sockets are not read, so that nothing overtakes them.
bool stream_follower::enter(heap_slot& slot, time_point now)
{
    if (slot.has_entered)
        return true;
    const bool is_new_stream = slot.verdict == verdict::new_stream;
    const bool exceeds_max_gap =
        !is_new_stream && d_timeline.exceeds_max_gap(slot.time, d_window.top());
    if ((is_new_stream || exceeds_max_gap) && !d_window.is_empty()) {
        d_window.flush();
        return false;
    }
    slot.has_entered = true;
    if (exceeds_max_gap)
        skip_to(slot.time.position);
    if (slot.verdict != verdict::fits)
        drop_older(slot, is_new_stream && d_timeline.is_running());
    if (is_new_stream)
        begin_stream(slot, now);
    auto& lock = d_locks[slot.output];
    if (d_timeline.is_silent(slot.output, slot.first_arrival))
        lock.release(); // another sender may take over
    const auto added = d_timeline.add(slot.time, slot.output, slot.first_arrival);
    lock.add(slot, added.is_newest, added.is_next);
    log_mismatch();
    release_held(slot);
    return true;
}

void stream_follower::begin_stream(heap_slot& slot, time_point now)
{
    // packets from before the first one may arrive after it, and heaps of two senders may
    // arrive in turn before an item tells them apart
    auto opening_end = now;
    if (d_timeline.is_running() || d_config.group_of_source.size() > 1 ||
        !d_format->immediates.empty())
        opening_end += start_delay;
    if (d_timeline.is_running()) {
        d_common_counters.discontinuities.add(1);
        d_log.add("the timestamps jump: the stream starts over");
    }
    const auto placed_slots = d_slots.placed();
    for (auto* other : placed_slots)
        if (other != &slot)
            d_slots.refuse(*other);
    for (auto& lock : d_locks)
        lock.begin_stream();
    const auto& stream = d_config.timeline_config;
    // what precedes this heap by more than max_gap belongs to the stream before
    auto max_earlier = d_timeline.is_running() ? stream.max_gap : no_limit;
    if (d_awaits_start) {
        const auto position = d_timeline.position_from_start(slot.time);
        if (position <= stream.max_gap) {
            d_window.begin_stream({ opening_end, 1, 0 });
            d_timeline.begin_stream_at_start(slot.time);
            return;
        }
        d_log.add(
            "the stream begins ",
            position,
            " samples after timestamp_start, more than max_gap: so does the output");
        max_earlier = position;
        d_awaits_start = false;
    }
    d_window.set_first_position(std::nullopt);
    // multiples of this last a whole number of ticks
    const auto alignment =
        d_config.axes.empty()
            ? std::max<std::int64_t>(
                  stream.samples_per_step /
                      std::gcd(stream.samples_per_step, stream.ticks_per_step),
                  1)
            : stream.samples_per_step;
    // The position in the window is that of the packet that has arrived. Its heap may
    // begin long before, if its first packets were lost, and be longer than the room.
    const auto first_sample =
        static_cast<std::int64_t>(d_group.samples_of(slot.items.first_byte));
    const auto earlier_in_heap = first_sample / alignment * alignment;
    // rounded to a whole tick, the front must not be before tick 0
    const auto max_rounding = d_timeline.samples_since_0(slot.time) + earlier_in_heap;
    slot.time.position =
        d_window.begin_stream({ opening_end, alignment, max_earlier, max_rounding }) -
        earlier_in_heap;
    d_timeline.begin_stream(slot.time);
}

void stream_follower::note_early(position_range range)
{
    d_no_output_reason.note_early(-range.end, *d_config.timeline_config.start_tick);
}

bool stream_follower::skip_gap(const position_range& range)
{
    // Packets that are lost within a long heap make a gap that the timeline does not see.
    // If it exceeds max_gap and the room, it is skipped like others; a smaller one passes
    // through the window as missing samples while this packet waits.
    if (range.begin - d_window.top() <= d_config.timeline_config.max_gap ||
        range.end - d_window.front() <= d_window.capacity())
        return true;
    if (!d_window.is_empty()) {
        d_window.flush();
        return false;
    }
    skip_to(range.begin);
    return true;
}

void stream_follower::skip_to(std::int64_t position)
{
    d_log.add(position - d_window.front(),
              " samples are missing, more than max_gap: the stream continues after them");
    d_common_counters.discontinuities.add(1);
    d_window.skip_to(position);
}

// At a jump, packets without items that its sender sent before may belong to the heaps
// before or after it. At a new stream, all heaps before belong to the old one.
void stream_follower::drop_older(const heap_slot& accepted, bool is_new_stream)
{
    const auto is_of_sender = [&](const heap_slot& slot) {
        return slot.id.sender == accepted.id.sender && slot.id.group == accepted.id.group;
    };
    const auto collecting_slots = d_slots.collecting();
    for (auto* slot : collecting_slots)
        if (slot->first_arrival < accepted.first_arrival &&
            (is_new_stream || (!slot->items.is_any() && is_of_sender(*slot))))
            d_slots.remove(*slot);
    // counters that go back while times advance: the sender has restarted
    for (auto* slot : d_slots.placed())
        if (slot != &accepted && is_of_sender(*slot) && slot->output == accepted.output &&
            slot->time.position < accepted.time.position &&
            slot->time.counters_from(accepted.time) >= 0)
            slot->is_superseded = true;
}

// Senders

// Whether all outputs that the packet may be for receive another sender.
bool stream_follower::is_ignored_sender(const heap_id& heap,
                                        std::size_t source,
                                        time_point now) const
{
    const auto refuses = [&](std::size_t output) {
        return d_locks[output].refuses(source, heap.sender) &&
               !d_timeline.is_silent(output, now);
    };
    if (d_config.has_group_for_each_output)
        return refuses(heap.group);
    for (std::size_t output = 0; output < d_locks.size(); ++output)
        if (!refuses(output))
            return false;
    return true;
}

// Whether heaps of another sender arrive, which has described them itself. Descriptors
// may also come from a sender without heaps.
bool stream_follower::receives_other_descriptions(const heap_slot& slot,
                                                  time_point now) const
{
    for (std::size_t output = 0; output < d_locks.size(); ++output)
        if (d_timeline.newest(output) && !d_timeline.is_silent(output, now))
            for (const auto sender : d_locks[output].senders())
                if (sender && sender != slot.id.sender && d_senders.has_described(sender))
                    return true;
    return false;
}

// After a pause, the sender may have restarted.
bool stream_follower::has_admitted(std::uint64_t sender) const
{
    return std::any_of(d_locks.begin(), d_locks.end(), [&](const sender_lock& lock) {
        return lock.has_admitted(sender);
    });
}

std::optional<heap_time> stream_follower::newest(std::uint64_t sender) const
{
    std::optional<heap_time> latest;
    for (std::size_t output = 0; output < d_locks.size(); ++output)
        if (const auto& heap = d_timeline.newest(output);
            heap && d_locks[output].has_admitted(sender) &&
            (!latest || heap->counters_from(*latest) > 0))
            latest = heap;
    return latest;
}

bool stream_follower::is_expired(const heap_slot& slot, time_point now) const
{
    const auto idle = now - slot.last_arrival;
    const bool has_ended = d_end_of_stream.sender == slot.id.sender &&
                           d_end_of_stream_time >= slot.last_arrival;
    return idle >= heap_timeout &&
           (has_ended || idle >= d_timeline.silence_timeout(slot.output));
}

// An end-of-stream heap ends the run only if heaps of its sender arrived in the run. It
// may be repeated, also in the next run.
void stream_follower::note_end_of_stream(const heap_id& heap,
                                         time_point time,
                                         bool is_latest,
                                         bool is_in_order)
{
    const auto sender = heap.sender;
    const bool is_repeated = d_end_of_stream.sender == sender &&
                             d_end_of_stream.counter == heap.counter &&
                             time - d_end_of_stream_time < heap_timeout;
    if (is_repeated)
        return;
    bool is_received = false;
    for (std::size_t output = 0; output < d_locks.size(); ++output)
        if (d_locks[output].has_admitted(sender)) {
            d_timeline.end_stream(output);
            is_received = true;
        }
    if (d_timeline.is_running() ? !is_received : !is_latest)
        return;
    d_has_stopped = true;
    if (!is_in_order) // heaps before it wait: it is noted again after them
        return;
    d_end_of_stream = heap;
    d_end_of_stream_time = time;
}

} // namespace gr::spead
