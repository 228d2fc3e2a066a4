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
 * \brief Decides whether a heap belongs to the stream that is being received, and where.
 *
 * A heap fits if it begins where the newest one ends, or if its counter and its time have
 * advanced in the proportion that the stream has had so far. Any other time is believed
 * when a second heap agrees with it, or when the stream has been silent. Of several
 * senders on one output the first one is received.
 */
class stream_tracker
{
public:
    using clock = std::chrono::steady_clock;

    struct config {
        std::size_t outputs = 1;
        std::size_t sockets = 1;
        std::int64_t samples_per_step = 1; //!< samples in ticks_per_step ticks
        std::int64_t ticks_per_step = 1;
        std::int64_t max_gap = 0; //!< samples
    };
    stream_tracker(const config& how,
                   const output_window& window,
                   const heap_table& heaps,
                   rate_limited_log& log);

    void start_run();
    //! Heaps have timestamps, or only counters.
    void set_format(bool has_timestamps);

    enum class verdict {
        fits,   //!< has its place in the stream
        jumps,  //!< is believed: perhaps the sender has started again
        begins, //!< is believed, and a stream begins with it
        late,   //!< its samples have been produced
        wait,   //!< until another heap agrees
        other   //!< of another sender
    };
    //! Sets the position of a heap that has its place in the stream, or had it.
    verdict classify(received_heap& heap, clock::time_point now);
    //! The heap that waits, if another one agrees with it or if it fits now; otherwise
    //! nullptr.
    const received_heap* confirmed(std::size_t output);
    //! Whether a heap begins more than max_gap behind the stream.
    bool is_far(const received_heap& heap) const;

    //! The end of the heaps that belong to the stream.
    std::int64_t end() const;
    //! A stream begins with a heap, whose first sample has this position.
    void begin_stream(received_heap& heap, std::int64_t position);
    //! Adds a heap to the stream.
    void add(const received_heap& heap, clock::time_point now);
    //! Samples of a heap have come that had not come before.
    void note_fresh(const received_heap& heap, clock::time_point now);
    //! An end-of-stream heap has come: any time may follow, of any sender. Whether the
    //! sender is one of those that are received.
    bool note_end(std::uint64_t sender);

    //! Whether a sender is ignored on this socket, since all outputs, or \p output,
    //! receive another one.
    bool ignores_sender(std::size_t socket,
                        std::uint64_t sender,
                        std::optional<std::size_t> output,
                        clock::time_point now) const;
    //! After how long without samples the sender of an output has stopped.
    clock::duration silence(std::size_t output) const { return d_tracks[output].silence; }
    bool is_running() const { return d_is_running; }
    std::uint64_t tick_at(std::int64_t position) const
    {
        return d_time.tick_at(position);
    }

    //! Of the heap that was ignored last because of another sender: the immediate item
    //! whose values differ. None: only the source address does.
    std::optional<std::size_t> item_that_differs() const { return d_difference; }

private:
    // A stream is silent when nothing new has come for so long, or for three times its
    // longest pause so far.
    static constexpr std::chrono::milliseconds shortest_silence{ 100 };

    // From a heap to the next one.
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
        std::optional<received_heap> pending; // does not fit, until another one agrees
        bool is_agreed = false;               // with the pending one
        step last;
        step usual;                         // of which there were two in a row
        std::vector<std::uint64_t> senders; // of each socket; 0: none yet
        std::optional<std::size_t>
            lock_item; // has other values in heaps of other senders
        // of each immediate item: it changes from heap to heap, and so does not tell
        // senders apart
        std::vector<bool> varies;
        clock::time_point last_fresh{};
        clock::duration silence = shortest_silence; // means that the sender has stopped
    };

    static bool
    has_other_address(std::size_t socket, std::uint64_t sender, const track& of);
    bool is_other_sender(const received_heap& heap,
                         track& of,
                         bool has_position,
                         clock::time_point now);
    bool is_silent(const track& of, clock::time_point now) const;
    bool set_position(received_heap& heap, const track& of) const;
    std::optional<std::int64_t> distance(const received_heap& from,
                                         const received_heap& to) const;
    bool has_wrapped(const received_heap& heap) const;
    bool continues(const received_heap& heap, const track& of) const;
    bool fits(const received_heap& heap, const track& of) const;
    bool agrees(const received_heap& heap, const track& of) const;
    void check_step(const received_heap& heap, const track& of);

    const config d_config;
    const output_window& d_window;
    const heap_table& d_heaps;
    rate_limited_log& d_log;
    stream_time d_time;
    std::vector<track> d_tracks;
    bool d_has_timestamps = true;
    std::int64_t d_heap_samples = 0; // of a stream without timestamps
    bool d_is_running = false;
    std::optional<std::size_t> d_difference;
    bool d_has_reported_mismatch = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_TRACKER_H */
