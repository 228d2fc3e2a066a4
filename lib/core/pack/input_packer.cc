/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "input_packer.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

input_packer::input_packer(packer_config config,
                           packet_ring& ring,
                           sink_counter_set& counters,
                           std::function<void()> wake_sender,
                           std::function<clock::time_point()> read_clock)
    : d_config(std::move(config)),
      d_counters(counters),
      d_read_clock(std::move(read_clock)),
      d_item_updates(d_config.regular.contents().immediates.size()),
      d_descriptors(d_config),
      d_numbering(d_config),
      d_ring(ring, std::move(wake_sender)),
      d_heap(d_config, d_ring, d_counters)
{
    // heap_dropped markers must not allocate memory while streaming
    d_prebuilt.reserve(4);
}

void input_packer::start_run()
{
    d_numbering.start_run();
    d_has_stop_packets = false;
    d_stop_packets.clear();
    d_descriptors.start(d_descriptors.needs_clock() ? d_read_clock()
                                                    : clock::time_point());
}

void input_packer::drop(std::uint64_t n)
{
    d_counters.samples_in.add(n);
    d_counters.samples_dropped.add(n);
}

std::uint64_t input_packer::write(const std::byte* samples, std::uint64_t n)
{
    if (d_descriptors.needs_clock())
        d_descriptors.update(d_read_clock());
    std::uint64_t n_taken = 0;
    while (n_taken < n) {
        if (!d_heap.is_open() && !d_samples_to_drop && !begin_heap())
            break;
        if (d_samples_to_drop) {
            n_taken += drop_rest(n - n_taken, samples);
            continue;
        }
        n_taken += d_heap.write(samples ? samples + n_taken * input_bytes() : nullptr,
                                n - n_taken);
        if (d_heap.is_open())
            break; // no more samples, or no room
        if (d_numbers.is_first)
            d_numbering.record_complete(d_numbers);
    }
    d_ring.publish();
    return n_taken;
}

std::uint64_t input_packer::drop_rest(std::uint64_t n, bool is_input)
{
    const auto dropped = std::min(n, d_samples_to_drop);
    d_samples_to_drop -= dropped;
    if (is_input)
        drop(dropped);
    return dropped;
}

// Returns false if the ring has no room for the packets that precede the heap. Otherwise
// begins the heap. With full_policy::drop, drops it instead if the ring has no room.
bool input_packer::begin_heap()
{
    const bool may_drop = d_config.when_full == full_policy::drop;
    const bool has_room = pack_prebuilt() && pack_descriptors();
    if (!has_room && !may_drop)
        return false;

    apply_item_updates();
    d_numbers = d_numbering.next_heap();
    const auto& layout =
        d_numbers.is_first && d_config.first ? *d_config.first : d_config.regular;
    if (may_drop && !(has_room && d_ring.slots_are_free(d_config.slots_of(layout)))) {
        d_samples_to_drop = d_config.heap_samples();
        d_counters.heaps_dropped.add(1);
    } else {
        d_heap.begin(layout, d_numbers);
    }
    return true;
}

void input_packer::apply_item_updates()
{
    const bool has_changed =
        d_item_updates.apply_pending([this](std::size_t item, std::uint64_t value) {
            d_config.regular.set_item(item, value);
            if (d_config.first)
                d_config.first->set_item(item, value);
        });
    if (has_changed)
        d_ring.invalidate_headers();
}

// Returns false if the ring is full.
bool input_packer::pack_prebuilt()
{
    for (; d_prebuilt_written < d_prebuilt.size(); ++d_prebuilt_written)
        if (!d_ring.write(d_prebuilt[d_prebuilt_written]))
            return false;
    d_prebuilt.clear();
    d_prebuilt_written = 0;
    return true;
}

// Returns false if the ring is full. Must not allocate memory: runs while streaming.
bool input_packer::pack_descriptors()
{
    while (d_descriptors.is_due()) {
        const auto& layout = *d_config.descriptors;
        const auto offset = d_descriptors.offset();
        const auto& header = layout.packet_at(offset);
        if (!d_ring.claim(header.packet_bytes()))
            return false;
        const bool is_heap_end = layout.is_last(offset);
        const std::uint16_t flags = is_heap_end ? packet_info::heap_end : 0;
        const packet_info info{ static_cast<std::uint32_t>(header.packet_bytes()),
                                flags,
                                static_cast<std::uint16_t>(d_descriptors.destination()),
                                0 };
        std::byte* payload = d_ring.write_header(header, info);
        layout.complete_header(
            d_ring.packet(), layout.words(d_descriptors.heap_counter()), offset);
        std::copy_n(layout.contents().prefix.begin() +
                        static_cast<std::ptrdiff_t>(offset),
                    header.payload_bytes,
                    payload);
        d_ring.close();
        d_ring.set_ready();
        d_descriptors.packet_written(header.payload_bytes, is_heap_end);
    }
    return true;
}

void input_packer::skip_to(std::uint64_t next_timestamp)
{
    d_samples_to_drop = 0;
    drop_tail();
    d_numbering.set_timestamp(next_timestamp);
}

void input_packer::drop_tail()
{
    if (!d_heap.is_open())
        return;
    if (d_heap.is_empty())
        d_numbering.undo_next_heap();
    d_heap.drop(d_prebuilt);
}

bool input_packer::finish_tail()
{
    d_samples_to_drop = 0; // the rest of a dropped heap will not arrive
    d_descriptors.end_round_early();
    if (d_heap.is_open() && d_heap.is_empty())
        drop_tail();
    const bool is_done =
        (!d_heap.is_open() || d_heap.finish(d_config.tail, d_prebuilt)) &&
        pack_prebuilt() && pack_descriptors();
    d_ring.publish();
    return is_done;
}

bool input_packer::pack_stop_heaps()
{
    if (!d_has_stop_packets) {
        d_has_stop_packets = true;
        make_stop_packets();
        repeat_stop_heaps();
    }
    const bool is_done = pack_prebuilt();
    d_ring.publish();
    return is_done;
}

void input_packer::make_stop_packets()
{
    if (!d_config.stop)
        return;
    const auto& layout = *d_config.stop;
    for (const auto destination : d_config.stop_destinations) {
        auto packet =
            layout.packet(layout.words(d_numbering.next_end_of_stream_counter()),
                          0,
                          layout.contents().prefix);
        const packet_info info{ static_cast<std::uint32_t>(packet.size()),
                                packet_info::heap_end,
                                static_cast<std::uint16_t>(destination),
                                0 };
        d_stop_packets.push_back({ std::move(packet), info });
    }
}

void input_packer::drop_unpublished()
{
    drop_tail();
    for (; d_prebuilt_written < d_prebuilt.size(); ++d_prebuilt_written) {
        const auto& info = d_prebuilt[d_prebuilt_written].info;
        d_counters.samples_dropped.add(info.heap_samples);
        d_counters.heaps_dropped.add((info.flags & packet_info::data) != 0);
    }
    d_prebuilt.clear();
    d_prebuilt_written = 0;
    d_descriptors.skip_all();
    d_samples_to_drop = 0;
    d_ring.rewind(d_ring.ready());
}

} // namespace gr::spead
