/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TIMELINE_H
#define INCLUDED_SPEAD_CORE_TIMELINE_H

#include "sink_counters.h"
#include "tick_clock.h"

#include <cstdint>
#include <optional>

namespace gr::spead {

//! What becomes of the heaps when a tag says that samples are missing.
enum class gap_policy {
    realign,  //!< leave the unfinished heap, begin another as at the start
    zero_fill //!< zeros for what is missing, whole heaps too; realign beyond 10 s
};

struct timeline_config {
    std::int64_t heap_samples;
    std::int64_t timestamp_step; //!< ticks per heap, at least 1
    exact_rate sample_rate;      //!< ticks per second
    gap_policy on_gap = gap_policy::realign;
};

//! What is to be done before the tagged sample is taken: nothing, or one of these.
struct correction {
    //! the unfinished heap is left, and its samples dropped; the next heap has this
    //! timestamp, to be masked to the bits of an item
    std::optional<std::uint64_t> next_heap;
    //! samples of zeros to pack
    std::uint64_t zeros = 0;
};

//! What the user should know; each but the last once in the life of a timeline.
struct tag_warnings {
    bool no_tag = false;       //!< samples came without a tag before them
    double residual = 0;       //!< samples from the nearest to a tag, if more than 0.1
    bool before_sync = false;  //!< a tag has a time before tick 0
    bool out_of_range = false; //!< a tag is too far from tick 0 to be used
    double jump = 0;           //!< samples from where samples were to a tag
    double late = 0;           //!< s that will be dropped after a step back, if above 1
};

/*!
 * \brief What becomes of the samples of one input when tags say where they belong.
 *
 * The caller packs runs of samples between tags, says advance() for each, and asks tag()
 * at a tag what to do first. While to_drop() is not 0 it drops samples instead of packing
 * them.
 *
 * - The first tag of a run is a start: heaps begin at multiples of timestamp_step.
 *   Samples before the first multiple are dropped.
 * - Without a tag, samples are counted from tick 0. The first tag is a start
 *   nevertheless.
 * - A later tag at the sample where it was expected changes nothing. Otherwise samples
 *   are missing, and gap_policy decides, or they came before.
 * - The timestamps of heaps only grow. Samples that would go back are dropped up to the
 *   one that is expected next, which continues the unfinished heap.
 * - Times before tick 0 have no timestamp: those samples are dropped.
 * - A new run begins behind the last heap of the run before, which may have been
 *   unfinished. Until its first tag it counts on from there; samples whose time lies
 *   before are dropped.
 *
 * A heap has heap_samples samples in timestamp_step ticks: a tick need not be a sample.
 * Samples go to the nearest place; the rest is the residual.
 *
 * Knows no samples, only where they are. One thread.
 */
class timeline
{
public:
    timeline(const timeline_config& config, sink_counter_set& counts);

    //! The flow graph has been started again. The caller has ended the last heap.
    void start_run();

    //! So many samples have been packed or, as far as they were to_drop(), dropped.
    void advance(std::uint64_t samples);

    //! The next sample has this time. What is said is to be done before the next call.
    //! \p heap_has_left: a part of the unfinished heap may have been sent.
    correction tag(std::int64_t tick, double residual, bool heap_has_left);

    //! So many samples, from the next one on, are to be dropped.
    std::uint64_t to_drop() const { return d_drop; }

    //! What there is to say since the last call.
    tag_warnings take_warnings();

private:
    // A place is counted in samples: 0 at tick 0, heaps begin at multiples of
    // heap_samples.
    struct tagged_place {
        std::int64_t nearest;
        double residual;
    };

    std::optional<tagged_place> place_of(std::int64_t tick, double residual) const;
    bool is_expected(const tagged_place& place) const;
    correction start(std::int64_t place, bool heap_has_left);
    correction close_gap(std::int64_t place);
    correction begin_at(std::int64_t place);
    void note_jump(std::int64_t place);
    void note_loss(std::int64_t place);
    std::int64_t heap_before(std::int64_t place) const;
    std::int64_t heap_after(std::int64_t place) const;
    template <typename type>
    void raise(type tag_warnings::*notice, type value);

    const std::int64_t d_heap;
    const std::int64_t d_step;
    const gap_policy d_on_gap;
    const double d_samples_per_second;
    sink_counter_set& d_counters;

    bool d_tagged = false;       // in this run
    std::int64_t d_next = 0;     // the place that is packed next
    bool d_counted = false;      // in this run, samples before a tag
    std::int64_t d_seen = 0;     // where the source was at the end of the run before
    std::uint64_t d_drop = 0;    // samples that come before the one for that place
    std::int64_t d_expected = 0; // where the next sample is according to tags

    tag_warnings d_raised; // so far
    tag_warnings d_untold;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TIMELINE_H */
