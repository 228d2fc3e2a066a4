/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_MISSING_RANGES_H
#define INCLUDED_SPEAD_CORE_MISSING_RANGES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::spead {

//! Positions from \p begin on, up to but not including \p end.
struct position_range {
    std::int64_t begin;
    std::int64_t end;

    std::int64_t size() const { return end - begin; }
};

/*!
 * \brief The ranges of a stream that have not arrived, while later ones have.
 *
 * Sorted, none empty, none touching another. Does not allocate after its construction.
 */
class missing_ranges
{
public:
    explicit missing_ranges(std::size_t most) : d_most(most) { d_ranges.reserve(most); }

    bool empty() const { return d_ranges.empty(); }
    //! Whether there may be no room for what the next add_behind() or remove() adds.
    bool is_full() const { return d_ranges.size() >= d_most; }
    const position_range& front() const { return d_ranges.front(); }
    auto begin() const { return d_ranges.begin(); }
    auto end() const { return d_ranges.end(); }
    void clear() { d_ranges.clear(); }

    //! Adds a range behind all others.
    void add_behind(position_range range)
    {
        if (!empty() && d_ranges.back().end == range.begin)
            d_ranges.back().end = range.end;
        else
            d_ranges.push_back(range);
    }

    //! Adds a range in front of all others.
    void add_in_front(position_range range)
    {
        if (!empty() && d_ranges.front().begin == range.end)
            d_ranges.front().begin = range.begin;
        else
            d_ranges.insert(d_ranges.begin(), range);
    }

    //! Removes \p range, and calls visit(part) for each part of it that was missing.
    template <typename visitor>
    void remove(position_range range, visitor&& visit)
    {
        if (range.size() <= 0)
            return;
        auto first = std::upper_bound(
            d_ranges.begin(),
            d_ranges.end(),
            range.begin,
            [](std::int64_t at, const position_range& each) { return at < each.end; });
        auto last = first;
        for (; last != d_ranges.end() && last->begin < range.end; ++last)
            visit(position_range{ std::max(last->begin, range.begin),
                                  std::min(last->end, range.end) });
        if (first == last)
            return;
        const position_range before{ first->begin, range.begin };
        const position_range behind{ range.end, (last - 1)->end };
        if (before.size() > 0)
            *first++ = before;
        if (behind.size() > 0) {
            if (first == last) {
                d_ranges.insert(first, behind);
                return;
            }
            *--last = behind;
        }
        d_ranges.erase(first, last);
    }

    //! Removes all positions before \p position, and calls visit(part) for each range.
    template <typename visitor>
    void remove_before(std::int64_t position, visitor&& visit)
    {
        if (!empty() && front().begin < position)
            remove({ front().begin, position }, visit);
    }

private:
    std::size_t d_most;
    std::vector<position_range> d_ranges;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_MISSING_RANGES_H */
