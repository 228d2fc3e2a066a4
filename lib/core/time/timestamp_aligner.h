/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TIMESTAMP_ALIGNER_H
#define INCLUDED_SPEAD_CORE_TIMESTAMP_ALIGNER_H

#include "sink_counters.h"
#include "tick_clock.h"

#include <cstdint>
#include <optional>

namespace gr::spead {

//! How to continue when a tag shows that samples are missing.
enum class gap_policy {
    realign,  //!< drop the unfinished heap; begin one at a multiple of timestamp_step
    zero_fill //!< pack zeros, even whole heaps; realign if the gap exceeds 10 s
};

struct timestamp_aligner_config {
    std::int64_t heap_samples;
    std::int64_t timestamp_step; //!< ticks per heap, at least 1
    exact_rate sample_rate;      //!< ticks per second
    gap_policy on_gap = gap_policy::realign;
};

//! What the caller must do before it packs the tagged sample. At most one member is set.
struct correction {
    //! drop the unfinished heap and its samples; the next heap has this timestamp, which
    //! is not masked to the bits of an item yet
    std::optional<std::uint64_t> next_heap;
    //! number of zero samples to pack
    std::uint64_t zeros = 0;
};

//! Warnings for the user. Each except the last is raised once per timestamp_aligner.
struct tag_warnings {
    bool no_tag = false;       //!< samples arrived before the first tag of a run
    double residual = 0;       //!< tag minus nearest sample, in samples, if above 0.1
    bool before_sync = false;  //!< a tag is earlier than tick 0
    bool out_of_range = false; //!< a tag is too far from tick 0, and ignored
    double jump = 0;           //!< discontinuity: tag minus expected place, in samples
    double late = 0;           //!< seconds to be dropped after a step back, if above 1
};

/*!
 * \brief Aligns the samples of one input with heap timestamps, as time tags demand.
 *
 * The caller packs the samples between two tags and reports them with advance(). At a
 * tag, it calls tag() and applies the correction first. While to_drop() is not 0, it
 * drops samples instead of packing them.
 *
 * - The first tag of a run sets the start: heaps begin at multiples of timestamp_step.
 *   Samples before the first multiple are dropped.
 * - Samples before any tag are counted from tick 0. The first tag still sets the start.
 * - A later tag at the expected place changes nothing. If it is later than expected,
 *   samples are missing, and gap_policy decides. If it is earlier, it is a step back.
 * - The timestamps of heaps only increase. After a step back, samples are dropped up to
 *   the place to be packed next, where the unfinished heap continues.
 * - Samples before tick 0 have no timestamp and are dropped.
 * - A new run begins after the last heap of the previous run, even if that heap was
 *   incomplete. Until its first tag, it continues to count from there. Samples with an
 *   earlier time are dropped.
 *
 * A heap has heap_samples samples in timestamp_step ticks, so a tick may differ from a
 * sample. A tag is rounded to the nearest sample; the remainder is the residual.
 *
 * Handles positions only, no sample data. Not thread-safe.
 */
class timestamp_aligner
{
public:
    timestamp_aligner(const timestamp_aligner_config& config, sink_counter_set& counts);

    //! Begins a run. The caller must have ended the last heap.
    void start_run();

    //! Records that the first to_drop() of \p samples were dropped, and the rest packed.
    void advance(std::uint64_t samples);

    //! Processes the tag of the next sample. The caller must apply the correction before
    //! its next call. \p heap_has_left: part of the unfinished heap may have been sent.
    correction tag(std::int64_t tick, double residual, bool heap_has_left);

    //! Number of samples to drop, beginning with the next one.
    std::uint64_t to_drop() const { return d_drop; }

    //! Returns the warnings raised since the last call.
    tag_warnings take_warnings();

private:
    // A place is a position in samples: 0 at tick 0. Heaps begin at multiples of
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

    bool d_tagged = false;       // this run has had a tag
    std::int64_t d_next = 0;     // place to be packed next
    bool d_counted = false;      // samples arrived before the first tag of this run
    std::int64_t d_seen = 0;     // place of the source at the end of the previous run
    std::uint64_t d_drop = 0;    // samples to drop before the one at d_next
    std::int64_t d_expected = 0; // place of the next sample according to the tags

    tag_warnings d_raised; // ever
    tag_warnings d_untold; // since the last take_warnings()
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TIMESTAMP_ALIGNER_H */
