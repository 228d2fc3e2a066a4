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
    const auto shift = d_decoder.wire_bytes_log2();
    const auto sample_bytes = std::int64_t{ 1 } << shift;
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
        end = std::min(end, time.length << shift);
    else
        time.length = std::max(time.length, end >> shift);

    const position_range touched_range{ time.position + (begin >> shift),
                                        time.position +
                                            ((end + sample_bytes - 1) >> shift) };
    if (touched_range.size() <= 0)
        return placement::ignored;
    if (!d_follower.skip_gap(touched_range))
        return placement::full;
    // All checks for room precede the first sample that is placed. So a packet that must
    // wait is placed as a whole later, and none of its samples counts as duplicate.
    if (!d_window.reserve(slot.output, touched_range, now))
        return placement::full;
    // values take room until samples are produced: set none without a whole sample
    const bool has_whole_samples = (begin + sample_bytes - 1) >> shift < end >> shift;
    if (has_whole_samples && d_window.missing(slot.output).overlaps(touched_range) &&
        !set_values(slot))
        return placement::full;
    // A packet may begin and end within a sample, but the window takes whole ones. Each
    // step takes a partial sample at either end, whose bytes are collected until the
    // packet with the others arrives, or all whole samples in between.
    for (auto offset = begin; offset < end;) {
        const auto sample_offset = offset % sample_bytes;
        const bool is_whole = !sample_offset && end - offset >= sample_bytes;
        const auto next_offset =
            is_whole ? offset + ((end - offset) >> shift << shift)
                     : std::min(end, offset - sample_offset + sample_bytes);
        const position_range range{ time.position + (offset >> shift),
                                    time.position +
                                        ((next_offset + sample_bytes - 1) >> shift) };
        const auto* bytes = data + (offset - begin);
        if (!is_whole)
            bytes = d_split_samples.add({ slot.output, range.begin, slot.arrival_number },
                                        bytes,
                                        static_cast<std::size_t>(sample_offset),
                                        static_cast<std::size_t>(next_offset - offset),
                                        static_cast<std::size_t>(sample_bytes));
        offset = next_offset;
        if (!bytes)
            continue;
        const auto placed = d_window.place(slot.output, range, bytes, now);
        if (!placed) {
            d_no_output_reason.note(no_output_reason::cause::nothing_new);
            continue;
        }
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
