/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SENDER_MEMORY_H
#define INCLUDED_SPEAD_CORE_SENDER_MEMORY_H

#include "heap_slot.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief What is remembered of each sender from heap to heap.
 */
class sender_memory
{
public:
    //! A sender may leave out items that have not changed: gives them their last values,
    //! and remembers the others.
    void complete(const heap_id& sender, heap_items& items)
    {
        auto& values = find(sender).values;
        values.resize(items.values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            (items.values[i] ? values[i] : items.values[i]) =
                items.values[i] ? items.values[i] : values[i];
    }
    //! Whether descriptors of a sender may be read: bounds their number in each second.
    bool may_describe(const heap_id& sender, heap_slot::time_point now)
    {
        auto& found = find(sender);
        if (now - found.second >= std::chrono::seconds(1)) {
            found.second = now;
            found.descriptions = 0;
        }
        return found.descriptions++ < max_descriptions;
    }
    //! Forgets the values, whose items have changed.
    void clear() { d_senders.clear(); }

private:
    static constexpr std::size_t max_senders = 64; // if more, the oldest is forgotten
    static constexpr int max_descriptions = 64;    // heaps in a second

    struct memory {
        std::uint64_t address;
        std::size_t group;
        std::vector<std::optional<std::uint64_t>> values = {}; // of immediate items
        heap_slot::time_point second = {};
        int descriptions = 0;
    };

    memory& find(const heap_id& id)
    {
        for (auto& each : d_senders)
            if (each.address == id.sender && each.group == id.group)
                return each;
        if (d_senders.size() == max_senders)
            d_senders.pop_front();
        return d_senders.emplace_back(memory{ id.sender, id.group });
    }

    std::deque<memory> d_senders;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SENDER_MEMORY_H */
