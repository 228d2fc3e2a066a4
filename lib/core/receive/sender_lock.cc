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
    const auto& items = heap.items;
    const bool has_other_address = refuses(heap.socket, heap.id.sender);
    const auto* same = has_other_address ? &d_newest
                       : overlapping     ? &overlapping->items
                                         : nullptr;
    d_difference.reset();
    for (std::size_t i = 0; same && !d_difference && i < items.values.size(); ++i)
        if (items.value(i) != same->value(i) && same->value(i) == d_newest.value(i) &&
            !(i < d_varies.size() && d_varies[i]))
            d_difference = i;
    if (has_other_address)
        return true;
    if (d_difference)
        d_item = d_difference;
    d_difference = d_item;
    return d_item && items.value(*d_item) != d_newest.value(*d_item);
}

void sender_lock::add(const heap_slot& heap, bool is_newest, bool is_next)
{
    d_senders[heap.socket] = heap.id.sender;
    if (!is_newest || heap.items.values.empty())
        return;
    d_varies.resize(heap.items.values.size());
    if (is_next)
        for (std::size_t i = 0; i < d_varies.size(); ++i)
            d_varies[i] = d_varies[i] || heap.items.value(i) != d_newest.value(i);
    d_newest.values = heap.items.values;
}

} // namespace gr::spead
