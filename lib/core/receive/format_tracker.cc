/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "format_tracker.h"

#include <utility>

namespace gr::spead {

namespace {

// More heaps than may be overtaken by others.
constexpr std::int64_t max_heaps = 1 << 16;

} // namespace

format_tracker::format_tracker(const receive_config& config,
                               const indexed_format& format,
                               const stream_follower& follower,
                               sender_memory& senders,
                               no_output_reason& reason,
                               rate_limited_log& log)
    : d_closing_time(config.closing_time()),
      d_format(format),
      d_follower(follower),
      d_senders(senders),
      d_no_output_reason(reason),
      d_log(log),
      d_description(
          config.format, config.type, config.axes, config.timeline_config.outputs)
{
    d_description.add(config.descriptions);
}

void format_tracker::read_descriptors(const heap_slot& slot,
                                      std::vector<std::byte> content,
                                      time_point now)
{
    if (is_before_change(slot))
        return; // they have been replaced
    const heap_id sender{ 0, slot.id.sender, slot.id.group };
    if (sender == d_latest_sender && content == d_latest_content)
        return; // some senders repeat them in each heap
    const auto descriptions = slot.descriptors.parse(content);
    d_senders.describe(slot.id, descriptions);
    // it may be received later, and not describe its items again
    if (d_follower.is_ignored_sender(slot.id, slot.source, now))
        return;
    d_latest_sender = sender;
    d_latest_content = std::move(content);
    const bool is_change = d_format && d_description.contradict(descriptions, *d_format);
    if (!is_change || !d_follower.receives_other_descriptions(slot, now))
        d_has_changed |= d_description.add(descriptions);
    if (!is_change || !d_has_changed)
        return;
    const auto newest = d_follower.newest(slot.id.sender);
    const auto heaps = newest ? slot.time.counters_from(*newest) : 0;
    d_change = { slot.id,
                 slot.time.address_bits,
                 slot.arrival_number,
                 now,
                 heaps > 0 && heaps < max_heaps };
}

std::shared_ptr<const stream_format> format_tracker::derive_format()
{
    // until heaps of a format arrive, another array may hold the samples
    return d_description.format(d_follower.is_running() ? d_format.get() : nullptr);
}

bool format_tracker::is_before_change(const heap_slot& slot) const
{
    if (slot.id.sender != d_change.id.sender || slot.id.group != d_change.id.group ||
        slot.time.address_bits != d_change.address_bits ||
        slot.first_arrival - d_change.time >= d_closing_time)
        return false;
    // the sender has restarted, or does not count heaps of descriptors like others
    if (!d_change.is_in_sequence)
        return slot.arrival_number < d_change.arrival_number;
    heap_time change;
    change.counter = d_change.id.counter;
    const auto heaps = slot.time.counters_from(change);
    return heaps < 0 && heaps > -max_heaps;
}

bool format_tracker::is_described_otherwise(heap_slot& slot, time_point now)
{
    const auto& descriptions = d_senders.descriptions(slot.id);
    if (descriptions.empty() || !d_description.contradict(descriptions, *d_format))
        return false;
    if (!d_follower.receives_other_descriptions(slot, now) && recall_descriptions(slot))
        return true;
    d_no_output_reason.note(no_output_reason::cause::other_descriptions);
    d_no_output_reason.log_once(d_log);
    return true;
}

bool format_tracker::is_unsuitable(heap_slot& slot)
{
    return !d_format && !slot.is_end_of_stream &&
           d_description.has_unsuitable_samples() && !slot.descriptors.were_found() &&
           !d_senders.descriptions(slot.id).empty() && !recall_descriptions(slot);
}

// Uses what the sender of a heap has described before. Returns whether this is a change.
// Once for each heap: those of several senders may wait.
bool format_tracker::recall_descriptions(heap_slot& slot)
{
    if (std::exchange(slot.has_set_format, true) ||
        !d_description.add(d_senders.descriptions(slot.id)))
        return false;
    d_latest_sender = {}; // its descriptors are not in use any more
    return d_has_changed = true;
}

} // namespace gr::spead
