/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SEND_ORDER_H
#define INCLUDED_SPEAD_CORE_SEND_ORDER_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::spead {

/*!
 * \brief The order in which the packets of several rings are to be sent: that in which
 * they were published.
 *
 * A queue without locks, from the thread that fills the rings to the one that sends.
 */
class send_order
{
public:
    //! Packets of one ring that were published together.
    struct entry {
        std::size_t queue; //!< the number of the ring
        std::uint64_t end; //!< slots of that ring that have been published by then
    };

    //! \p slots are those of all rings together: each entry has one at least.
    explicit send_order(std::size_t slots) : d_entries(slots) {}

    //! To be called by the thread that fills the rings.
    void add(const entry& published)
    {
        const auto end = d_end.load(std::memory_order_relaxed);
        d_entries[end % d_entries.size()] = published;
        d_end.store(end + 1, std::memory_order_release);
    }

    // and the rest by the thread that sends

    //! Entries have numbers; those from begin() to end() are there.
    std::uint64_t begin() const { return d_begin; }
    std::uint64_t end() const { return d_end.load(std::memory_order_acquire); }
    const entry& at(std::uint64_t number) const
    {
        return d_entries[number % d_entries.size()];
    }
    //! The first entry is over. Its slots must not have been released yet.
    void pop() { ++d_begin; }

private:
    std::vector<entry> d_entries;
    std::uint64_t d_begin = 0;
    alignas(64) std::atomic<std::uint64_t> d_end{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SEND_ORDER_H */
