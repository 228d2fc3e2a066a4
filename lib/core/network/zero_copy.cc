/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "zero_copy.h"

#include <algorithm>

namespace gr::spead {

namespace {

// A piece that is smaller costs more to find and to lock than to copy.
constexpr std::size_t worthwhile_bytes = 16384;

// The kernel refuses a message that is in more places (MAX_SKB_FRAGS, as it is built as a
// rule). Pages of a huge page are one place, but nobody tells which are.
constexpr std::size_t most_pages = 17;
constexpr std::uintptr_t page_bytes = 4096;

std::size_t pages(const iovec& piece)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(piece.iov_base);
    return (begin + piece.iov_len - 1) / page_bytes - begin / page_bytes + 1;
}

bool fits(const message& m)
{
    std::size_t sum = 0;
    for (std::size_t i = 0; i < m.n_pieces; ++i)
        sum += pages(m.pieces[i]);
    return sum <= most_pages;
}

} // namespace

void zero_copy::enable(bool possible)
{
    d_oldest = d_next = 0;
    d_doubt = d_failed = false;
    d_active = possible;
}

bool zero_copy::suits(const message* messages, std::size_t n) const
{
    if (!d_active || d_next - d_oldest + n > max_in_flight)
        return false;
    std::size_t bytes = 0;
    std::size_t pieces = 0;
    for (std::size_t i = 0; i < n; ++i) {
        bytes += messages[i].bytes;
        pieces += messages[i].n_pieces;
    }
    return bytes >= pieces * worthwhile_bytes &&
           std::all_of(messages, messages + n, fits);
}

void zero_copy::sent(const message* messages, std::size_t n, bool all)
{
    for (std::size_t i = 0; i < n; ++i)
        at(d_next++) = { messages[i].position, messages[i].queue, false };
    d_failed = !all;
}

void zero_copy::failure_not_reported()
{
    if (d_failed)
        d_active = false;
}

void zero_copy::finished(std::uint32_t first, std::uint32_t last, bool copied)
{
    if (copied)
        d_active = false;
    for (std::uint32_t number = first; number != last + 1; ++number) {
        if (number - d_oldest < d_next - d_oldest) {
            at(number).finished = true;
        } else if (number == d_next && d_failed) {
            // only after it had got its number: a full queue or a firewall
            at(d_next++) = { 0, no_queue, true };
            d_failed = false;
        } else if (number - d_oldest < d_messages.size()) {
            d_active = false;
            renumber(number);
            at(number).finished = true;
        }
    }
    give_back();
}

void zero_copy::give_back()
{
    if (d_doubt) {
        for (std::uint32_t number = d_oldest; number != d_doubtful_until; ++number)
            if (!at(number).finished)
                return;
        d_doubt = false;
    }
    while (any_in_flight() && at(d_oldest).finished)
        ++d_oldest;
}

// A failure went unnoticed, and the kernel is ahead of us: up to \p last. What is in
// flight may have any of the numbers from the oldest on: it is given back with the last
// of them.
void zero_copy::renumber(std::uint32_t last)
{
    const bool any = any_in_flight();
    for (; d_next != last + 1; ++d_next)
        at(d_next) = { 0, no_queue, !any };
    d_doubt = true;
    d_doubtful_until = d_next;
}

std::uint64_t zero_copy::in_flight_from(std::size_t queue) const
{
    for (std::uint32_t number = d_oldest; number != d_next; ++number) {
        const auto& message = at(number);
        const bool doubtful = d_doubt && number - d_oldest < d_doubtful_until - d_oldest;
        if (message.queue == queue && (doubtful || !message.finished))
            return message.position;
    }
    return transport::nothing;
}

} // namespace gr::spead
