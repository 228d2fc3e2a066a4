/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// What the sender does about messages that went, and about those that did not.

#include "sender.h"

#include <algorithm>
#include <cerrno>

namespace gr::spead {

namespace {

// An error of an earlier packet is reported once, to a send that then has sent nothing.
constexpr unsigned retries = 3;
constexpr std::chrono::microseconds first_back_off{ 50 };
constexpr std::chrono::microseconds longest_back_off{ 10000 };
// The own host may refuse packets for this long before they are dropped.
constexpr std::chrono::seconds patience{ 1 };
// Segmented sends in a row that must fail where single packets do not.
constexpr unsigned refusals_to_believe = 3;

bool may_refuse_segmentation(int error)
{
    return error == EIO || error == EINVAL || error == EOPNOTSUPP || error == EMSGSIZE;
}

} // namespace

std::size_t sender::queued_bytes() const
{
    std::size_t sum = 0;
    for (const auto& one : d_lanes)
        sum += one.queued_bytes();
    return sum;
}

std::uint64_t sender::published_bytes() const
{
    std::uint64_t sum = 0;
    for (const auto& one : d_lanes)
        sum += one.ring().published() * one.ring().slot_bytes();
    return sum;
}

bool sender::anything_held() const
{
    for (std::size_t i = 0; i < d_lanes.size(); ++i)
        if (d_transport.held_from(i) != transport::nothing)
            return true;
    return false;
}

// So much that a packer may be waiting for it.
bool sender::much_held() const
{
    for (std::size_t i = 0; i < d_lanes.size(); ++i) {
        const auto held = d_transport.held_from(i);
        if (held != transport::nothing &&
            d_lanes[i].tail().count - held > d_lanes[i].ring().limit() / 8)
            return true;
    }
    return false;
}

// Gives back the slots that nobody reads any more.
void sender::release()
{
    bool wanted = false;
    for (std::size_t i = 0; i < d_lanes.size(); ++i)
        wanted = d_lanes[i].release(d_transport.held_from(i)) || wanted;
    if (wanted)
        d_on_space();
}

void sender::messages_sent(std::size_t n)
{
    if (!d_pacer.unlimited())
        d_pacer.sent(d_batch.bytes_of(n), clock::now());
    if (d_batch.messages()->segmented())
        d_refusals = 0;
    else if (d_refusal_open)
        refusal_proved();
    d_batch.sent(n);
    release();
    d_trouble = {};
    if (!d_log.quiet())
        d_log.succeeded(clock::now());
}

void sender::take_reports()
{
    const auto errors = d_transport.take_reports();
    d_counters.icmp_errors.add(errors.count);
    if (errors.causes.none())
        return;
    for (std::size_t cause = 0; cause < errors.causes.size(); ++cause)
        if (errors.causes[cause])
            d_log.failed(static_cast<int>(cause), 0, clock::now());
}

// What to do about the first message; false if there is something to wait for.
bool sender::message_failed(int error)
{
    if (error == EINTR)
        return true;
    if (error == transport::not_yet) {
        wait_writable();
        return false;
    }
    d_counters.errors.add(error);
    if (error == EAGAIN) {
        wait_writable();
        return false;
    }
    if (d_batch.messages()->segmented() && may_refuse_segmentation(error)) {
        // the same packets again, each on its own: that tells what was refused
        d_batch.split();
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
    // what is lost has had its turn: an outage must not use up a paced stream
    d_pacer.sent(d_batch.bytes_of(1), clock::now());
    const auto packets = d_batch.lost();
    release();
    d_trouble = {};
    d_refusal_open = false;
    d_log.failed(error, packets, clock::now());
}

// Single packets went where a segmented send did not.
void sender::refusal_proved()
{
    d_refusal_open = false;
    d_counters.gso_refused.add(1);
    if (++d_refusals < refusals_to_believe)
        return;
    d_gso = false;
    d_log.warn("the network refuses segmented sends (gso): packets go one by one");
}

} // namespace gr::spead
