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

//! A heap in which the value of each sample is its place.
struct placed_heap {
    //! a zero that fills a gap, not a place
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

//! Packs numbered samples as a timestamp_aligner demands, like the block.
struct placed_stream {
    timestamp_aligner_config config;
    sink_counter_set counters;
    timestamp_aligner aligner;

    std::int64_t place = 0;         // of the next sample from the source
    std::vector<placed_heap> heaps; // completed
    placed_heap unfinished;
    std::uint64_t samples_in = 0;
    std::uint64_t dropped = 0;
    std::uint64_t zero_filled = 0;
    bool heap_has_left = false; // part of the unfinished heap may have been sent

    explicit placed_stream(const timestamp_aligner_config& p)
        : config(p), aligner(p, counters), unfinished{ 0, {} }
    {
    }

    static std::uint64_t to_timestamp(std::int64_t ticks)
    {
        return static_cast<std::uint64_t>(ticks);
    }

    //! Moves the source to \p new_place and tags it, with an error of \p offset samples.
    correction tag(std::int64_t new_place, double offset = 0)
    {
        place = new_place;
        const double ticks = static_cast<double>(config.timestamp_step) /
                             static_cast<double>(config.heap_samples);
        const double exact = (static_cast<double>(place) + offset) * ticks;
        const double nearest = std::round(exact);
        const auto result = aligner.process_tag(
            static_cast<std::int64_t>(nearest), exact - nearest, heap_has_left);
        if (result.realign_timestamp) {
            drop_unfinished();
            unfinished.timestamp = *result.realign_timestamp;
        }
        for (std::uint64_t i = 0; i < result.zeros_to_pack; ++i)
            pack(placed_heap::zero);
        zero_filled += result.zeros_to_pack;
        return result;
    }

    void send(std::uint64_t samples)
    {
        for (std::uint64_t i = 0; i < samples; ++i, ++place) {
            if (aligner.samples_to_drop())
                ++dropped;
            else
                pack(place);
            aligner.advance(1);
        }
        samples_in += samples;
    }

    //! Sends tags, each with its place and the number of samples after it.
    void send_tagged(const std::vector<std::pair<std::int64_t, std::uint64_t>>& tagged)
    {
        for (const auto& [new_place, samples] : tagged) {
            tag(new_place);
            send(samples);
        }
    }

    //! Restarts the flow graph. An unfinished heap is dropped and uses up its
    //! timestamp.
    void restart()
    {
        if (!unfinished.samples.empty()) {
            drop_unfinished();
            unfinished.timestamp += to_timestamp(config.timestamp_step);
        }
        aligner.start_run();
    }

    void pack(std::int64_t sample)
    {
        unfinished.samples.push_back(sample);
        if (unfinished.samples.size() == static_cast<std::size_t>(config.heap_samples)) {
            heaps.push_back(unfinished);
            unfinished = { unfinished.timestamp + to_timestamp(config.timestamp_step),
                           {} };
        }
    }

    void drop_unfinished()
    {
        dropped += input_samples(unfinished);
        unfinished.samples.clear();
    }

    //! Number of samples that are not zeros.
    static std::uint64_t input_samples(const placed_heap& heap)
    {
        std::uint64_t count = 0;
        for (const auto sample : heap.samples)
            count += sample != placed_heap::zero;
        return count;
    }

    std::uint64_t samples_out() const
    {
        std::uint64_t count = input_samples(unfinished);
        for (const auto& heap : heaps)
            count += input_samples(heap);
        return count;
    }
};

inline constexpr exact_rate megahertz{ 1000000 };
inline constexpr std::array gap_policies{ gap_policy::realign, gap_policy::zero_fill };

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_PLACED_STREAM_H */
