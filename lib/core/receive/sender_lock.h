/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SENDER_LOCK_H
#define INCLUDED_SPEAD_CORE_SENDER_LOCK_H

#include "heap_slot.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Of several senders to one output, lets only the first one pass.
 *
 * Another one has another source address, or sends a heap for a time already received, in
 * which an item differs. That item then distinguishes them.
 */
class sender_lock
{
public:
    explicit sender_lock(std::size_t sources) : d_senders(sources) {}

    //! Admits any sender.
    void restart() { *this = sender_lock(d_senders.size()); }
    //! Admits any sender address, from all sources.
    void release() { d_senders.assign(d_senders.size(), 0); }
    //! Admits heaps with any value of the item that distinguishes senders.
    void release_item() { d_distinguishing_item.reset(); }
    //! Begins a stream: items may vary in other ways.
    void begin_stream() { d_is_variable.clear(); }

    //! Whether a sender other than this one has been admitted by its source.
    bool refuses(std::size_t source, std::uint64_t sender) const
    {
        return d_senders[source] && d_senders[source] != sender;
    }
    //! Whether a heap of this sender was accepted.
    bool admits(std::size_t source, std::uint64_t sender) const
    {
        return d_senders[source] == sender;
    }
    bool has_admitted(std::uint64_t sender) const;
    //! The admitted sender of each source; 0: none yet.
    const std::vector<std::uint64_t>& senders() const { return d_senders; }
    //! Whether a heap is from another sender. \p overlapping is an accepted heap of the
    //! same time, or nullptr.
    bool refuses(const heap_slot& heap, const heap_slot* overlapping);
    //! The item that distinguished the sender in the last call. None: only its address.
    std::optional<std::size_t> difference() const { return d_difference; }
    //! Whether an accepted heap is from another sender, as became known after it.
    bool has_other_item(const heap_slot& heap) const
    {
        return d_distinguishing_item && heap.items.value(*d_distinguishing_item) !=
                                            d_newest.value(*d_distinguishing_item);
    }
    bool has_item() const { return d_distinguishing_item.has_value(); }

    //! Records an accepted heap. \p is_next: it is one step after the newest one.
    void add(const heap_slot& heap, bool is_newest, bool is_next);

private:
    std::optional<std::size_t> find_difference(const heap_items& items,
                                               const heap_items& other,
                                               bool may_vary) const;

    std::vector<std::uint64_t> d_senders; // per source; 0: none yet
    heap_items d_newest;
    std::vector<bool> d_is_variable; // per item, from heap to heap of one sender
    // has other values in heaps of other senders
    std::optional<std::size_t> d_distinguishing_item;
    std::optional<std::size_t> d_difference;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SENDER_LOCK_H */
