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
#include <cstddef>
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
    item_values() { d_changes.reserve(most_changes); }

    //! False if there is no room: take() makes some.
    [[nodiscard]] bool set(position_range heap, std::uint64_t value)
    {
        const auto first = from(heap.begin), last = from(heap.end);
        const auto before = value_before(first), behind = value_before(last);
        if (first != last || before != value) { // almost never
            if (d_changes.size() + 2 > most_changes)
                return false;
            // heaps that came earlier keep their value behind this one
            const bool has_next = last != d_changes.end() && last->position == heap.end;
            auto at = d_changes.erase(first, last);
            if (heap.end < d_known_end && !has_next && behind && behind != value)
                at = d_changes.insert(at, { heap.end, *behind });
            if (before != value)
                d_changes.insert(at, { heap.begin, value });
        }
        d_known_end = std::max(d_known_end, heap.end);
        return true;
    }

    //! Removes the changes up to the end of \p part. Calls visit(position, value) for
    //! each in it; its first sample has the last value of those before it.
    template <typename visitor>
    void take(position_range part, visitor&& visit)
    {
        const auto last = from(part.end);
        for (auto at = d_changes.begin(); at != last; ++at) {
            const bool is_over = at + 1 != last && (at + 1)->position <= part.begin;
            if (is_over || d_taken == at->value)
                continue;
            d_taken = at->value;
            visit(std::max(at->position, part.begin), at->value);
        }
        d_changes.erase(d_changes.begin(), last);
    }

    //! A stream begins anew at position 0: no value is known.
    void restart()
    {
        d_changes.clear();
        d_taken.reset();
        d_known_end = 0;
    }

private:
    struct change {
        std::int64_t position;
        std::uint64_t value;
    };

    using iterator = std::vector<change>::iterator;

    //! The first change at \p position or behind it.
    iterator from(std::int64_t position)
    {
        const auto is_before = [](auto& each, auto at) { return each.position < at; };
        return std::lower_bound(d_changes.begin(), d_changes.end(), position, is_before);
    }
    std::optional<std::uint64_t> value_before(iterator at)
    {
        return at == d_changes.begin() ? d_taken : std::optional((at - 1)->value);
    }

    static constexpr std::size_t most_changes = 255;

    std::vector<change> d_changes;        // by position
    std::optional<std::uint64_t> d_taken; // the value in front of them
    std::int64_t d_known_end = 0;         // of the heaps that gave values
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEM_VALUES_H */
