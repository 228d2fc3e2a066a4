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
#include <utility>
#include <vector>

namespace gr::spead {

/*!
 * \brief The values of an immediate item along a stream. Heaps may arrive out of order.
 *
 * Only erase() allocates after construction.
 */
class item_values
{
public:
    item_values() { d_parts.reserve(max_parts); }

    //! Sets the value for the samples of a heap. False if there is no room until
    //! report_changes() is called.
    [[nodiscard]] bool set(position_range heap, std::uint64_t value)
    {
        const auto begins_later = [](auto at, auto& each) { return at < each.begin; };
        const auto next =
            std::upper_bound(d_parts.begin(), d_parts.end(), heap.begin, begins_later);
        const auto last = next == d_parts.begin() ? next : next - 1;
        if (last != next && last->value == value && last->end >= heap.begin)
            last->end = std::max(last->end, heap.end);
        else if (last != next && last->begin == heap.begin)
            *last = { heap, value }; // late heaps may all begin at the front
        else if (next != d_parts.end() && next->value == value && next->begin == heap.end)
            next->begin = heap.begin;
        else if (d_parts.size() == max_parts)
            return false;
        else
            d_parts.insert(next, { heap, value });
        return true;
    }

    //! Forgets the values in a range.
    void erase(position_range erased)
    {
        if (erased.size() <= 0)
            return;
        std::vector<valued_range> parts;
        parts.reserve(max_parts);
        for (const auto& each : d_parts)
            for (const position_range part :
                 { position_range{ each.begin, std::min(each.end, erased.begin) },
                   position_range{ std::max(each.begin, erased.end), each.end } })
                if (part.size() > 0 && parts.size() < max_parts)
                    parts.push_back({ part, each.value });
        std::sort(parts.begin(), parts.end(), [](auto& a, auto& b) {
            return a.begin < b.begin;
        });
        d_parts = std::move(parts);
    }

    //! Calls visit(position, value) for each change of the value in \p part, and removes
    //! the values before its end.
    template <typename visitor>
    void report_changes(position_range part, visitor&& visit)
    {
        auto at = d_parts.begin();
        for (; at != d_parts.end() && at->begin < part.end; ++at)
            if (at->end > part.begin && d_last_value != at->value) {
                d_last_value = at->value;
                visit(std::max(at->begin, part.begin), at->value);
            }
        if (at != d_parts.begin() && (at - 1)->end > part.end)
            --at; // this value extends beyond part
        d_parts.erase(d_parts.begin(), at);
    }

    //! Removes all values, at the start of a stream.
    void restart()
    {
        d_parts.clear();
        d_last_value.reset();
    }

private:
    struct valued_range : position_range {
        std::uint64_t value;
    };

    static constexpr std::size_t max_parts = 1024;

    std::vector<valued_range> d_parts;         // sorted by begin
    std::optional<std::uint64_t> d_last_value; // the value reported last
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEM_VALUES_H */
