/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_STEPS_H
#define INCLUDED_SPEAD_CORE_HEAP_STEPS_H

#include <cstdint>
#include <optional>

namespace gr::spead {

/*!
 * \brief How heap counters and positions of an output run.
 *
 * A sender may give the items in the first packet of a heap only. If that is lost, the
 * place of the heap follows from its heap counter.
 */
class heap_steps
{
public:
    struct heap {
        std::uint64_t counter = 0;
        std::int64_t position = 0; // samples
        std::uint64_t bytes = 0;   // length of the heap
        // of the samples in its payload
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    void reset() { d_seen = 0; }

    //! A heap with a timestamp.
    void add(const heap& next)
    {
        const auto counters = static_cast<std::int64_t>(next.counter - d_last.counter);
        const auto samples = next.position - d_last.position;
        const bool is_near =
            counters <= farthest_counter && counters >= -farthest_counter &&
            samples <= farthest_position && samples >= -farthest_position;
        if (!is_near)
            d_seen = 0; // another sender, or a wrong one
        else if (d_seen && counters > 0) {
            // a heap in between may be lost
            const bool is_same = d_seen > 1 && counters % d_counters == 0 &&
                                 counters / d_counters * d_samples == samples;
            if (!is_same) {
                d_seen = 1;
                d_counters = counters;
                d_samples = samples;
            }
        } else if (d_seen)
            return;
        d_seen = d_seen < 3 ? d_seen + 1 : d_seen;
        d_last = next;
    }

    //! A heap of the same length as the last one; none if the steps are not known.
    std::optional<heap> find(std::uint64_t counter, std::uint64_t bytes) const
    {
        const auto distance = static_cast<std::int64_t>(counter - d_last.counter);
        if (d_seen < 3 || bytes != d_last.bytes || distance > farthest_counter ||
            distance < -farthest_counter || distance % d_counters != 0)
            return std::nullopt;
        auto found = d_last;
        found.counter = counter;
        found.position += distance / d_counters * d_samples;
        return found;
    }

private:
    // Their product fits into 63 bits.
    static constexpr std::int64_t farthest_counter = 1 << 20;
    static constexpr std::int64_t farthest_position = std::int64_t{ 1 } << 40;

    int d_seen = 0; // heaps in steps of one kind; 3 are enough
    heap d_last;
    std::int64_t d_counters = 1; // of a step
    std::int64_t d_samples = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_STEPS_H */
