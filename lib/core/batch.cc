/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "batch.h"

#include <algorithm>

namespace gr {
namespace spead {

namespace {

bool is_to_be_sent(const packet_info& info)
{
    return info.bytes && !(info.flags & (packet_info::sent | packet_info::lost));
}

} // namespace

batch::batch(std::vector<lane>& lanes) : d_lanes(lanes), d_taking(lanes.size()) {}

void batch::collect(std::size_t allowance, bool segmented)
{
    d_size = 0;
    d_room = allowance;
    d_segmented = segmented;
    d_full = false;
    for (std::size_t i = 0; i < d_lanes.size(); ++i)
        d_taking[i] = { d_lanes[i].tail(), d_lanes[i].ring().published() };
    d_next = d_turn;
    std::size_t turns = 0;
    // a lane without packets passes
    for (std::size_t idle = 0; idle < d_lanes.size() && turns < max_turns && !d_full;) {
        idle = take_turn() ? 0 : idle + 1;
        turns += !idle;
    }
}

// False if the lane whose turn it is has nothing to take.
bool batch::take_turn()
{
    auto& [index, left] = d_next;
    const auto& ring = d_lanes[index].ring();
    bool any = false;
    while (left.packets && find_packet(index)) {
        const auto& info = ring.info(d_taking[index].at.slot);
        if (left.bytes < transport::max_segmented_bytes && info.bytes > left.bytes)
            break;
        const auto number =
            d_size && info.bytes > d_room ? none : message_for(index, info);
        d_full = number == none;
        if (d_full)
            return any; // goes on with this turn next time
        const auto taken =
            append(number, index, { std::min(d_room, left.bytes), left.packets });
        d_room -= std::min(d_room, taken.bytes);
        left.bytes -= std::min(left.bytes, taken.bytes);
        left.packets -= taken.packets;
        any = true;
    }
    d_next = turn_of((index + 1) % d_lanes.size());
    return any;
}

// Goes to the next packet that is to be sent; false if there is none.
bool batch::find_packet(std::size_t index)
{
    const auto& ring = d_lanes[index].ring();
    auto& [at, end] = d_taking[index];
    while (at.count < end && !is_to_be_sent(ring.info(at.slot)))
        ring.advance_packet(at);
    return at.count < end;
}

// The number of the message that the next packet of a lane belongs to.
std::size_t batch::message_for(std::size_t index, const packet_info& info)
{
    const auto& at = d_taking[index].at;
    const bool alone = !d_segmented || d_lanes[index].singly_at(at.count) ||
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
    // a packet that does not fill its slots has a gap behind it
    const bool open = !alone && info.bytes == d_lanes[index].ring().slot_bytes();
    d_keys[d_size] = open ? key : closed;
    d_packets[d_size] = 0;
    d_messages[d_size] = {
        d_pieces[d_size].data(),          0, 0, info.bytes, at.count, info.destination,
        static_cast<std::uint16_t>(index)
    };
    return d_size++;
}

// Takes the next packet of a lane, and of what lies behind it to the same destination as
// much as may be.
batch::amount batch::append(std::size_t number, std::size_t index, amount most)
{
    auto& ring = d_lanes[index].ring();
    auto& [at, end] = d_taking[index];
    message& to = d_messages[number];
    const auto first = ring.info(at.slot);
    auto& piece = d_pieces[number][to.n_pieces++];
    piece.iov_base = ring.data(at.slot);
    ring.advance_packet(at);
    amount taken{ first.bytes, 1 };
    bool open = d_keys[number] != closed && first.bytes == to.packet_bytes;
    if (open && at.slot) {
        // from here on a packet is a slot
        most.bytes = std::min(most.bytes, transport::max_segmented_bytes - to.bytes);
        most.bytes -= std::min<std::size_t>(most.bytes, first.bytes);
        most.packets = std::min({ most.packets - 1,
                                  transport::max_segments - d_packets[number] - 1,
                                  static_cast<std::size_t>(end - at.count),
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

// How many packets from \p slot on are like the one before them, and one more if it is
// only shorter.
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
        for (std::size_t i = 0; i < d_lanes.size(); ++i)
            d_lanes[i].settle(d_taking[i].at.count);
        d_turn = d_next;
        return;
    }
    for (std::size_t i = 0; i < messages; ++i)
        mark(d_messages[i], packet_info::sent);
    for (auto& one : d_lanes)
        one.settle(0);
    // the next one is to be the first again
    d_turn = turn_of(d_messages[messages].lane);
}

void batch::lost()
{
    mark(d_messages[0], packet_info::lost);
    d_lanes[d_messages[0].lane].settle(0);
}

void batch::split() { d_lanes[d_messages[0].lane].send_singly_until(d_ends[0]); }

void batch::mark(const message& which, packet_info::flag fate)
{
    auto& of = d_lanes[which.lane];
    const auto* begin = of.ring().data(0);
    for (std::size_t i = 0; i < which.n_pieces; ++i) {
        const auto& piece = which.pieces[i];
        const auto offset = static_cast<const std::byte*>(piece.iov_base) - begin;
        const auto packets =
            (piece.iov_len + which.packet_bytes - 1) / which.packet_bytes;
        of.mark(static_cast<std::size_t>(offset) / of.ring().slot_bytes(), packets, fate);
    }
}

} // namespace spead
} // namespace gr
