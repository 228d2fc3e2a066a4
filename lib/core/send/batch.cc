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
    for (const auto& one : readers)
        slots += one.ring().slots();
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
        for (; number < end && d_order.at(number).queue == entry.queue; ++number)
            entry.end = d_order.at(number).end;
        if (!collect_entry(entry))
            return;
        // packets of the next queue must precede further packets of this one
        std::fill_n(d_keys.begin(), d_size, closed);
    }
}

// Returns false if the batch is full.
bool batch::collect_entry(const send_order::entry& entry)
{
    const auto& ring = d_readers[entry.queue].ring();
    while (find_packet(entry)) {
        const auto& info = ring.info(d_collected_end[entry.queue].slot);
        if (!d_size)
            d_room.packets = full_messages * transport::packets_in_message(info.bytes);
        else if (!d_room.packets || info.bytes > d_room.bytes)
            return false;
        const auto number = message_for(entry.queue, info);
        if (number == none)
            return false;
        const auto taken = append(number, entry);
        d_room.bytes -= std::min(d_room.bytes, taken.bytes);
        d_room.packets -= taken.packets;
    }
    return true;
}

// Moves to the next packet to be sent. Returns false if the entry has no more.
bool batch::find_packet(const send_order::entry& entry)
{
    const auto& ring = d_readers[entry.queue].ring();
    auto& at = d_collected_end[entry.queue];
    while (at.count < entry.end && !is_to_be_sent(ring.info(at.slot)))
        ring.advance_packet(at);
    return at.count < entry.end;
}

// Returns the number of the message for the next packet of a queue; none if the batch is
// full.
std::size_t batch::message_for(std::size_t index, const packet_info& info)
{
    const auto& at = d_collected_end[index];
    const bool alone = !d_segmented || d_readers[index].must_send_singly(at.count) ||
                       info.bytes > transport::max_segmented_bytes;
    const auto key = static_cast<std::uint32_t>(index << 16 | info.destination);
    if (!alone) {
        const auto begin = d_keys.begin();
        const auto end = begin + static_cast<std::ptrdiff_t>(d_size);
        const auto found = std::find(begin, end, key);
        if (found != end) {
            const auto number = static_cast<std::size_t>(found - begin);
            const message& open = d_messages[number];
            if (info.bytes <= open.packet_bytes &&
                open.bytes + info.bytes <= transport::max_segmented_bytes)
                return number;
            *found = closed;
        }
    }
    if (d_size == d_messages.size())
        return none;
    // a packet that does not fill its slot is not contiguous with the next one
    const bool open = !alone && info.bytes == d_readers[index].ring().slot_bytes();
    d_keys[d_size] = open ? key : closed;
    d_packets[d_size] = 0;
    d_messages[d_size] = {
        d_pieces[d_size].data(),          0, 0, info.bytes, at.count, info.destination,
        static_cast<std::uint16_t>(index)
    };
    return d_size++;
}

// Appends the next packet of an entry to a message, and as many packets to the same
// destination that directly follow it as possible.
batch::amount batch::append(std::size_t number, const send_order::entry& entry)
{
    auto& ring = d_readers[entry.queue].ring();
    auto& at = d_collected_end[entry.queue];
    message& to = d_messages[number];
    const auto first = ring.info(at.slot);
    auto& piece = d_pieces[number][to.n_pieces++];
    piece.iov_base = ring.data(at.slot);
    ring.advance_packet(at);
    amount taken{ first.bytes, 1 };
    bool open = d_keys[number] != closed && first.bytes == to.packet_bytes;
    if (open && at.slot) {
        // from here on, each packet takes one slot
        amount most;
        most.bytes = std::min(d_room.bytes, transport::max_segmented_bytes - to.bytes);
        most.bytes -= std::min<std::size_t>(most.bytes, first.bytes);
        most.packets = std::min({ d_room.packets - 1,
                                  transport::max_segments - d_packets[number] - 1,
                                  static_cast<std::size_t>(entry.end - at.count),
                                  ring.slots() - at.slot });
        const auto more = run_length(ring, at.slot, first, most);
        taken.bytes += more.bytes;
        taken.packets += more.packets;
        ring.advance(at, more.packets);
        open = more.bytes == more.packets * to.packet_bytes;
    }
    piece.iov_len = taken.bytes;
    to.bytes += taken.bytes;
    d_packets[number] += taken.packets;
    d_ends[number] = at.count;
    if (!open || to.n_pieces == transport::max_pieces ||
        d_packets[number] == transport::max_segments)
        d_keys[number] = closed;
    return taken;
}

// Returns how many packets from \p slot on have the size and destination of \p like. The
// last one may be shorter.
batch::amount batch::run_length(const packet_ring& ring,
                                std::size_t slot,
                                const packet_info& like,
                                amount most)
{
    const auto belongs = [&](const packet_info& info) {
        return info.destination == like.destination && is_to_be_sent(info);
    };
    const std::size_t limit = std::min(most.packets, most.bytes / like.bytes);
    std::size_t packets = 0;
    while (packets < limit && ring.info(slot + packets).bytes == like.bytes &&
           belongs(ring.info(slot + packets)))
        ++packets;
    amount run{ packets * like.bytes, packets };
    if (packets < most.packets) {
        const auto& last = ring.info(slot + packets);
        if (last.bytes < like.bytes && run.bytes + last.bytes <= most.bytes &&
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
        for (auto& one : d_readers)
            one.account(0);
    }
    remove_finished_entries();
}

std::size_t batch::drop_first()
{
    mark(d_messages[0], packet_info::dropped);
    d_readers[d_messages[0].queue].account(0);
    remove_finished_entries();
    return d_packets[0];
}

void batch::drop_all()
{
    for (auto& one : d_readers)
        one.drop_all();
    remove_finished_entries();
}

void batch::remove_finished_entries()
{
    for (const auto end = d_order.end(); d_order.begin() < end; d_order.pop()) {
        const auto& entry = d_order.at(d_order.begin());
        if (d_readers[entry.queue].position().count < entry.end)
            return;
    }
}

void batch::split() { d_readers[d_messages[0].queue].set_singly_until(d_ends[0]); }

void batch::mark(const message& which, packet_info::flag outcome)
{
    auto& of = d_readers[which.queue];
    const auto* begin = of.ring().data(0);
    for (std::size_t i = 0; i < which.n_pieces; ++i) {
        const auto& piece = which.pieces[i];
        const auto offset = static_cast<const std::byte*>(piece.iov_base) - begin;
        const auto packets =
            (piece.iov_len + which.packet_bytes - 1) / which.packet_bytes;
        of.mark(
            static_cast<std::size_t>(offset) / of.ring().slot_bytes(), packets, outcome);
    }
}

} // namespace gr::spead
