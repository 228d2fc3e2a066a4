/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "zero_copy.h"

namespace gr {
namespace spead {

namespace {

// Below, locking the pages costs more than copying them.
constexpr std::size_t worthwhile_bytes = 16384;
constexpr unsigned refusals_to_believe = 3;

} // namespace

bool zero_copy::suits(const message* messages, std::size_t n) const
{
    if (!d_active || d_next - d_oldest + n > max_held)
        return false;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < n; ++i)
        bytes += messages[i].bytes;
    return bytes >= n * worthwhile_bytes;
}

void zero_copy::sent(const message* messages, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        at(d_next++) = { messages[i].position, false };
    if (n)
        d_refusals = 0;
}

void zero_copy::refused()
{
    if (++d_refusals == refusals_to_believe)
        d_active = false;
}

void zero_copy::finished(std::uint32_t first, std::uint32_t last, bool copied)
{
    if (copied)
        d_active = false;
    for (std::uint32_t number = first; number != last + 1; ++number) {
        if (number - d_oldest < d_next - d_oldest)
            at(number).finished = true;
        else if (number == d_next)
            // One that failed, but only after it had got its number: a full queue or a
            // firewall. It is reported at once, before another one is sent.
            at(d_next++) = { 0, true };
    }
    while (holds_any() && at(d_oldest).finished)
        ++d_oldest;
}

} // namespace spead
} // namespace gr
