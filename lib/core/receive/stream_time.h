/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_TIME_H
#define INCLUDED_SPEAD_CORE_STREAM_TIME_H

#include <cstdint>
#include <numeric>
#include <optional>

namespace gr::spead {

/*!
 * \brief Converts timestamps, which wrap, to positions in a stream.
 *
 * Knows the newest heap of the stream, and counts from there.
 */
class stream_time
{
public:
    //! \p samples samples last \p ticks ticks.
    stream_time(std::int64_t samples, std::int64_t ticks)
        : d_samples(samples / std::gcd(samples, ticks)),
          d_ticks(ticks / std::gcd(samples, ticks))
    {
    }

    //! Samples after which the ticks are a whole number.
    std::int64_t granule() const { return d_samples; }

    //! The stream begins with a heap of this timestamp, at this position in samples.
    void begin(std::uint64_t timestamp, unsigned bits, std::int64_t position)
    {
        const auto jump = distance(timestamp, bits);
        const auto tick = d_tick + static_cast<std::uint64_t>(jump);
        // absolute times go on when a sender is back, unless it counts from anew
        const bool is_before_zero = jump < 0 && tick > d_tick;
        d_tick = d_is_known && !is_before_zero ? tick : timestamp;
        d_timestamp = timestamp;
        d_position = position;
        d_is_known = true;
    }

    std::uint64_t timestamp() const { return d_timestamp; } //!< of the newest heap
    //! Of the newest heap: without wrapping.
    std::uint64_t tick() const { return d_tick; }

    //! The position of a heap; none if that is too far away to be counted.
    std::optional<std::int64_t> position(std::uint64_t timestamp, unsigned bits) const
    {
        const auto ticks = distance(timestamp, bits);
        // also in bytes, with the length of a heap, no more than 63 bits
        constexpr std::int64_t farthest = std::int64_t{ 1 } << 58;
        if (ticks > farthest / d_samples || ticks < -(farthest / d_samples))
            return std::nullopt;
        // senders round timestamps between ticks; in the middle, the sample before
        const auto scaled = ticks * d_samples + (d_ticks - 1) / 2;
        return d_position + (scaled >= 0 ? scaled : scaled - d_ticks + 1) / d_ticks;
    }

    //! A heap of the stream has come: the newest one so far, or not.
    void advance(std::uint64_t timestamp, unsigned bits, std::int64_t position)
    {
        const auto ticks = distance(timestamp, bits);
        if (ticks <= 0)
            return;
        d_timestamp = timestamp;
        d_tick += static_cast<std::uint64_t>(ticks);
        d_position = position;
    }

private:
    // ticks from the newest heap, by the shorter way around
    std::int64_t distance(std::uint64_t timestamp, unsigned bits) const
    {
        const unsigned unused = 64 - bits;
        return static_cast<std::int64_t>((timestamp - d_timestamp) << unused) >> unused;
    }

    std::int64_t d_samples;
    std::int64_t d_ticks;
    bool d_is_known = false;
    std::uint64_t d_timestamp = 0;
    std::uint64_t d_tick = 0;
    std::int64_t d_position = 0; // samples
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_TIME_H */
