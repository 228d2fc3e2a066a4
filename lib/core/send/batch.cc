/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "batch.h"

#include <algorithm>

namespace gr::spead {

namespace {

bool is_to_be_sent(const packet_info& info)
{
    return info.bytes && !(info.flags & (packet_info::sent | packet_info::dropped));
}

std::size_t slots_of(const std::vector<ring_reader>& readers)
{
    std::size_t slots = 0;
    for (const auto& reader : readers)
        slots += reader.ring().slots();
    return slots;
}

} // namespace

batch::batch(std::vector<ring_reader>& readers)
    : d_readers(readers), d_order(slots_of(readers)), d_collected_end(readers.size())
{
    for (std::size_t i = 0; i < readers.size(); ++i)
        readers[i].ring().record_order_in(d_order, i);
}

void batch::collect(std::size_t allowance, bool segmented)
{
    d_size = 0;
    d_segmented = segmented;
    d_room = { allowance, 0 };
    for (std::size_t i = 0; i < d_readers.size(); ++i)
        d_collected_end[i] = d_readers[i].position();
    const auto end = d_order.end();
    for (auto number = d_order.begin(); number < end;) {
        auto entry = d_order.at(number++);
        for (; number < end && d_order.at(number).ring_index == entry.ring_index;
             ++number)
            entry.end = d_order.at(number).end;
        if (!collect_entry(entry))
            return;
        // packets of the next ring must precede further packets of this one
        for (std::size_t i = 0; i < d_size; ++i)
            d_states[i].key = closed_key;
    }
}

// Returns false if the batch is full.
bool batch::collect_entry(const send_order::entry& entry)
{
    const auto& ring = d_readers[entry.ring_index].ring();
    while (find_packet(entry)) {
        const auto& info = ring.info(d_collected_end[entry.ring_index].slot);
        if (!d_size)
            d_room.packets = full_messages * transport::packets_in_message(info.bytes);
        else if (!d_room.packets || info.bytes > d_room.bytes)
            return false;
        const auto number = message_for(entry.ring_index, info);
        if (number == no_message)
            return false;
        const auto appended = append(number, entry);
        d_room.bytes -= std::min(d_room.bytes, appended.bytes);
        d_room.packets -= appended.packets;
    }
    return true;
}

// Moves to the next packet to be sent. Returns false if the entry has no more.
bool batch::find_packet(const send_order::entry& entry)
{
    const auto& ring = d_readers[entry.ring_index].ring();
    auto& position = d_collected_end[entry.ring_index];
    while (position.count < entry.end && !is_to_be_sent(ring.info(position.slot)))
        ring.advance_packet(position);
    return position.count < entry.end;
}

// Returns the number of the message for the next packet of a ring; none if the batch is
// full.
std::size_t batch::message_for(std::size_t ring_index, const packet_info& info)
{
    const auto& position = d_collected_end[ring_index];
    const bool is_single = !d_segmented ||
                           d_readers[ring_index].must_send_singly(position.count) ||
                           info.bytes > transport::max_segmented_bytes;
    const auto key = static_cast<std::uint32_t>(ring_index << 16 | info.destination);
    if (!is_single) {
        std::size_t number = 0;
        while (number < d_size && d_states[number].key != key)
            ++number;
        if (number < d_size) {
            const message& candidate = d_messages[number];
            if (info.bytes <= candidate.packet_bytes &&
                candidate.bytes + info.bytes <= transport::max_segmented_bytes)
                return number;
            d_states[number].key = closed_key;
        }
    }
    if (d_size == d_messages.size())
        return no_message;
    // a packet that does not fill its slot is not contiguous with the next one
    const bool is_open =
        !is_single && info.bytes == d_readers[ring_index].ring().slot_bytes();
    d_states[d_size] = { is_open ? key : closed_key };
    d_messages[d_size] = { d_pieces[d_size].data(),
                           0,
                           0,
                           info.bytes,
                           position.count,
                           info.destination,
                           static_cast<std::uint16_t>(ring_index) };
    return d_size++;
}

// Appends the next packet of an entry to a message, and as many packets to the same
// destination that directly follow it as possible.
batch::amount batch::append(std::size_t number, const send_order::entry& entry)
{
    auto& ring = d_readers[entry.ring_index].ring();
    auto& position = d_collected_end[entry.ring_index];
    message& target = d_messages[number];
    auto& state = d_states[number];
    const auto first = ring.info(position.slot);
    auto& piece = d_pieces[number][target.n_pieces++];
    piece.iov_base = ring.data(position.slot);
    ring.advance_packet(position);
    amount appended{ first.bytes, 1 };
    bool is_open = state.key != closed_key && first.bytes == target.packet_bytes;
    if (is_open && position.slot) {
        // from here on, each packet takes one slot
        amount room;
        room.bytes =
            std::min(d_room.bytes, transport::max_segmented_bytes - target.bytes);
        room.bytes -= std::min<std::size_t>(room.bytes, first.bytes);
        room.packets = std::min({ d_room.packets - 1,
                                  transport::max_segments - state.packets - 1,
                                  static_cast<std::size_t>(entry.end - position.count),
                                  ring.slots() - position.slot });
        const auto run = run_length(ring, position.slot, first, room);
        appended.bytes += run.bytes;
        appended.packets += run.packets;
        ring.advance(position, run.packets);
        is_open = run.bytes == run.packets * target.packet_bytes;
    }
    piece.iov_len = appended.bytes;
    target.bytes += appended.bytes;
    state.packets += static_cast<std::uint32_t>(appended.packets);
    state.end = position.count;
    if (!is_open || target.n_pieces == transport::max_pieces ||
        state.packets == transport::max_segments)
        state.key = closed_key;
    return appended;
}

// Returns how many packets from \p slot on have the size and destination of \p reference.
// The last one may be shorter.
batch::amount batch::run_length(const packet_ring& ring,
                                std::size_t slot,
                                const packet_info& reference,
                                amount room)
{
    const auto belongs = [&](const packet_info& info) {
        return info.destination == reference.destination && is_to_be_sent(info);
    };
    const std::size_t max_packets = std::min(room.packets, room.bytes / reference.bytes);
    std::size_t packets = 0;
    while (packets < max_packets && ring.info(slot + packets).bytes == reference.bytes &&
           belongs(ring.info(slot + packets)))
        ++packets;
    amount run{ packets * reference.bytes, packets };
    if (packets < room.packets) {
        const auto& last = ring.info(slot + packets);
        if (last.bytes < reference.bytes && run.bytes + last.bytes <= room.bytes &&
            belongs(last)) {
            run.bytes += last.bytes;
            ++run.packets;
        }
    }
    return run;
}

std::size_t batch::bytes_of(std::size_t messages) const
{
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < messages; ++i)
        bytes += d_messages[i].bytes;
    return bytes;
}

void batch::sent(std::size_t messages)
{
    if (messages == d_size) {
        for (std::size_t i = 0; i < d_readers.size(); ++i)
            d_readers[i].account(d_collected_end[i].count);
    } else {
        for (std::size_t i = 0; i < messages; ++i)
            mark(d_messages[i], packet_info::sent);
        for (auto& reader : d_readers)
            reader.account(0);
    }
    remove_finished_entries();
}

std::size_t batch::drop_first()
{
    mark(d_messages[0], packet_info::dropped);
    d_readers[d_messages[0].ring_index].account(0);
    remove_finished_entries();
    return d_states[0].packets;
}

void batch::drop_all()
{
    for (auto& reader : d_readers)
        reader.drop_all();
    remove_finished_entries();
}

void batch::remove_finished_entries()
{
    for (const auto end = d_order.end(); d_order.begin() < end; d_order.pop()) {
        const auto& entry = d_order.at(d_order.begin());
        if (d_readers[entry.ring_index].position().count < entry.end)
            return;
    }
}

void batch::split()
{
    d_readers[d_messages[0].ring_index].send_singly_before(d_states[0].end);
}

void batch::mark(const message& finished, packet_info::flag outcome)
{
    auto& reader = d_readers[finished.ring_index];
    const auto* begin = reader.ring().data(0);
    for (std::size_t i = 0; i < finished.n_pieces; ++i) {
        const auto& piece = finished.pieces[i];
        const auto offset = static_cast<const std::byte*>(piece.iov_base) - begin;
        const auto packets =
            (piece.iov_len + finished.packet_bytes - 1) / finished.packet_bytes;
        reader.mark(static_cast<std::size_t>(offset) / reader.ring().slot_bytes(),
                    packets,
                    outcome);
    }
}

} // namespace gr::spead
