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
 * \brief Send order of the packets of several rings: the order of publication.
 *
 * A lock-free queue from the thread that fills the rings to the thread that sends.
 */
class send_order
{
public:
    //! Packets of one ring that were published together.
    struct entry {
        std::size_t ring_index;
        std::uint64_t end; //!< slots of the ring published so far, including these
    };

    //! \p slots: total of all rings. This suffices, as an entry covers at least one slot.
    explicit send_order(std::size_t slots) : d_entries(slots) {}

    //! Only for the thread that fills the rings.
    void add(const entry& published)
    {
        const auto end = d_end.load(std::memory_order_relaxed);
        d_entries[end % d_entries.size()] = published;
        d_end.store(end + 1, std::memory_order_release);
    }

    // The functions below are only for the thread that sends.

    //! Entries are numbered consecutively. Those in [begin(), end()) are available.
    std::uint64_t begin() const { return d_begin; }
    std::uint64_t end() const { return d_end.load(std::memory_order_acquire); }
    const entry& at(std::uint64_t number) const
    {
        return d_entries[number % d_entries.size()];
    }
    //! Removes the first entry. Its slots must not have been released yet.
    void pop() { ++d_begin; }

private:
    std::vector<entry> d_entries;
    std::uint64_t d_begin = 0;
    alignas(64) std::atomic<std::uint64_t> d_end{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SEND_ORDER_H */
