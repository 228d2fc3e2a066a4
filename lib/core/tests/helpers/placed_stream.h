/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_PLACED_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_PLACED_STREAM_H

#include "time/timestamp_aligner.h"

#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace gr::spead {

//! A heap of samples, each of which is the place where it belongs.
struct placed_heap {
    //! filled in, and no place
    static constexpr auto zero = std::numeric_limits<std::int64_t>::min();

    std::uint64_t timestamp;
    std::vector<std::int64_t> samples;

    bool operator==(const placed_heap& other) const
    {
        return timestamp == other.timestamp && samples == other.samples;
    }
    bool operator!=(const placed_heap& other) const { return !(*this == other); }
};

inline std::ostream& operator<<(std::ostream& out, const placed_heap& heap)
{
    out << heap.timestamp << ":";
    for (const auto sample : heap.samples)
        out << " " << (sample == placed_heap::zero ? "-" : std::to_string(sample));
    return out;
}

//! Does to samples what a timestamp_aligner says, as the block does with real ones.
struct placed_stream {
    timestamp_aligner_config config;
    sink_counter_set counters;
    timestamp_aligner aligner;

    std::int64_t place = 0;         // of the next sample of the source
    std::vector<placed_heap> heaps; // finished ones
    placed_heap unfinished;
    std::uint64_t samples_in = 0;
    std::uint64_t dropped = 0;
    std::uint64_t zero_filled = 0;
    bool heap_has_left = false; // the unfinished one, or a part of it

    explicit placed_stream(const timestamp_aligner_config& p)
        : config(p), aligner(p, counters), unfinished{ 0, {} }
    {
    }

    static std::uint64_t stamp(std::int64_t ticks)
    {
        return static_cast<std::uint64_t>(ticks);
    }

    //! The source is at \p new_place, and says so, wrong by some samples.
    correction tag(std::int64_t new_place, double wrong_by = 0)
    {
        place = new_place;
        const double ticks = static_cast<double>(config.timestamp_step) /
                             static_cast<double>(config.heap_samples);
        const double exact = (static_cast<double>(place) + wrong_by) * ticks;
        const double nearest = std::round(exact);
        const auto result = aligner.tag(
            static_cast<std::int64_t>(nearest), exact - nearest, heap_has_left);
        if (result.next_heap) {
            drop_unfinished();
            unfinished.timestamp = *result.next_heap;
        }
        for (std::uint64_t i = 0; i < result.zeros; ++i)
            pack(placed_heap::zero);
        zero_filled += result.zeros;
        return result;
    }

    void send(std::uint64_t samples)
    {
        for (std::uint64_t i = 0; i < samples; ++i, ++place) {
            if (aligner.to_drop())
                ++dropped;
            else
                pack(place);
            aligner.advance(1);
        }
        samples_in += samples;
    }

    //! Tags, each with the place that it names and so many samples behind it.
    void play(const std::vector<std::pair<std::int64_t, std::uint64_t>>& tagged)
    {
        for (const auto& [new_place, samples] : tagged) {
            tag(new_place);
            send(samples);
        }
    }

    //! The flow graph is stopped and started again; an unfinished heap takes up its step.
    void restart()
    {
        if (!unfinished.samples.empty()) {
            drop_unfinished();
            unfinished.timestamp += stamp(config.timestamp_step);
        }
        aligner.start_run();
    }

    void pack(std::int64_t sample)
    {
        unfinished.samples.push_back(sample);
        if (unfinished.samples.size() == static_cast<std::size_t>(config.heap_samples)) {
            heaps.push_back(unfinished);
            unfinished = { unfinished.timestamp + stamp(config.timestamp_step), {} };
        }
    }

    void drop_unfinished()
    {
        dropped += real_samples(unfinished);
        unfinished.samples.clear();
    }

    static std::uint64_t real_samples(const placed_heap& heap)
    {
        std::uint64_t count = 0;
        for (const auto sample : heap.samples)
            count += sample != placed_heap::zero;
        return count;
    }

    std::uint64_t samples_out() const
    {
        std::uint64_t count = real_samples(unfinished);
        for (const auto& heap : heaps)
            count += real_samples(heap);
        return count;
    }
};

inline constexpr exact_rate megahertz{ 1000000 };
inline constexpr std::array gap_policies{ gap_policy::realign, gap_policy::zero_fill };

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_PLACED_STREAM_H */
