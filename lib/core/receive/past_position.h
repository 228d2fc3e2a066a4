/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PAST_POSITION_H
#define INCLUDED_SPEAD_CORE_PAST_POSITION_H

#include <boost/circular_buffer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace gr::spead {

/*!
 * \brief How far a position had come some time ago.
 *
 * Knows it to a 16th of that time. Allocates in its constructor alone.
 */
class past_position
{
public:
    using clock = std::chrono::steady_clock;

    explicit past_position(clock::duration delay)
        : d_delay(delay), d_marks(std::size_t{ 2 } * parts)
    {
    }

    void restart()
    {
        d_marks.clear();
        d_past = unknown;
    }

    //! The position is at \p position now. Returns where it was \p delay ago; the lowest
    //! number if it restarted since then.
    std::int64_t advance(clock::time_point now, std::int64_t position)
    {
        while (!d_marks.empty() && d_marks.front().time + d_delay <= now) {
            d_past = d_marks.front().position;
            d_marks.pop_front();
        }
        const auto newest = d_marks.empty() ? d_past : d_marks.back().position;
        const bool is_new =
            d_marks.empty() || now - d_marks.back().time >= d_delay / parts;
        if (is_new && position > newest)
            d_marks.push_back({ now, position });
        return d_past;
    }

private:
    static constexpr int parts = 16;
    static constexpr auto unknown = std::numeric_limits<std::int64_t>::min();
    struct mark {
        clock::time_point time;
        std::int64_t position;
    };
    clock::duration d_delay;
    boost::circular_buffer<mark> d_marks;
    std::int64_t d_past = unknown;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PAST_POSITION_H */
