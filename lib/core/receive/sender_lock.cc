/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sender_lock.h"

#include <algorithm>

namespace gr::spead {

bool sender_lock::has_admitted(std::uint64_t sender) const
{
    return std::count(d_senders.begin(), d_senders.end(), sender) > 0;
}

bool sender_lock::refuses(const heap_slot& heap, const heap_slot* overlapping)
{
    if (refuses(heap.source, heap.id.sender)) {
        d_difference = find_difference(heap.items, d_newest, false);
        return true;
    }
    if (overlapping && !d_distinguishing_item) {
        d_distinguishing_item = find_difference(heap.items, overlapping->items, false);
        // if heaps of both senders were accepted in turn, the item seems to vary
        if (!d_distinguishing_item && overlapping->time.position == heap.time.position)
            d_distinguishing_item = find_difference(heap.items, overlapping->items, true);
    }
    d_difference = d_distinguishing_item;
    return has_other_item(heap);
}

// The item that has two values at the same time, one of which is that of the newest heap.
std::optional<std::size_t> sender_lock::find_difference(const heap_items& items,
                                                        const heap_items& other,
                                                        bool may_vary) const
{
    for (std::size_t i = 0; i < items.values.size(); ++i) {
        const auto newest = d_newest.value(i);
        if (items.value(i) != other.value(i) &&
            (items.value(i) == newest || other.value(i) == newest) &&
            (may_vary || i >= d_is_variable.size() || !d_is_variable[i]))
            return i;
    }
    return std::nullopt;
}

void sender_lock::add(const heap_slot& heap, bool is_newest, bool is_next)
{
    d_senders[heap.source] = heap.id.sender;
    if (!is_newest || heap.items.values.empty())
        return;
    d_is_variable.resize(heap.items.values.size());
    if (is_next)
        for (std::size_t i = 0; i < d_is_variable.size(); ++i)
            d_is_variable[i] =
                d_is_variable[i] || heap.items.value(i) != d_newest.value(i);
    d_newest.values = heap.items.values;
}

} // namespace gr::spead
