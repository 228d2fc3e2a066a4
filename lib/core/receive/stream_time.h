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
 * \brief Converts timestamps, which wrap, to positions in samples, and back.
 *
 * It unwraps a timestamp by its distance from that of the newest heap.
 */
class stream_time
{
public:
    //! What samples can be counted: with the length of a heap, and in bytes, 63 bits.
    static constexpr std::int64_t farthest = std::int64_t{ 1 } << 56;

    //! \p samples_per_step samples last \p ticks_per_step ticks.
    stream_time(std::int64_t samples_per_step, std::int64_t ticks_per_step)
        : d_samples(samples_per_step / std::gcd(samples_per_step, ticks_per_step)),
          d_ticks(ticks_per_step / std::gcd(samples_per_step, ticks_per_step))
    {
    }

    //! A stream begins: \p tick, without wrapping, is the time at \p position.
    void begin(std::uint64_t tick, std::int64_t position)
    {
        d_tick = d_first_tick = tick;
        d_position = d_first_position = position;
    }

    //! Its position by the shorter way around; none if that is too far to be counted.
    std::optional<std::int64_t> position(std::uint64_t timestamp, unsigned bits) const
    {
        const auto ticks = distance(timestamp, bits);
        if (ticks > farthest / d_samples || ticks < -(farthest / d_samples))
            return std::nullopt;
        // timestamps are rounded between ticks
        const auto scaled = ticks * d_samples + (d_ticks - 1) / 2;
        return d_position + (scaled >= 0 ? scaled : scaled - d_ticks + 1) / d_ticks;
    }

    //! Whether timestamps have wrapped between the newest heap and this one.
    bool has_wrapped(std::uint64_t timestamp, unsigned bits) const
    {
        const auto tick = d_tick + static_cast<std::uint64_t>(distance(timestamp, bits));
        return bits < 64 && tick >> bits != d_tick >> bits;
    }

    //! A heap has been accepted, perhaps the newest.
    void advance(std::uint64_t timestamp, unsigned bits, std::int64_t position)
    {
        const auto ticks = distance(timestamp, bits);
        if (ticks <= 0)
            return;
        d_tick += static_cast<std::uint64_t>(ticks);
        d_position = position;
    }

    //! The tick of a position.
    std::uint64_t tick_at(std::int64_t position) const
    {
        __extension__ using wide = __int128;
        return d_first_tick +
               static_cast<std::uint64_t>(wide(position - d_first_position) * d_ticks /
                                          d_samples);
    }

private:
    std::int64_t distance(std::uint64_t timestamp, unsigned bits) const
    {
        const unsigned unused = 64 - bits;
        return static_cast<std::int64_t>((timestamp - d_tick) << unused) >> unused;
    }

    std::int64_t d_samples;
    std::int64_t d_ticks;
    // of the newest heap
    std::uint64_t d_tick = 0;
    std::int64_t d_position = 0;
    // of the beginning
    std::uint64_t d_first_tick = 0;
    std::int64_t d_first_position = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_TIME_H */
