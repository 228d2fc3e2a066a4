/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ITEM_VALUES_H
#define INCLUDED_SPEAD_CORE_ITEM_VALUES_H

#include "missing_ranges.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief The values that an immediate item has along a stream, where heaps may come in
 * any order.
 *
 * Does not allocate after its construction.
 */
class item_values
{
public:
    explicit item_values(std::size_t most) : d_most(most) { d_changes.reserve(most); }

    //! False if there is no room: take() makes some.
    [[nodiscard]] bool set(position_range heap, std::uint64_t value)
    {
        // in order, and the same as before: almost always
        const bool is_newest = heap.begin >= d_known_end;
        if (is_newest && value_at(heap.begin) == value) {
            d_known_end = heap.end;
            return true;
        }
        if (d_changes.size() + 2 > d_most)
            return false;
        const auto behind = value_at(heap.end);
        const auto before = value_at(heap.begin - 1);
        const auto first = from(heap.begin);
        // those inside; one at the end stays
        auto at = d_changes.erase(first, from(heap.end));
        if (heap.end < d_known_end && behind && behind != value &&
            (at == d_changes.end() || at->position != heap.end))
            at = d_changes.insert(at, { heap.end, *behind });
        if (before != value)
            d_changes.insert(at, { heap.begin, value });
        d_known_end = std::max(d_known_end, heap.end);
        return true;
    }

    //! Removes the changes before \p position. Calls visit(position, value) for each.
    template <typename visitor>
    void take(std::int64_t position, visitor&& visit)
    {
        const auto last = from(position);
        for (auto at = d_changes.begin(); at != last; ++at)
            if (d_taken != at->value) {
                d_taken = at->value;
                visit(at->position, *d_taken);
            }
        d_changes.erase(d_changes.begin(), last);
    }

    //! A stream begins anew at \p position: no value is known.
    void restart(std::int64_t position)
    {
        d_changes.clear();
        d_taken.reset();
        d_known_end = position;
    }

private:
    struct change {
        std::int64_t position;
        std::uint64_t value;
    };

    //! The first change at \p position or behind it.
    std::vector<change>::iterator from(std::int64_t position)
    {
        return std::lower_bound(
            d_changes.begin(),
            d_changes.end(),
            position,
            [](const change& each, auto at) { return each.position < at; });
    }

    std::optional<std::uint64_t> value_at(std::int64_t position)
    {
        const auto behind = from(position + 1);
        return behind == d_changes.begin() ? d_taken : std::optional((behind - 1)->value);
    }

    std::size_t d_most;
    std::vector<change> d_changes;        // by position
    std::optional<std::uint64_t> d_taken; // the value in front of them
    std::int64_t d_known_end = 0;         // of the heaps that gave values
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEM_VALUES_H */
