/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TICK_CLOCK_H
#define INCLUDED_SPEAD_CORE_TICK_CLOCK_H

#include <gnuradio/spead/exact_rate.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gr::spead {

//! A time since 1970-01-01, UTC, as Unix counts it.
struct exact_time {
    std::uint64_t seconds = 0;
    std::uint64_t attoseconds = 0; //!< 10^-18 s
};

//! \name The time that ticks count from, as sync_time gives it
//! Throw parameter_error for what is no such time.
//! \{
exact_time parse_sync_time(const std::string& decimal_seconds);
exact_time sync_time_from_nanoseconds(std::int64_t nanoseconds);
//! \}

/*!
 * \brief Turns the time of a tag into ticks: (time - sync_time) x sample_rate.
 *
 * Exact, however far the two times are apart. All that is lost is what the tag's
 * fraction of a second, a double, cannot hold: 2e-7 ticks at 1.712 GHz.
 */
class tick_clock
{
public:
    struct reading {
        std::int64_t tick; //!< the nearest; before sync_time negative
        double residual;   //!< ticks from there to the exact time, in (-0.5, 0.5]
    };

    //! Throws parameter_error unless the rate is above 0 Hz and no more than 1e12 Hz.
    tick_clock(exact_rate sample_rate, exact_time sync_time);

    //! None where \p fraction is none of a second, or the tick has more than 64 bits.
    std::optional<reading> at(std::uint64_t seconds, double fraction) const;

    //! A time as GNU Radio's tags have it.
    struct tag_time {
        std::uint64_t seconds;
        double fraction; //!< below 1
    };
    //! When the tick is. at() gives the same tick for this time.
    tag_time time_of(std::uint64_t tick) const;

private:
    const exact_rate d_rate;
    const exact_time d_sync_time;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TICK_CLOCK_H */
