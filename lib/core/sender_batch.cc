/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What the sender does with packets: messages out of them, and what becomes of those.

#include "sender.h"

#include <algorithm>
#include <cerrno>

namespace gr {
namespace spead {

namespace {

// An error of an earlier packet is reported once, to a send that then has sent nothing.
constexpr unsigned retries = 3;
constexpr std::chrono::microseconds first_back_off{ 50 };
constexpr std::chrono::microseconds longest_back_off{ 10000 };
// This long the own host may refuse packets before they are given up.
constexpr std::chrono::seconds patience{ 1 };
// So many segmented sends in a row must fail where single packets do not.
constexpr unsigned refusals_to_believe = 3;

bool may_refuse_segmentation(int error)
{
    return error == EIO || error == EINVAL || error == EOPNOTSUPP || error == EMSGSIZE;
}

} // namespace

// Fills the batch with up to \p allowance bytes, but one packet at least.
std::size_t sender::collect(std::size_t allowance)
{
    const std::uint64_t published = d_ring.published();
    ring_cursor at = d_tail;
    std::size_t n = 0;
    while (n < d_batch.size() && at.count < published) {
        if (!d_ring.info(at.slot).bytes) {
            d_ring.advance_packet(at);
            continue;
        }
        if (n && allowance < d_ring.info(at.slot).bytes)
            break;
        d_batch[n] = next_message(at, published, allowance, d_pieces[n]);
        allowance -= std::min(allowance, d_batch[n].bytes);
        d_batch_ends[n] = at;
        ++n;
    }
    if (!n)
        settle(at, true);
    return n;
}

// Takes packets from \p at on as long as they can leave as one message.
message sender::next_message(ring_cursor& at,
                             std::uint64_t end,
                             std::size_t allowance,
                             iovec& piece) const
{
    const std::size_t packet = d_ring.info(at.slot).bytes;
    piece = { d_ring.data(at.slot), packet };
    message run{ &piece, 1, packet, packet, at.count };
    const bool whole_slot = packet == d_ring.slot_bytes();
    const bool singly = !gso() || at.count < d_singly_until;
    d_ring.advance_packet(at);
    if (!whole_slot || singly)
        return run;
    const std::size_t most = std::min(transport::max_segmented_bytes, allowance);
    for (std::size_t packets = 1; packets < transport::max_segments; ++packets) {
        if (at.count >= end || at.slot == 0)
            break;
        const std::size_t bytes = d_ring.info(at.slot).bytes;
        if (!bytes || bytes > packet || run.bytes + bytes > most)
            break;
        run.bytes += bytes;
        piece.iov_len = run.bytes;
        d_ring.advance_packet(at);
        if (bytes < packet)
            break;
    }
    return run;
}

// Packets up to \p end are done with: counts them and gives their slots back.
void sender::settle(ring_cursor end, bool sent)
{
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    while (d_tail.count < end.count) {
        const auto& info = d_ring.info(d_tail.slot);
        packets += info.bytes != 0;
        bytes += info.bytes;
        if (info.bytes && !sent)
            d_heap_damaged = true;
        if (info.flags & (packet_info::heap_end | packet_info::abandoned)) {
            const bool whole = !d_heap_damaged && !(info.flags & packet_info::abandoned);
            const bool data = info.flags & packet_info::data;
            (whole ? d_counters.samples_sent : d_counters.samples_dropped)
                .add(info.heap_samples);
            (whole ? d_counters.heaps_sent : d_counters.heaps_dropped).add(data);
            d_heap_damaged = false;
        }
        d_ring.advance_packet(d_tail);
    }
    (sent ? d_counters.packets_sent : d_counters.packets_dropped).add(packets);
    if (sent)
        d_counters.bytes_sent.add(bytes);
    release();
}

// Gives back the slots that nobody reads any more.
void sender::release()
{
    d_ring.release(std::min(d_tail.count, d_transport.held_from()));
    if (d_ring.has_space() && d_ring.packer_waits.claim())
        d_on_space();
}

void sender::messages_sent(std::size_t n)
{
    if (!d_pacer.unlimited()) {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < n; ++i)
            bytes += d_batch[i].bytes;
        d_pacer.sent(bytes, clock::now());
    }
    if (d_batch[0].segmented())
        d_refusals = 0;
    else if (d_refusal_open)
        refusal_proved();
    settle(d_batch_ends[n - 1], true);
    d_trouble = {};
    if (!d_log.quiet())
        d_log.succeeded(clock::now());
}

void sender::take_reports()
{
    const auto errors = d_transport.take_reports();
    d_counters.icmp_errors.add(errors);
    if (errors)
        d_log.failed(ECONNREFUSED, 0, clock::now());
}

// What to do about the message at the tail; false if there is something to wait for.
bool sender::message_failed(int error)
{
    if (error == EINTR)
        return true;
    d_counters.errors.add(error);
    if (error == EAGAIN) {
        wait_writable();
        return false;
    }
    if (d_batch[0].segmented() && may_refuse_segmentation(error)) {
        // the same packets again, each on its own: that tells what was refused
        d_singly_until = d_batch_ends[0].count;
        d_refusal_open = true;
        return true;
    }
    const auto now = clock::now();
    d_log.failed(error, 0, now);
    if (error == ENOBUFS || error == ENOMEM) {
        if (!d_trouble.back_offs)
            d_trouble.first_back_off = now;
        if (now - d_trouble.first_back_off < patience) {
            const auto delay = first_back_off * (1 << std::min(d_trouble.back_offs, 8u));
            ++d_trouble.back_offs;
            wait_until(now + std::min(delay, longest_back_off));
            return false;
        }
    } else if (d_trouble.attempts < retries) {
        ++d_trouble.attempts;
        return true;
    }
    give_up_message(error);
    return true;
}

void sender::give_up_message(int error)
{
    const auto before = d_counters.packets_dropped.get();
    // what is lost has had its turn: an outage must not use up a paced stream
    d_pacer.sent(d_batch[0].bytes, clock::now());
    settle(d_batch_ends[0], false);
    d_trouble = {};
    d_refusal_open = false;
    d_log.failed(error, d_counters.packets_dropped.get() - before, clock::now());
}

// Single packets went where a segmented send did not.
void sender::refusal_proved()
{
    d_refusal_open = false;
    d_counters.gso_refused.add(1);
    if (++d_refusals < refusals_to_believe)
        return;
    d_gso = false;
    d_log.warn("the network refuses segmented sends (gso): packets go one by one",
               clock::now());
}

} // namespace spead
} // namespace gr
