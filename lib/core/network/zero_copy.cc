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

// Smaller pieces cost more to look up and lock than to copy.
constexpr std::size_t min_piece_bytes = 16384;

// The kernel refuses a message with more fragments (default of MAX_SKB_FRAGS). The pages
// of a huge page count as one fragment, but there is no way to know which these are.
constexpr std::size_t max_pages = 17;
constexpr std::uintptr_t page_bytes = 4096;

std::size_t pages(const iovec& piece)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(piece.iov_base);
    return (begin + piece.iov_len - 1) / page_bytes - begin / page_bytes + 1;
}

bool fits_fragments(const message& message)
{
    std::size_t sum = 0;
    for (std::size_t i = 0; i < message.n_pieces; ++i)
        sum += pages(message.pieces[i]);
    return sum <= max_pages;
}

} // namespace

void zero_copy::enable(bool is_supported)
{
    d_oldest = d_next = 0;
    d_active = is_supported;
}

bool zero_copy::should_use(const message* messages, std::size_t n) const
{
    if (!d_active || d_next - d_oldest + n > max_in_flight)
        return false;
    std::size_t bytes = 0;
    std::size_t pieces = 0;
    for (std::size_t i = 0; i < n; ++i) {
        bytes += messages[i].bytes;
        pieces += messages[i].n_pieces;
    }
    return bytes >= pieces * min_piece_bytes &&
           std::all_of(messages, messages + n, fits_fragments);
}

void zero_copy::sent(const message* messages, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        entry_of(d_next++) = { messages[i].position, messages[i].ring_index, false };
}

void zero_copy::finished(std::uint32_t first, std::uint32_t last, bool was_copied)
{
    const std::uint32_t in_flight = d_next - d_oldest;
    if (was_copied || first - d_oldest >= in_flight || last - d_oldest >= in_flight)
        disable();
    for (std::uint32_t number = d_oldest; number != d_next; ++number)
        if (number - first <= last - first)
            entry_of(number).is_finished = true;
    while (any_in_flight() && entry_of(d_oldest).is_finished)
        ++d_oldest;
}

std::uint64_t zero_copy::oldest_in_flight(std::size_t ring_index) const
{
    for (std::uint32_t number = d_oldest; number != d_next; ++number) {
        const auto& sent = entry_of(number);
        if (sent.ring_index == ring_index && !sent.is_finished)
            return sent.position;
    }
    return transport::no_position;
}

} // namespace gr::spead
