/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CAPTURE_CLOCK_H
#define INCLUDED_SPEAD_CORE_CAPTURE_CLOCK_H

#include <algorithm>
#include <chrono>
#include <optional>

namespace gr::spead {

/*!
 * \brief The time in a capture, from the times of its frames.
 *
 * It never goes back. A single frame whose time contradicts the frames before and after
 * it has no effect. If the recording host sets its clock back, the time continues from
 * where it was.
 */
class capture_clock
{
public:
    using time = std::chrono::nanoseconds;

    //! Whether advance() needs the time stamp of the following frame.
    bool is_doubtful(time stamp) const
    {
        return d_latest && (is_before(*d_latest, stamp) || is_before(stamp, *d_latest));
    }
    //! Returns the time of a frame with this time stamp. \p following: that of the
    //! following frame; none at the end of the capture.
    time advance(time stamp, std::optional<time> following)
    {
        if (!d_latest)
            d_now = stamp;
        else if (is_doubtful(stamp)) {
            const bool steps_back = stamp < *d_latest;
            const bool is_outlier = steps_back
                                        ? !following || !is_before(*following, *d_latest)
                                        : following && is_before(*following, stamp);
            if (is_outlier)
                return d_now;
            if (steps_back)
                d_latest = stamp;
        }
        const auto latest = d_latest.value_or(stamp);
        d_now += std::max(stamp - latest, time::zero());
        d_latest = std::max(stamp, latest);
        return d_now;
    }

private:
    // Frames of several queues of a network card are not sorted.
    static constexpr std::chrono::seconds tolerance{ 1 };

    static bool is_before(time first, time second) { return second - first > tolerance; }

    std::optional<time> d_latest; // time stamp, of the frames that were believed
    time d_now{};
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CAPTURE_CLOCK_H */
