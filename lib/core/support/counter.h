/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_COUNTER_H
#define INCLUDED_SPEAD_CORE_COUNTER_H

#include <array>
#include <atomic>
#include <cstdint>

namespace gr::spead {

//! A counter that one thread increments and any thread reads.
class counter
{
public:
    // a single writer needs no atomic add, which costs a locked instruction
    void add(std::uint64_t n)
    {
        d_value.store(d_value.load(std::memory_order_relaxed) + n,
                      std::memory_order_release);
    }
    std::uint64_t get() const { return d_value.load(std::memory_order_acquire); }

private:
    std::atomic<std::uint64_t> d_value{ 0 };
};

//! Adds the counters of one thread to \p sums. A set must have no members but counters.
template <template <typename> class set>
void add_counters(set<std::uint64_t>& sums, const set<counter>& counted)
{
    std::array<std::uint64_t, sizeof(sums) / sizeof(std::uint64_t)> figures;
    auto figure = figures.begin();
    set<counter>::for_each(
        [&](const char*, auto member) { *figure++ = (counted.*member).get(); });
    figure = figures.begin();
    set<std::uint64_t>::for_each(
        [&](const char*, auto member) { sums.*member += *figure++; });
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_COUNTER_H */
