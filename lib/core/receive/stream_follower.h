/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_FOLLOWER_H
#define INCLUDED_SPEAD_CORE_STREAM_FOLLOWER_H

#include "heap_slots.h"
#include "no_output_reason.h"
#include "output_window.h"
#include "receive_config.h"
#include "receive_counters.h"
#include "sender_lock.h"
#include "sender_memory.h"
#include "support/rate_limited_log.h"
#include "timeline.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Follows the stream of each output: decides whether a heap belongs to it, and
 * begins, continues and ends streams.
 *
 * Holds a heap whose time is unexpected until another one agrees with it.
 *
 * What a heap does to its stream depends on what the stream, its senders and the held
 * heap were before: the decision and its consequences share all of that.
 */
class stream_follower
{
public:
    using time_point = std::chrono::steady_clock::time_point;
    using verdict = timeline::verdict;

    //! The arguments must outlive this object. \p format: the current one.
    stream_follower(const receive_config& config,
                    const indexed_format& format,
                    heap_slots& slots,
                    output_window& window,
                    sender_memory& senders,
                    common_counter_set& common_counters,
                    no_output_reason& reason,
                    rate_limited_log& log);

    void start_run();
    void forget_end_of_stream() { d_end_of_stream = {}; }
    //! Starts over after the format of the samples has changed.
    void restart(const sample_group& group);

    //! \name Heaps
    //! \{

    enum class decision { place, hold, refuse };
    //! Judges a heap with all items: sets its output, its time and its verdict. A heap
    //! that is held becomes ready again once another one agrees with it.
    decision decide(heap_slot& slot, time_point now);
    //! The held heap with which another one agrees; nullptr if there is none. It must be
    //! judged first, since the other one may only fit after it.
    heap_slot* confirmed() const { return d_confirmed_slot; }
    //! A heap is judged again, or not used any more.
    void forget(const heap_slot& slot);
    //! Whether the held heap may come from a restart after which the sender reuses the
    //! counter of this placed heap.
    bool has_held_restart(const heap_slot& slot) const;
    //! Adds an accepted heap to the stream. False if samples must be produced before.
    bool enter(heap_slot& slot, time_point now);
    //! Prepares for samples after a gap within their heap. False if samples must be
    //! produced before.
    bool skip_gap(const position_range& range);
    //! Tells that samples at or after the start of the output have arrived, if they have.
    void note_position(position_range range)
    {
        if (range.end > 0)
            d_awaits_start = false;
    }
    //! Samples before the start of the output have arrived.
    void note_early(position_range range);
    //! Records that new samples of a heap have arrived.
    void record_progress(const heap_slot& slot, time_point arrival)
    {
        d_timeline.record_progress(slot.time, slot.output, arrival);
    }

    //! \}
    //! \name Senders
    //! \{

    //! Whether all outputs that a heap may be for receive another sender.
    bool is_ignored_sender(const heap_id& heap, std::size_t source, time_point now) const;
    //! Whether heaps of another sender arrive, which has described them itself.
    //! Descriptors may also come from a sender without heaps.
    bool receives_other_descriptions(const heap_slot& slot, time_point now) const;
    //! Whether heaps of a sender have been accepted.
    bool has_admitted(std::uint64_t sender) const;
    //! The accepted heap of a sender with the latest counter; none if there is none.
    std::optional<heap_time> newest(std::uint64_t sender) const;
    //! Whether the sender of a heap has ended its stream, or may have, as no packet of
    //! the heap has arrived for long.
    bool is_expired(const heap_slot& slot, time_point now) const;

    //! Takes an end-of-stream heap. It ends the run if heaps of its sender arrived in the
    //! run; \p is_latest: packets of it were the last ones to arrive. \p is_in_order: no
    //! heap before it waits.
    void note_end_of_stream(const heap_id& heap,
                            time_point time,
                            bool is_latest,
                            bool is_in_order);
    //! Whether an end-of-stream heap of the stream has arrived in this run.
    bool has_stopped() const { return d_has_stopped; }

    //! \}

    bool is_running() const { return d_timeline.is_running(); }
    //! Whether later heaps of its output have been accepted.
    bool is_before_newest(const heap_slot& slot) const
    {
        return d_timeline.is_before_newest(slot.time, slot.output);
    }
    //! The end position of the heaps that have begun to arrive.
    std::int64_t stream_end() const { return d_timeline.stream_end(d_window.top()); }
    //! Must be called in the order of positions.
    std::uint64_t tick_at(std::int64_t position) { return d_timeline.tick_at(position); }

private:
    using state = heap_slot::state;
    using cause = no_output_reason::cause;

    std::optional<verdict> verdict_of(heap_slot& slot, time_point now);
    void hold(heap_slot& slot);
    bool has_usable_items(heap_slot& slot);
    bool select_output(heap_slot& slot) const;
    bool has_other_sender(const heap_slot& slot, bool is_located, time_point now);
    void withdraw_others(std::size_t output, time_point now);
    timeline::heap_context context_of(const heap_slot& slot) const;
    void begin_stream(heap_slot& slot, time_point now);
    void skip_to(std::int64_t position);
    void release_held(const heap_slot& accepted);
    void drop_older(const heap_slot& accepted, bool is_new_stream);
    void log_misaligned(std::size_t output);
    void log_mismatch();

    const receive_config& d_config;
    const indexed_format& d_format;
    heap_slots& d_slots;
    output_window& d_window;
    sender_memory& d_senders;
    common_counter_set& d_common_counters;
    no_output_reason& d_no_output_reason;
    rate_limited_log& d_log;

    timeline d_timeline;
    std::vector<sender_lock> d_locks;      // per output
    std::vector<heap_slot*> d_held_slots;  // per output: the one that the timeline holds
    heap_slot* d_confirmed_slot = nullptr; // a held one, to be judged first
    sample_group d_group{ sample_format() };
    bool d_awaits_start = false; // of the stream that begins at config::start_tick
    bool d_has_stopped = false;
    heap_id d_end_of_stream; // last end-of-stream heap
    time_point d_end_of_stream_time{};
    bool d_has_logged_misaligned = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_FOLLOWER_H */
