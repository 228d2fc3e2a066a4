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

input_packer::input_packer(stream_config config,
                           packet_ring& ring,
                           sink_counter_set& counts,
                           std::function<void()> wake_sender,
                           std::function<clock::time_point()> now)
    : d_config(std::move(config)),
      d_counters(counts),
      d_now(std::move(now)),
      d_item_updates(d_config.regular.contents().immediates.size()),
      d_descriptors(d_config),
      d_numbering(d_config),
      d_ring(ring, std::move(wake_sender)),
      d_heap(d_config, d_ring, d_counters)
{
    // heap_dropped markers must not allocate memory while streaming
    d_extra.reserve(4);
}

void input_packer::start_run()
{
    d_numbering.start_run();
    d_stop_packets_made = false;
    d_stop_packets.clear();
    d_descriptors.start(d_descriptors.needs_clock() ? d_now() : clock::time_point());
}

void input_packer::drop(std::uint64_t n)
{
    d_counters.samples_in.add(n);
    d_counters.samples_dropped.add(n);
}

std::uint64_t input_packer::write(const std::byte* samples, std::uint64_t n)
{
    if (d_descriptors.needs_clock())
        d_descriptors.update(d_now());
    std::uint64_t taken = 0;
    while (taken < n) {
        if (!d_heap.is_open() && !d_drop_left && !begin_heap())
            break;
        if (d_drop_left) {
            taken += drop_rest(n - taken, samples);
            continue;
        }
        taken +=
            d_heap.write(samples ? samples + taken * input_bytes() : nullptr, n - taken);
        if (d_heap.is_open())
            break; // no more samples, or no room
        if (d_numbers.is_first)
            d_numbering.record_complete(d_numbers);
    }
    d_ring.publish();
    return taken;
}

std::uint64_t input_packer::drop_rest(std::uint64_t n, bool is_input)
{
    const auto dropped = std::min(n, d_drop_left);
    d_drop_left -= dropped;
    if (is_input)
        drop(dropped);
    return dropped;
}

// Returns false if the ring has no room for the packets that precede the heap. Otherwise
// begins the heap. With full_policy::drop, drops it instead if the ring has no room.
bool input_packer::begin_heap()
{
    const bool drops = d_config.when_full == full_policy::drop;
    const bool is_next = emit_extra() && emit_descriptors();
    if (!is_next && !drops)
        return false;

    apply_item_updates();
    d_numbers = d_numbering.next_heap();
    const auto& layout =
        d_numbers.is_first && d_config.first ? *d_config.first : d_config.regular;
    if (drops && !(is_next && d_ring.slots_are_free(d_config.slots_of(layout)))) {
        d_drop_left = d_config.heap_samples();
        d_counters.heaps_dropped.add(1);
    } else {
        d_heap.begin(layout, d_numbers);
    }
    return true;
}

void input_packer::apply_item_updates()
{
    const bool changed =
        d_item_updates.apply_pending([this](std::size_t item, std::uint64_t value) {
            d_config.regular.set_item(item, value);
            if (d_config.first)
                d_config.first->set_item(item, value);
        });
    if (changed)
        d_ring.invalidate_headers();
}

// Returns false if the ring is full.
bool input_packer::emit_extra()
{
    for (; d_extra_sent < d_extra.size(); ++d_extra_sent)
        if (!d_ring.write(d_extra[d_extra_sent]))
            return false;
    d_extra.clear();
    d_extra_sent = 0;
    return true;
}

// Returns false if the ring is full. Must not allocate memory: runs while streaming.
bool input_packer::emit_descriptors()
{
    while (d_descriptors.is_due()) {
        const auto& layout = *d_config.descriptors;
        const auto offset = d_descriptors.offset();
        const auto& header = layout.packet_at(offset);
        if (!d_ring.claim(header.packet_bytes()))
            return false;
        const bool heap_end = layout.is_last(offset);
        const std::uint16_t flags = heap_end ? packet_info::heap_end : 0;
        const packet_info info{ static_cast<std::uint32_t>(header.packet_bytes()),
                                flags,
                                static_cast<std::uint16_t>(d_descriptors.destination()),
                                0 };
        std::byte* payload = d_ring.write_header(header, info);
        layout.complete_header(
            d_ring.packet(), layout.words(d_descriptors.heap_id()), offset);
        std::copy_n(layout.contents().prefix.begin() +
                        static_cast<std::ptrdiff_t>(offset),
                    header.payload_bytes,
                    payload);
        d_ring.close();
        d_ring.set_ready();
        d_descriptors.packet_written(header.payload_bytes, heap_end);
    }
    return true;
}

void input_packer::skip_to(std::uint64_t next_timestamp)
{
    d_drop_left = 0;
    drop_tail();
    d_numbering.set_timestamp(next_timestamp);
}

void input_packer::drop_tail()
{
    if (!d_heap.is_open())
        return;
    if (d_heap.is_empty())
        d_numbering.undo_next_heap();
    d_heap.drop(d_extra);
}

bool input_packer::finish_tail()
{
    d_drop_left = 0; // the rest of a dropped heap will not arrive
    d_descriptors.end_round_early();
    if (d_heap.is_open() && d_heap.is_empty())
        drop_tail();
    const bool done = (!d_heap.is_open() || d_heap.finish(d_config.tail, d_extra)) &&
                      emit_extra() && emit_descriptors();
    d_ring.publish();
    return done;
}

bool input_packer::send_stop()
{
    if (!d_stop_packets_made) {
        d_stop_packets_made = true;
        make_stop_packets();
        repeat_stop();
    }
    const bool done = emit_extra();
    d_ring.publish();
    return done;
}

void input_packer::make_stop_packets()
{
    if (!d_config.stop)
        return;
    const auto& layout = *d_config.stop;
    for (const auto destination : d_config.stop_destinations) {
        auto packet = layout.packet(
            layout.words(d_numbering.next_id()), 0, layout.contents().prefix);
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
    for (; d_extra_sent < d_extra.size(); ++d_extra_sent) {
        const auto& info = d_extra[d_extra_sent].info;
        d_counters.samples_dropped.add(info.heap_samples);
        d_counters.heaps_dropped.add((info.flags & packet_info::data) != 0);
    }
    d_extra.clear();
    d_extra_sent = 0;
    d_descriptors.skip_all();
    d_drop_left = 0;
    d_ring.rewind(d_ring.ready());
}

} // namespace gr::spead
