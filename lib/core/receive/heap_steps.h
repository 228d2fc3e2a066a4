/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_STEPS_H
#define INCLUDED_SPEAD_CORE_HEAP_STEPS_H

#include <algorithm>
#include <cstdint>
#include <optional>

namespace gr::spead {

/*!
 * \brief How heap counters and positions of an output run.
 *
 * A sender may give the items in the first packet of a heap only. If that is lost, the
 * place of the heap follows from its heap counter, once the heap before it or heaps on
 * both sides are known. Behind a gap it does not: heaps without samples, such as those
 * with descriptors, have counters, too, and may be lost unseen. Nor does it behind the
 * last heap if others have counters in between.
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

    explicit heap_steps(bool shares_counters = false) : d_shares_counters(shares_counters)
    {
    }

    void reset()
    {
        d_seen = 0;
        d_awaited.reset();
    }

    //! A heap with a timestamp. False if the sender has started again: times go on, and
    //! counters do not.
    bool add(const heap& next)
    {
        const auto counters = static_cast<std::int64_t>(next.counter - d_last.counter);
        const auto samples = next.position - d_last.position;
        const bool is_near =
            counters <= farthest_counter && counters >= -farthest_counter &&
            samples <= farthest_position && samples >= -farthest_position;
        const bool is_forward = counters > 0 && samples > 0;
        const bool is_back = counters <= 0 && samples <= 0;
        const bool has_restarted = d_seen && counters <= 0 && samples > 0;
        if (!is_near || (!is_forward && !is_back))
            reset(); // another sender, or a wrong one
        if (!d_seen)
            d_first = next.counter;
        else if (is_forward) {
            // a heap in between may be lost
            const bool is_same = d_seen > 1 && counters % d_counters == 0 &&
                                 counters / d_counters * d_samples == samples;
            if (!is_same) {
                d_seen = 1;
                d_first = d_last.counter;
                d_counters = counters;
                d_samples = samples;
            }
        } else
            return true;
        d_seen = d_seen < 3 ? d_seen + 1 : d_seen;
        d_last = next;
        return !has_restarted;
    }

    //! A heap of the same length as the last one; none if its place is not certain.
    std::optional<heap> find(std::uint64_t counter, std::uint64_t bytes) const
    {
        const auto distance = distance_to(counter);
        if (!is_in_step(counter, bytes) || distance > reach() ||
            distance < std::max(distance_to(d_first), -farthest_counter))
            return std::nullopt;
        auto found = d_last;
        found.counter = counter;
        found.position += distance / d_counters * d_samples;
        return found;
    }

    //! The place of this heap may be certain when a later one has been added. Of several,
    //! the first one is awaited.
    void await(std::uint64_t counter, std::uint64_t bytes)
    {
        const auto distance = distance_to(counter);
        const bool may_be_found = is_in_step(counter, bytes) && distance > reach() &&
                                  distance <= farthest_counter;
        if (may_be_found && (!d_awaited || distance < distance_to(*d_awaited)))
            d_awaited = counter;
    }
    //! Whether the later one has come; once.
    bool take_awaited()
    {
        const bool has_come = d_awaited && distance_to(*d_awaited) <= 0;
        if (has_come)
            d_awaited.reset();
        return has_come;
    }

private:
    std::int64_t distance_to(std::uint64_t counter) const
    {
        return static_cast<std::int64_t>(counter - d_last.counter);
    }
    // behind the last heap, in counters
    std::int64_t reach() const { return d_shares_counters || d_counters > 1 ? 0 : 1; }
    bool is_in_step(std::uint64_t counter, std::uint64_t bytes) const
    {
        return d_seen >= 3 && bytes == d_last.bytes &&
               distance_to(counter) % d_counters == 0;
    }

    // Their product fits into 63 bits.
    static constexpr std::int64_t farthest_counter = 1 << 20;
    static constexpr std::int64_t farthest_position = std::int64_t{ 1 } << 40;

    bool d_shares_counters;
    int d_seen = 0; // heaps in steps of one kind; 3 are enough
    heap d_last;
    std::uint64_t d_first = 0;   // counter of the first heap in these steps
    std::int64_t d_counters = 1; // of a step
    std::int64_t d_samples = 0;
    std::optional<std::uint64_t> d_awaited; // counter
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_STEPS_H */
