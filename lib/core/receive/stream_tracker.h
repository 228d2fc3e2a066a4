/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_TRACKER_H
#define INCLUDED_SPEAD_CORE_STREAM_TRACKER_H

#include "heap_table.h"
#include "output_window.h"
#include "stream_time.h"
#include "support/rate_limited_log.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Decides whether a heap belongs to the received stream, and at which position.
 *
 * A heap fits if it begins where the newest one ends, if its heap counter and its
 * timestamp have advanced in the usual ratio of the stream, or if it is in order and
 * fills a gap in the window. The first heap of an output fits if it is near the window.
 * Any other timestamp is accepted if a second heap confirms it, or if the stream has been
 * silent. If several senders send to one output, only the first one is received.
 */
class stream_tracker
{
public:
    using clock = std::chrono::steady_clock;

    struct config {
        std::size_t outputs = 1;
        std::size_t sockets = 1;
        std::int64_t samples_per_step = 1; //!< in ticks_per_step ticks
        std::int64_t ticks_per_step = 1;
        std::int64_t max_gap = 0; //!< samples
        //! Heaps must begin at multiples of samples_per_step: with axes, vectors would
        //! otherwise hold samples of several times.
        bool is_aligned = false;
    };
    stream_tracker(const config& how,
                   const output_window& window,
                   const heap_table& heaps,
                   rate_limited_log& log);

    void start_run();
    //! Restarts, for heaps with timestamps or with heap counters only.
    void set_format(bool has_timestamps);

    enum class verdict {
        fits,        //!< continues the stream
        time_jump,   //!< accepted at an unexpected time, perhaps of a restarted sender
        new_stream,  //!< accepted as the first heap of a new stream
        late,        //!< its samples have already been produced
        misaligned,  //!< it does not begin at a multiple of samples_per_step
        unconfirmed, //!< waits until another heap confirms it
        other_sender //!< from another sender
    };
    //! Sets the position of a heap whose verdict is fits, time_jump or late.
    verdict classify(received_heap& heap, clock::time_point now);
    //! The waiting heap of an output, if another heap has confirmed it or if it fits now;
    //! else nullptr.
    const received_heap* confirmed(std::size_t output);
    //! Whether a heap begins more than max_gap after the end of the stream.
    bool exceeds_max_gap(const received_heap& heap) const;

    //! The end of the heaps that belong to the stream.
    std::int64_t end() const;
    //! Begins a stream with a heap, whose first sample gets this position.
    void begin_stream(received_heap& heap, std::int64_t position);
    //! Adds a heap to the stream.
    void append_heap(const received_heap& heap, clock::time_point now);
    //! Records that new samples of a heap have arrived.
    void record_progress(const received_heap& heap, clock::time_point now);
    //! Records an end-of-stream heap: the outputs that receive \p sender become silent.
    //! Returns whether there are any.
    bool note_end(std::uint64_t sender);

    //! Whether a sender is ignored on this socket because \p output (none: every output)
    //! receives another one.
    bool ignores_sender(std::size_t socket,
                        std::uint64_t sender,
                        std::optional<std::size_t> output,
                        clock::time_point now) const;
    //! The time without samples after which the sender of an output counts as stopped.
    clock::duration silence_timeout(std::size_t output) const
    {
        return d_tracks[output].silence_timeout;
    }
    bool is_running() const { return d_is_running; }
    std::uint64_t tick_at(std::int64_t position) const
    {
        return d_time.tick_at(position);
    }

    //! After the verdict misaligned: the ticks from heap to heap of this output; 0: not
    //! known yet.
    std::uint64_t ticks_per_heap(std::size_t output) const
    {
        const auto& seen = d_tracks[output].seen;
        return seen.repeats >= repeats_of_hint ? seen.ticks : 0;
    }

    //! After the verdict other_sender: the immediate item whose value differed. None:
    //! only the source address did.
    std::optional<std::size_t> item_that_differs() const { return d_difference; }

private:
    // A stream is silent when no new samples have arrived for this long, or for three
    // times its longest pause if that is longer, up to max_silence_timeout.
    static constexpr std::chrono::milliseconds min_silence_timeout{ 100 };
    // Fewer equal steps may be due to lost heaps.
    static constexpr std::int64_t repeats_of_hint = 8;

    // The timestamps of all heaps, accepted or not.
    struct seen_timestamps {
        std::optional<std::uint64_t> last;
        std::uint64_t ticks = 0;  // greatest common divisor of the steps
        std::int64_t repeats = 0; // number of steps that did not change it
    };

    // The distance from one heap to the next.
    struct step {
        std::int64_t counters = 0;
        std::int64_t samples = 0;

        bool operator==(const step& other) const
        {
            return counters == other.counters && samples == other.samples;
        }
    };
    // The stream of an output.
    struct track {
        std::optional<received_heap> newest;
        std::optional<received_heap> pending; // does not fit; awaits confirmation
        bool is_confirmed = false;            // another heap confirms the pending one
        seen_timestamps seen;
        step last;
        std::int64_t repeats = 0; // of the last step
        step usual;               // seen twice in a row, or between adjacent heaps
        std::vector<std::uint64_t> senders; // per socket; 0: none yet
        // the immediate item that has other values in heaps of other senders
        std::optional<std::size_t> lock_item;
        // per immediate item: changes from heap to heap, so cannot distinguish senders
        std::vector<bool> varies;
        clock::time_point last_fresh{};
        clock::duration silence_timeout =
            min_silence_timeout; // after it, the sender counts as stopped
    };

    static bool
    has_other_address(std::size_t socket, std::uint64_t sender, const track& of);
    bool is_other_sender(const received_heap& heap,
                         track& of,
                         bool has_position,
                         clock::time_point now);
    bool is_silent(const track& of, clock::time_point now) const;
    bool set_position(received_heap& heap, const track& of) const;
    std::optional<std::int64_t> expected_position(const received_heap& heap,
                                                  const track& of) const;
    std::optional<std::int64_t> distance(const received_heap& from,
                                         const received_heap& to) const;
    bool has_wrapped(const received_heap& heap) const;
    bool continues(const received_heap& heap, const track& of) const;
    bool fits(const received_heap& heap, const track& of) const;
    bool confirms_pending(const received_heap& heap, const track& of) const;
    void check_step(const received_heap& heap, const track& of);
    bool is_aligned(const received_heap& heap) const
    {
        return !d_config.is_aligned || heap.position % d_config.samples_per_step == 0;
    }
    static void note_timestamp(const received_heap& heap, track& of);

    const config d_config;
    const output_window& d_window;
    const heap_table& d_heaps;
    rate_limited_log& d_log;
    stream_time d_time;
    std::vector<track> d_tracks;
    bool d_has_timestamps = true;
    std::int64_t d_heap_samples = 0; // heap length, in streams without timestamps
    bool d_is_running = false;
    std::optional<std::size_t> d_difference;
    bool d_has_reported_mismatch = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_TRACKER_H */
