/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_TIME_H
#define INCLUDED_SPEAD_CORE_STREAM_TIME_H

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace gr::spead {

/*!
 * \brief Converts timestamps to positions in samples, and back.
 *
 * Timestamps wrap. A timestamp is unwrapped by its distance from that of the newest heap.
 */
class stream_time
{
public:
    //! The longest distance, in samples. Adding a heap length or converting to bytes does
    //! not overflow 63 bits.
    static constexpr std::int64_t max_distance = std::int64_t{ 1 } << 56;

    //! \p samples_per_step samples span \p ticks_per_step ticks.
    stream_time(std::int64_t samples_per_step, std::int64_t ticks_per_step)
        : d_samples_per_step(samples_per_step /
                             std::gcd(samples_per_step, ticks_per_step)),
          d_ticks_per_step(ticks_per_step / std::gcd(samples_per_step, ticks_per_step))
    {
    }

    //! Begins a stream: \p tick is the time at \p position. Ticks wrap at \p wrap; 0: at
    //! 2^64.
    void begin(std::uint64_t tick, std::int64_t position, std::uint64_t wrap = 0)
    {
        d_wrap = wrap;
        d_reference_tick = d_first_tick = tick;
        d_reference_position = d_first_position = position;
    }

    //! The position of a timestamp of \p bits bits, which is unwrapped to the value
    //! nearest to that of the newest heap. None if the distance is too long to be
    //! computed.
    std::optional<std::int64_t> position(std::uint64_t timestamp, unsigned bits) const
    {
        const auto ticks = distance(timestamp, bits);
        if (ticks > max_distance / d_samples_per_step ||
            ticks < -(max_distance / d_samples_per_step))
            return std::nullopt;
        // round to the nearest sample: senders round timestamps to whole ticks
        const auto scaled = ticks * d_samples_per_step + (d_ticks_per_step - 1) / 2;
        return d_reference_position +
               (scaled >= 0 ? scaled : scaled - d_ticks_per_step + 1) / d_ticks_per_step;
    }

    //! Whether \p position is exactly that of a timestamp.
    bool is_position(std::int64_t position, std::uint64_t timestamp, unsigned bits) const
    {
        const auto ticks = ticks_to(position);
        return distance(timestamp, bits, ticks) == ticks;
    }

    //! Whether \p position is that of a timestamp if timestamps have wrapped once more,
    //! or more often, since the newest heap. \p tolerance: in ticks.
    bool is_position_after_wrap(std::int64_t position,
                                std::uint64_t timestamp,
                                unsigned bits,
                                std::int64_t tolerance) const
    {
        const auto expected = ticks_to(position);
        const auto ticks = distance(timestamp, bits, expected);
        return std::abs(ticks - expected) <= tolerance &&
               ticks != distance(timestamp, bits);
    }

    //! Whether a position is at a tick.
    bool is_at_tick(std::int64_t position) const
    {
        return (position - d_first_position) % d_samples_per_step == 0;
    }
    //! Whether so many samples last a whole number of ticks.
    bool lasts_whole_ticks(std::int64_t samples) const
    {
        return samples % d_samples_per_step == 0;
    }
    //! By how many samples the position of a timestamp may be wrong if it is rounded to a
    //! tick.
    std::int64_t rounding() const
    {
        return (2 * d_samples_per_step + d_ticks_per_step) / (2 * d_ticks_per_step);
    }

    //! Whether timestamps wrap between the newest heap and this timestamp.
    bool has_wrapped(std::uint64_t timestamp, unsigned bits) const
    {
        const auto tick =
            d_reference_tick + static_cast<std::uint64_t>(distance(timestamp, bits));
        return bits < 64 && tick >> bits != d_reference_tick >> bits;
    }

    //! Records an accepted heap, which may be the newest one.
    void advance(std::uint64_t timestamp, unsigned bits, std::int64_t position)
    {
        const auto ticks = distance(timestamp, bits, ticks_to(position));
        // whole steps only: rounded ones would add up
        const auto steps = ticks / d_ticks_per_step;
        if (steps <= 0)
            return;
        d_reference_tick += static_cast<std::uint64_t>(steps * d_ticks_per_step);
        d_reference_position += steps * d_samples_per_step;
    }

    //! The tick at a position, rounded toward the first tick and not wrapped. Must be
    //! called in the order of positions.
    std::uint64_t tick_at(std::int64_t position)
    {
        __extension__ using wide = __int128;
        const auto ticks =
            wide(position - d_first_position) * d_ticks_per_step / d_samples_per_step;
        // heaps from before the first one, and from before a wrap, arrived after it
        if (ticks < 0 && d_wrap && static_cast<wide>(d_first_tick) < -ticks) {
            d_first_tick += d_wrap;
            d_reference_tick += d_wrap;
        }
        return d_first_tick + static_cast<std::uint64_t>(ticks);
    }

private:
    // Ticks from the newest heap to a timestamp: the value nearest to \p expected.
    std::int64_t
    distance(std::uint64_t timestamp, unsigned bits, std::int64_t expected = 0) const
    {
        const unsigned unused = 64 - bits;
        const auto deviation =
            timestamp - d_reference_tick - static_cast<std::uint64_t>(expected);
        return expected + (static_cast<std::int64_t>(deviation << unused) >> unused);
    }
    // Ticks from the newest heap to a position.
    std::int64_t ticks_to(std::int64_t position) const
    {
        __extension__ using wide = __int128;
        return static_cast<std::int64_t>(wide(position - d_reference_position) *
                                         d_ticks_per_step / d_samples_per_step);
    }

    std::int64_t d_samples_per_step;
    std::int64_t d_ticks_per_step;
    // near the newest heap, a whole number of steps from the start of the stream
    std::uint64_t d_reference_tick = 0;
    std::int64_t d_reference_position = 0;
    std::uint64_t d_wrap = 0;
    // the start of the stream
    std::uint64_t d_first_tick = 0;
    std::int64_t d_first_position = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_TIME_H */
