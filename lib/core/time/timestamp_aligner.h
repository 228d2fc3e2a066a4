/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TIMESTAMP_ALIGNER_H
#define INCLUDED_SPEAD_CORE_TIMESTAMP_ALIGNER_H

#include "support/sink_counters.h"
#include "tick_clock.h"

#include <cstdint>
#include <optional>

namespace gr::spead {

//! How to continue when a tag shows that samples are missing.
enum class gap_policy {
    realign,  //!< drop the unfinished heap; begin another at a multiple of timestamp_step
    zero_fill //!< pack zeros in place of missing samples; realign if the gap exceeds 10 s
};

struct timestamp_aligner_config {
    std::int64_t heap_samples;
    std::int64_t timestamp_step; //!< ticks per heap, at least 1
    exact_rate sample_rate;      //!< ticks per second
    gap_policy on_gap = gap_policy::realign;
};

//! What the caller must do before it packs the tagged sample: one of these, or nothing.
struct correction {
    //! drop the unfinished heap; this is the timestamp of the next one, not yet truncated
    //! to heap_address_bits
    std::optional<std::uint64_t> realign_timestamp;
    //! number of zero samples to pack
    std::uint64_t zeros_to_pack = 0;
};

//! Warnings for the user; 0 or false: none. Each except drop_seconds is raised once.
struct tag_warnings {
    bool no_tag = false;       //!< samples arrived before the first tag of a run
    double residual = 0;       //!< tag minus its sample, in samples, if beyond +-0.1
    bool before_sync = false;  //!< a tag is earlier than tick 0
    bool out_of_range = false; //!< a tag is too far from tick 0, and was ignored
    double jump_samples = 0;   //!< tag minus expected position, unless below -1 s
    double jitter_samples = 0; //!< the same, if small and opposite to a small jump before
    double drop_seconds = 0;   //!< how much a step back drops, if more than 1 s
};

/*!
 * \brief Aligns the samples of one input with heap timestamps, according to time tags.
 *
 * The caller packs the samples between two tags and reports them with advance(). At a
 * tag, it calls process_tag() and applies the correction before it packs the tagged
 * sample. It drops the next samples_to_drop() samples instead of packing them.
 *
 * - The first tag of a run sets the time. Heaps begin at multiples of timestamp_step;
 *   samples between the tag and the first multiple are dropped.
 * - Samples before the first tag are packed: in the first run as if the first of them
 *   were at tick 0, in later runs from the first heap after the previous run.
 * - A further tag with the expected time changes nothing. A later time means that samples
 *   are missing: on_gap says how to continue. An earlier time is a step back.
 * - The timestamps of heaps always increase, across runs too. After a step back, samples
 *   are dropped until their time is that of the next sample to be packed; the unfinished
 *   heap then continues.
 * - Samples before tick 0 have no timestamp and are dropped.
 *
 * A heap has heap_samples samples in timestamp_step ticks, so a tick may be shorter or
 * longer than a sample. A tag belongs to the expected sample, if within 0.6 samples, or
 * to the nearest one; the residual is the rest.
 *
 * Handles positions only, no sample data. A position is a number of samples since tick 0.
 * Not thread-safe.
 */
class timestamp_aligner
{
public:
    timestamp_aligner(const timestamp_aligner_config& config, sink_counter_set& counters);

    //! Begins a run. The caller must have sent or dropped the unfinished heap.
    void start_run();

    //! Records that the next \p samples were packed, except for the first
    //! samples_to_drop(), which were dropped.
    void advance(std::uint64_t samples);

    //! Processes the tag of the next sample, at \p tick plus \p tick_residual ticks. The
    //! caller must apply the correction before it calls another member.
    //! \p heap_is_partly_sent: packets of the unfinished heap may have been sent.
    correction
    process_tag(std::int64_t tick, double tick_residual, bool heap_is_partly_sent);

    //! Number of samples to drop, beginning with the next one.
    std::uint64_t samples_to_drop() const { return d_to_drop; }

    //! Returns the warnings raised since the last call.
    tag_warnings take_warnings();

private:
    struct tagged_position {
        std::int64_t nearest;
        double residual; // in samples
    };

    std::optional<tagged_position> position_of(std::int64_t tick,
                                               double tick_residual) const;
    bool is_expected(const tagged_position& position) const;
    correction start(std::int64_t position, bool heap_is_partly_sent);
    correction close_gap(std::int64_t position);
    correction begin_at(std::int64_t position);
    void note_jump(std::int64_t position);
    void note_loss(std::int64_t position);
    std::int64_t round_down_to_heap(std::int64_t position) const;
    std::int64_t round_up_to_heap(std::int64_t position) const;
    template <typename type>
    void raise(type tag_warnings::*warning, type value);

    const std::int64_t d_heap_samples;
    const std::int64_t d_timestamp_step;
    const gap_policy d_on_gap;
    const double d_samples_per_second;
    sink_counter_set& d_counters;

    bool d_has_tag = false;          // this run has had a tag
    std::int64_t d_next = 0;         // position to be packed next
    bool d_has_untagged = false;     // samples arrived before the first tag of this run
    std::int64_t d_previous_end = 0; // where the previous run ended, by its tags if any
    std::uint64_t d_to_drop = 0;     // samples to drop before the one at d_next
    std::int64_t d_expected = 0;     // position of the next sample, according to the tags
    double d_last_small_jump = 0;    // last jump of a few samples

    tag_warnings d_raised;       // ever
    tag_warnings d_new_warnings; // since the last take_warnings()
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TIMESTAMP_ALIGNER_H */
