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

//! Unix time: time since 1970-01-01 UTC, without leap seconds.
struct exact_time {
    std::uint64_t seconds = 0;
    std::uint64_t attoseconds = 0; //!< 10^-18 s
};

//! \name Parsers of sync_time, the time of tick 0, and of other times
//! They throw parameter_error if the value is invalid.
//! \{
exact_time parse_sync_time(const std::string& decimal_seconds);
//! None if the text is no time.
std::optional<exact_time> parse_time(const std::string& decimal_seconds);
exact_time sync_time_from_nanoseconds(std::int64_t nanoseconds);
//! \}

/*!
 * \brief Converts the time of a tag to ticks: (time - sync_time) x sample_rate.
 *
 * The result is exact for any distance between the two times. The only error is that of
 * the tag's fraction of a second, which is a double: 2e-7 ticks at 1.712 GHz.
 */
class tick_clock
{
public:
    struct reading {
        std::int64_t tick; //!< nearest tick; negative before sync_time
        double residual;   //!< exact time minus tick, in ticks, in (-0.5, 0.5]
    };

    //! Throws parameter_error unless the rate is above 0 Hz and at most 1e12 Hz.
    tick_clock(exact_rate sample_rate, exact_time sync_time);

    //! Returns nullopt if \p fraction is not in [0, 1] or the tick exceeds 64 bits.
    std::optional<reading> to_tick(std::uint64_t seconds, double fraction) const;

    //! The first tick at or after a time. None if the time is before tick 0, or its tick
    //! exceeds 63 bits.
    std::optional<std::uint64_t> first_tick_from(const exact_time& time) const;

    //! Time in the format of GNU Radio's rx_time tags.
    struct rx_time {
        std::uint64_t seconds;
        double fraction; //!< seconds, in [0, 1)
    };
    //! Returns the time of a tick. to_tick() converts it back to the same tick.
    rx_time time_of(std::uint64_t tick) const;

private:
    exact_rate d_rate;
    exact_time d_sync_time;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TICK_CLOCK_H */
