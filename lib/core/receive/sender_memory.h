/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SENDER_MEMORY_H
#define INCLUDED_SPEAD_CORE_SENDER_MEMORY_H

#include "heap_slot.h"
#include "stream_format.h"

#include <algorithm>
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
    //! Gives the items that a heap lacks the values that they had in the sender's latest
    //! heap before it, and remembers those that it has.
    void complete(const heap_id& heap,
                  const heap_time& time,
                  heap_slot::time_point now,
                  heap_items& items)
    {
        if (items.values.empty())
            return;
        auto& values = find(heap).values;
        values.resize(items.values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const bool is_before =
                values[i].value && time.counters_from(values[i].heap) < 0;
            auto& value = items.values[i];
            if (!value && !is_before)
                value = values[i].value;
            else if (value && !(is_before && now - values[i].time < overtaking_time))
                values[i] = { value, time, now };
        }
    }
    //! Whether descriptors of a sender that is not received may be read: bounds their
    //! number in each second, and that of all ignored senders together.
    bool
    admit_descriptors(const heap_id& sender, heap_slot::time_point now, bool is_ignored)
    {
        auto& rate = is_ignored ? d_ignored_rate : find(sender).rate;
        if (now - rate.second >= std::chrono::seconds(1))
            rate = { now };
        return rate.described_heaps++ < max_described_heaps;
    }
    //! Remembers how a sender describes its items.
    void describe(const heap_id& sender, const std::vector<item_description>& items)
    {
        auto& known = find(sender).descriptions;
        for (const auto& item : items)
            merge(known, item);
    }
    //! The descriptions of a sender; empty if it has sent none.
    const std::vector<item_description>& descriptions(const heap_id& sender)
    {
        return find(sender).descriptions;
    }
    //! Whether a sender has described its items, in any group.
    bool has_described(std::uint64_t sender) const
    {
        return std::any_of(d_records.begin(), d_records.end(), [&](const record& known) {
            return known.sender == sender && !known.descriptions.empty();
        });
    }
    //! Forgets the values, whose items have changed.
    void clear_values()
    {
        for (auto& known : d_records)
            known.values.clear();
    }
    void clear()
    {
        d_records.clear();
        d_ignored_rate = {};
    }

private:
    static constexpr std::size_t max_senders = 64; // if more, the oldest is forgotten
    static constexpr int max_described_heaps = 64; // in a second
    // A heap with an earlier counter has been overtaken. After this time, its sender has
    // restarted.
    static constexpr std::chrono::milliseconds overtaking_time{ 100 };

    struct remembered_value {
        std::optional<std::uint64_t> value;
        heap_time heap; // that set it
        heap_slot::time_point time;
    };

    struct description_rate {
        heap_slot::time_point second = {}; // when it began
        int described_heaps = 0;
    };

    struct record {
        std::uint64_t sender;
        std::size_t group;
        std::vector<remembered_value> values = {}; // of immediate items
        description_rate rate = {};
        std::vector<item_description> descriptions = {};
    };

    record& find(const heap_id& id)
    {
        for (auto& known : d_records)
            if (known.sender == id.sender && known.group == id.group)
                return known;
        if (d_records.size() == max_senders)
            d_records.pop_front();
        return d_records.emplace_back(record{ id.sender, id.group });
    }

    std::deque<record> d_records;
    description_rate d_ignored_rate;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SENDER_MEMORY_H */
