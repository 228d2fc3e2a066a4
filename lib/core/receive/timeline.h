/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TIMELINE_H
#define INCLUDED_SPEAD_CORE_TIMELINE_H

#include "missing_ranges.h"
#include "stream_time.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

//! The packets of one heap, and repeated packets, arrive within this time.
constexpr std::chrono::seconds heap_timeout{ 1 };

//! What places a heap in time.
struct heap_time {
    std::uint64_t counter = 0;
    unsigned address_bits = 48;   //!< at which counters wrap
    std::uint64_t timestamp = 0;  //!< without a timestamp item: 0
    unsigned timestamp_bits = 64; //!< at which timestamps wrap
    std::int64_t length = 0;      //!< samples
    bool is_length_known = true;  //!< otherwise, the length is a lower bound
    std::int64_t position = 0;    //!< of its first sample, from locate()

    position_range range() const { return { position, position + length }; }
    //! The heap counter minus that of \p other: signed, modulo 2^address_bits.
    std::int64_t counters_from(const heap_time& other) const
    {
        const unsigned unused = 64 - address_bits;
        return static_cast<std::int64_t>((counter - other.counter) << unused) >> unused;
    }
    bool is_same(const heap_time& other) const
    {
        return counter == other.counter && timestamp == other.timestamp;
    }
};

/*!
 * \brief Decides whether a heap belongs to the received stream, and at which position.
 *
 * A heap fits if it begins where the newest one ends, if its heap counter and its
 * timestamp have advanced in the learned ratio of the stream, or if it is in order and
 * fills a gap. The first heap of an output fits if it is near the other outputs. Any
 * other time is believed if a second heap agrees with it, or if the stream was silent.
 */
class timeline
{
public:
    using time_point = std::chrono::steady_clock::time_point;
    using duration = std::chrono::steady_clock::duration;

    struct config {
        std::size_t outputs = 1;
        std::size_t sources = 1;           //!< of packets: sockets or captures
        std::int64_t samples_per_step = 1; //!< in ticks_per_step ticks
        std::int64_t ticks_per_step = 1;
        std::int64_t max_gap = 0; //!< samples
        //! Heaps must begin at multiples of samples_per_step: with axes, vectors would
        //! otherwise hold samples of several times.
        bool is_aligned = false;
        //! Time of the first output sample of a run; none: that of the first heap.
        std::optional<std::uint64_t> start_tick = std::nullopt;
    };
    explicit timeline(const config& settings);

    void start_run();
    //! Restarts, for heaps with timestamps or with heap counters only.
    void set_format(bool has_timestamps);

    //! The samples that have arrived in the output of a heap, and its sender.
    struct heap_context {
        std::int64_t front;            //!< begin of the samples not produced yet
        std::int64_t top;              //!< end of the last sample in any output
        std::int64_t capacity;         //!< longest distance between both
        const missing_ranges* missing; //!< of this output
        bool is_known_sender;          //!< that of the heap has been received before
    };
    enum class verdict {
        fits,         //!< continues the stream
        jump,         //!< continues at an unexpected time, perhaps of a restarted sender
        new_stream,   //!< the first heap of a new stream
        late,         //!< its samples have already been produced
        misaligned,   //!< it does not begin at a multiple of samples_per_step
        hold,         //!< another heap must agree first
        confirms_held //!< agrees with the one that is held: accept that one first
    };
    //! Sets the position of a heap. False if it has none in the current stream.
    bool locate(heap_time& heap, std::size_t output) const;
    //! Classifies a heap. \p is_located: what locate() returned.
    verdict classify(const heap_time& heap,
                     bool is_located,
                     std::size_t output,
                     const heap_context& context,
                     time_point now) const;
    //! Classifies a heap that must be believed, as another one agrees with it: jump or
    //! new_stream.
    verdict classify_confirmed(const heap_time& heap,
                               bool is_located,
                               std::size_t output,
                               const heap_context& context) const;

    //! Holds a heap until another one agrees with it. Replaces the one held before.
    void hold(const heap_time& heap, std::size_t output)
    {
        d_tracks[output].held_heap = heap;
    }
    //! The number of samples from tick 0 to the first heap of a stream.
    std::int64_t samples_since_0(const heap_time& heap) const;
    //! The position of a heap in a stream that begins at config::start_tick: negative if
    //! the heap is earlier.
    std::int64_t position_from_start(const heap_time& heap) const;
    //! Begins a stream with a heap, whose first sample gets its position.
    void begin_stream(heap_time& heap) { begin_stream(heap, tick_of(heap)); }
    //! Begins a stream whose position 0 has the time config::start_tick. Sets the
    //! position of the heap.
    void begin_stream_at_start(heap_time& heap);
    struct addition {
        bool is_newest; //!< the heap is the newest one of its output
        bool is_next;   //!< and follows the one before in the learned step
    };
    //! Adds an accepted heap.
    addition add(const heap_time& heap, std::size_t output, time_point now);
    //! Records that new samples of a heap have arrived.
    void record_progress(const heap_time& heap, std::size_t output, time_point now);
    //! Treats an output as silent from now on: its sender has ended its stream.
    void end_stream(std::size_t output) { d_tracks[output].last_new_sample = {}; }

    bool is_running() const { return d_is_running; }
    //! The newest accepted heap of an output; none before the first one.
    const std::optional<heap_time>& newest(std::size_t output) const
    {
        return d_tracks[output].newest;
    }
    //! Whether later heaps of its output have been accepted.
    bool is_before_newest(const heap_time& heap, std::size_t output) const
    {
        const auto& newest = d_tracks[output].newest;
        return newest && heap.position < newest->position;
    }
    //! Whether a heap is adjacent to the newest one of its output, or as far from it as
    //! the heap counters imply.
    bool continues(const heap_time& heap, std::size_t output, std::int64_t capacity) const
    {
        return continues(heap, d_tracks[output], capacity);
    }
    //! Whether no new samples have arrived for so long that the sender counts as stopped.
    bool is_silent(std::size_t output, time_point now) const;
    duration silence_timeout(std::size_t output) const
    {
        return d_tracks[output].silence_timeout;
    }
    //! Whether a heap begins more than max_gap after the end of the stream.
    bool exceeds_max_gap(const heap_time& heap, std::int64_t top) const
    {
        return heap.position - stream_end(top) > d_config.max_gap;
    }
    //! The end of the heaps that belong to the stream; \p top or later.
    std::int64_t stream_end(std::int64_t top) const;
    //! Must be called in the order of positions.
    std::uint64_t tick_at(std::int64_t position) { return d_time.tick_at(position); }

    //! \name Hints for timestamp_step, from the times of heaps
    //! \{

    //! Records the timestamp of a heap, accepted or not.
    void note_timestamp(const heap_time& heap, std::size_t output);
    //! The ticks from heap to heap of an output; 0: not known yet.
    std::uint64_t noted_step(std::size_t output) const
    {
        const auto& timestamps = d_tracks[output].timestamps;
        return timestamps.repeats >= repeats_of_hint ? timestamps.ticks : 0;
    }
    struct mismatch {
        std::int64_t length; //!< of heaps, in samples
        std::uint64_t ticks; //!< from heap to heap
    };
    //! Returns once that heaps of equal length have times that differ by more or less.
    std::optional<mismatch> take_mismatch();
    //! \}

private:
    // A stream is silent when no new samples have arrived for this long, or for three
    // times its longest pause if that is longer, up to a maximum.
    static constexpr std::chrono::milliseconds min_silence_timeout{ 100 };
    // Fewer equal steps may be due to lost heaps.
    static constexpr std::int64_t repeats_of_hint = 8;

    // The timestamps of all heaps, accepted or not.
    struct seen_timestamps {
        std::optional<std::uint64_t> last;
        std::uint64_t ticks = 0;  // the last step
        std::int64_t repeats = 0; // of it
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
    struct output_track {
        std::optional<heap_time> newest;
        time_point newest_time{};           // of arrival
        std::optional<heap_time> held_heap; // does not fit; another heap must agree
        step last_step;
        std::int64_t repeats = 0; // of the last step
        step learned_step;        // seen twice in a row, or between adjacent heaps
        time_point last_new_sample{};
        duration silence_timeout = min_silence_timeout;
        seen_timestamps timestamps;
    };

    void begin_stream(heap_time& heap, std::uint64_t tick);
    std::uint64_t ticks_of(std::uint64_t heaps, std::int64_t length) const;
    std::uint64_t tick_of(const heap_time& heap) const;
    std::int64_t ticks_from_start(const heap_time& heap) const;
    std::int64_t rounding_of(const heap_time& heap,
                             const std::optional<heap_time>& previous) const;
    std::int64_t exact_position(const heap_time& heap,
                                std::int64_t rounded,
                                std::int64_t rounding,
                                std::size_t output) const;
    std::optional<std::int64_t> expected_position(const heap_time& heap,
                                                  const output_track& track) const;
    std::optional<std::int64_t> distance(const heap_time& origin,
                                         const heap_time& heap) const;
    bool has_wrapped(const heap_time& heap) const;
    bool continues(const heap_time& heap,
                   const output_track& track,
                   std::int64_t capacity) const;
    bool has_same_counters(const heap_time& heap,
                           const heap_time& other,
                           const output_track& track) const;
    bool fits(const heap_time& heap,
              const output_track& track,
              const heap_context& context) const;
    bool agrees(const heap_time& heap, const output_track& track) const;
    bool are_all_silent(time_point now) const;
    bool is_aligned(const heap_time& heap) const
    {
        return !d_config.is_aligned ||
               (heap.position % d_config.samples_per_step == 0 &&
                (!d_has_timestamps ||
                 d_time.is_position(heap.position, heap.timestamp, heap.timestamp_bits)));
    }
    void check_step(const heap_time& heap, const output_track& track);

    const config d_config;
    stream_time d_time;
    std::vector<output_track> d_tracks;
    bool d_has_timestamps = true;
    std::int64_t d_heap_samples = 0; // heap length, in streams without timestamps
    bool d_is_running = false;
    std::optional<mismatch> d_mismatch;
    bool d_has_reported_mismatch = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TIMELINE_H */
