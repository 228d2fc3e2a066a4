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
    item_values() { d_ranges.reserve(max_ranges); }

    //! Sets the value for the samples of a heap. False if there is no room until
    //! report_changes() is called.
    [[nodiscard]] bool set(position_range heap, std::uint64_t value)
    {
        const auto is_before = [](auto position, auto& range) {
            return position < range.begin;
        };
        const auto next =
            std::upper_bound(d_ranges.begin(), d_ranges.end(), heap.begin, is_before);
        const auto last = next == d_ranges.begin() ? next : next - 1;
        if (last != next && last->value == value && last->end >= heap.begin)
            last->end = std::max(last->end, heap.end);
        else if (last != next && last->begin == heap.begin)
            *last = { heap, value }; // late heaps may all begin at the front
        else if (next != d_ranges.end() && next->value == value &&
                 next->begin == heap.end)
            next->begin = heap.begin;
        else if (d_ranges.size() == max_ranges)
            return false;
        else
            d_ranges.insert(next, { heap, value });
        return true;
    }

    //! Forgets the values in a range.
    void erase(position_range erased)
    {
        if (erased.size() <= 0)
            return;
        std::vector<valued_range> remaining;
        remaining.reserve(max_ranges);
        for (const auto& range : d_ranges)
            for (const position_range rest :
                 { position_range{ range.begin, std::min(range.end, erased.begin) },
                   position_range{ std::max(range.begin, erased.end), range.end } })
                if (rest.size() > 0 && remaining.size() < max_ranges)
                    remaining.push_back({ rest, range.value });
        std::sort(remaining.begin(), remaining.end(), [](auto& a, auto& b) {
            return a.begin < b.begin;
        });
        d_ranges = std::move(remaining);
    }

    //! Calls visit(position, value) for each change of the value in \p range, and removes
    //! the values before its end.
    template <typename visitor>
    void report_changes(position_range range, visitor&& visit)
    {
        auto next = d_ranges.begin();
        for (; next != d_ranges.end() && next->begin < range.end; ++next)
            if (next->end > range.begin && d_last_value != next->value) {
                d_last_value = next->value;
                visit(std::max(next->begin, range.begin), next->value);
            }
        if (next != d_ranges.begin() && (next - 1)->end > range.end)
            --next; // this value extends beyond range
        d_ranges.erase(d_ranges.begin(), next);
    }

    //! Removes all values, at the start of a stream.
    void restart()
    {
        d_ranges.clear();
        d_last_value.reset();
    }

private:
    struct valued_range : position_range {
        std::uint64_t value;
    };

    static constexpr std::size_t max_ranges = 1024;

    std::vector<valued_range> d_ranges;        // sorted by begin
    std::optional<std::uint64_t> d_last_value; // the value reported last
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEM_VALUES_H */
