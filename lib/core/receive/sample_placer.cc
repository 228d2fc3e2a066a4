/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sample_placer.h"

#include <algorithm>

namespace gr::spead {

sample_placer::placement sample_placer::place(heap_slot& slot,
                                              const packet_view& packet,
                                              time_point arrival,
                                              time_point now)
{
    const auto group = d_decoder.group();
    const auto group_bytes = static_cast<std::int64_t>(group.bytes());
    auto& time = slot.time;
    const auto samples_begin = *slot.items.samples_begin;
    const auto data_begin = std::max(packet.payload_offset, samples_begin);
    const auto data_end = std::min(packet.payload_end(), slot.items.samples_end);
    if (data_begin >= data_end) {
        d_no_output_reason.note(no_output_reason::cause::no_bytes);
        return placement::ignored;
    }
    const auto* data = packet.payload + (data_begin - packet.payload_offset);
    const auto begin = static_cast<std::int64_t>(data_begin - samples_begin);
    auto end = static_cast<std::int64_t>(data_end - samples_begin);
    // a heap of unknown length has at least the samples that have arrived
    if (time.is_length_known)
        end = std::min(end, group.bytes_of(time.length));
    else
        time.length = std::max(time.length, group.samples_of(end));

    const position_range touched_range{ time.position + group.samples_of(begin),
                                        time.position + group.touched_samples(end) };
    if (touched_range.size() <= 0)
        return placement::ignored;
    d_follower.note_position(touched_range);
    if (!d_follower.skip_gap(touched_range))
        return placement::full;
    // All checks for room precede the first sample that is placed. So a packet that must
    // wait is placed as a whole later, and none of its samples counts as duplicate.
    if (!d_window.reserve(slot.output, touched_range, now))
        return placement::full;
    // values take room until samples are produced: set none without a whole group
    const bool has_whole_groups = group.touched_samples(begin) < group.samples_of(end);
    if (has_whole_groups && d_window.missing(slot.output).overlaps(touched_range) &&
        !set_values(slot))
        return placement::full;
    // A packet may begin and end within a group, but the window takes whole ones. Each
    // step takes a partial group at either end, whose bytes are collected until the
    // packet with the others arrives, or all whole groups in between.
    for (auto offset = begin; offset < end;) {
        const auto first_sample = group.samples_of(offset);
        const auto group_offset = offset - group.bytes_of(first_sample);
        const bool is_whole = !group_offset && end - offset >= group_bytes;
        const auto next_offset =
            is_whole ? offset + group.bytes_of(group.samples_of(end - offset))
                     : std::min(end, offset - group_offset + group_bytes);
        const position_range range{ time.position + first_sample,
                                    time.position + group.touched_samples(next_offset) };
        const auto* bytes = data + (offset - begin);
        if (!is_whole)
            bytes = d_split_groups.add({ slot.output, range.begin, slot.arrival_number },
                                       bytes,
                                       static_cast<std::size_t>(group_offset),
                                       static_cast<std::size_t>(next_offset - offset),
                                       group.bytes());
        offset = next_offset;
        if (!bytes)
            continue;
        const auto placed = d_window.place(slot.output, range, bytes, now);
        if (!placed) {
            d_no_output_reason.note(no_output_reason::cause::nothing_new);
            continue;
        }
        if (d_window.is_early(range))
            d_follower.note_early(range);
        slot.last_arrival = std::max(slot.last_arrival, arrival);
        d_follower.record_progress(slot, arrival);
        slot.received_samples += static_cast<std::int64_t>(placed);
        if (slot.has_all_samples())
            d_counters[slot.output].heaps_received.add(1);
    }
    return placement::done;
}

bool sample_placer::set_values(heap_slot& slot)
{
    if (slot.has_set_values || slot.range().end <= d_window.front())
        return true;
    const auto& values = slot.items.values;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] && !d_window.set_item(slot.output, i, slot.range(), *values[i]))
            return false;
    slot.has_set_values = true;
    return true;
}

} // namespace gr::spead
