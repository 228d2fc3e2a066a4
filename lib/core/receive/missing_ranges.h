/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_MISSING_RANGES_H
#define INCLUDED_SPEAD_CORE_MISSING_RANGES_H

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::spead {

//! The positions [begin, end).
struct position_range {
    std::int64_t begin;
    std::int64_t end;

    std::int64_t size() const { return end - begin; }
};

/*!
 * \brief The ranges of positions that have not arrived.
 *
 * They are sorted, and neither empty nor adjacent. Only add() may allocate after
 * construction.
 */
class missing_ranges
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct range : position_range {
        time_point since; //!< when a later sample arrived
    };

    explicit missing_ranges(std::size_t max_ranges) : d_max_ranges(max_ranges)
    {
        d_ranges.reserve(max_ranges);
    }

    //! Replaces all ranges with \p missing.
    void restart(position_range missing)
    {
        d_ranges.clear();
        if (missing.size() > 0)
            d_ranges.push_back({ missing, {} });
    }

    bool empty() const { return d_ranges.empty(); }
    //! Whether there is no room for remove() to split a range.
    bool is_full() const { return d_ranges.size() >= d_max_ranges; }
    auto begin() const { return d_ranges.begin(); }
    auto end() const { return d_ranges.end(); }
    range& last() { return d_ranges.back(); }

    //! Whether all of a range is missing.
    bool contains(position_range other) const
    {
        const auto first = first_after(other.begin);
        return first != d_ranges.end() && first->begin <= other.begin &&
               other.end <= first->end;
    }
    //! Whether some of a range is missing.
    bool overlaps(position_range other) const
    {
        const auto first = first_after(other.begin);
        return first != d_ranges.end() && first->begin < other.end;
    }

    //! Adds a range.
    void add(position_range added, time_point since)
    {
        if (added.size() <= 0)
            return;
        const auto is_before = [](auto& missing, auto limit) {
            return missing.end < limit;
        };
        const auto first =
            std::lower_bound(d_ranges.begin(), d_ranges.end(), added.begin, is_before);
        auto last = first;
        for (; last != d_ranges.end() && last->begin <= added.end; ++last)
            added = { std::min(added.begin, last->begin),
                      std::max(added.end, last->end) };
        d_ranges.insert(d_ranges.erase(first, last), { added, since });
    }
    //! Removes a range, and calls visit(subrange) for each subrange that was missing.
    template <typename visitor>
    void remove(position_range removed, visitor&& visit)
    {
        if (removed.size() <= 0)
            return;
        const auto is_before = [](auto& missing, auto limit) {
            return missing.end <= limit;
        };
        auto first =
            std::lower_bound(d_ranges.begin(), d_ranges.end(), removed.begin, is_before);
        auto last = first;
        for (; last != d_ranges.end() && last->begin < removed.end; ++last)
            visit(position_range{ std::max(last->begin, removed.begin),
                                  std::min(last->end, removed.end) });
        if (first == last)
            return;
        const range rest{ { removed.end, (last - 1)->end }, (last - 1)->since };
        if (first->begin < removed.begin)
            (first++)->end = removed.begin;
        if (rest.size() > 0 && first != last)
            *--last = rest;
        else if (rest.size() > 0)
            first = last = d_ranges.insert(first, rest);
        d_ranges.erase(first, last);
    }

private:
    // The first range that ends after a position.
    std::vector<range>::const_iterator first_after(std::int64_t position) const
    {
        const auto is_before = [](auto& missing, auto limit) {
            return missing.end <= limit;
        };
        return std::lower_bound(d_ranges.begin(), d_ranges.end(), position, is_before);
    }

    std::size_t d_max_ranges;
    std::vector<range> d_ranges;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_MISSING_RANGES_H */
