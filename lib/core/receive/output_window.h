/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_OUTPUT_WINDOW_H
#define INCLUDED_SPEAD_CORE_OUTPUT_WINDOW_H

#include "item_values.h"
#include "missing_ranges.h"
#include "protocol/sample_decoder.h"
#include "receive_counters.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

//! What happens to samples that are missing.
enum class missing_policy { zero_fill, skip };

//! A tag for a sample of an output.
struct sample_tag {
    enum class kind {
        timestamp, //!< value: the position of the sample
        missing,   //!< value: the number of samples that are missing
        item       //!< value: that of an immediate item
    };
    std::size_t output;
    std::size_t offset; //!< from the first sample that is produced
    kind what;
    std::uint64_t value;
    std::size_t item = 0; //!< its index among the immediate items
};

/*!
 * \brief Samples that have been placed in the output buffers of the flow graph and not
 * been produced yet.
 *
 * Samples have positions; those of the same position were sampled at the same time. The
 * position front() lies at the write pointer of each output. Samples are placed behind
 * it in any order, and are produced up to the first one that is missing. A missing sample
 * is given up max_delay after a later one of its output arrived, or ten times that after
 * a later one of another output, or if the buffers have no room for a later one. Does not
 * allocate after its construction.
 */
class output_window
{
public:
    using clock = std::chrono::steady_clock;

    struct config {
        std::size_t outputs = 1;
        missing_policy on_missing = missing_policy::zero_fill;
        clock::duration max_delay{};
        std::size_t items = 0; //!< immediate items, at most
    };
    output_window(const config& how, std::vector<source_counter_set>& counters);

    //! \name The flow graph
    //! \{

    //! Where the front lies in each output, and how many samples there is room for.
    void set_room(const std::vector<std::byte*>& at, std::int64_t samples);

    //! The end of the samples that can be produced now. With \p is_blocked, the first
    //! ones that are missing are given up, to make room. May end the opening of a stream,
    //! which moves the front.
    std::int64_t end_of_ready(clock::time_point now, bool is_blocked);
    //! Produces samples up to \p end: adds their tags and counts them. Returns their
    //! number, which is the same for all outputs.
    std::size_t produce(std::int64_t end, std::vector<sample_tag>& tags);
    //! The run ends: samples up to \p end that were not produced are missing.
    void abandon(std::int64_t end);

    //! \}

    //! \name The receiver
    //! \{

    std::int64_t front() const { return d_front; }
    //! The end of the samples that have been placed in any output, or wait for room.
    std::int64_t top() const { return d_top; }
    bool is_empty() const { return d_top == d_front; }
    std::int64_t capacity() const { return d_capacity; }
    //! Whether all of a range is behind the front and has not been placed.
    bool is_free(std::size_t which, position_range range) const;

    void set_decoder(const sample_decoder& decoder) { d_decoder = decoder; }

    //! Whether samples can be placed. If not, produce() makes room.
    bool has_room(std::size_t which, position_range range, clock::time_point now);

    //! Decodes samples into their places, for which there is room. Returns the number of
    //! those that have not come before; counts the others.
    std::size_t place(std::size_t which,
                      position_range range,
                      const std::byte* data,
                      clock::time_point now);
    //! The value of an immediate item in a heap of which samples have been placed. False
    //! if there is no room.
    [[nodiscard]] bool set_item(std::size_t which,
                                std::size_t item,
                                position_range heap,
                                std::uint64_t value);

    //! Everything before \p position, which is not before the top, is given up and counts
    //! as skipped, without zeros.
    void skip_to(std::int64_t position);
    //! A stream begins, with other items and at position 0. The window must be empty.
    //! Returns the position for its first heap, half of the room behind the front. The
    //! stream is open until \p until, and until a sample has arrived: nothing is
    //! produced, so that earlier samples find their place. Then end_of_ready() moves the
    //! front to that position, or to an earlier sample of any output; nothing before it
    //! is missing. The opening ends at once if the window is blocked or given up. Both
    //! positions are multiples of \p granule.
    std::int64_t begin_stream(clock::time_point until, std::int64_t granule = 1);
    //! Nothing before the top, or \p end, will arrive any more.
    void give_up(std::int64_t end = 0);

    //! \}

private:
    struct output {
        std::byte* at = nullptr;
        missing_ranges missing{ 4096 }; // the last one has no end
        std::vector<item_values> items;
        bool needs_timestamp = true;
        std::uint64_t skipped = 0; // samples, not tagged yet
    };

    std::size_t output_bytes(std::int64_t samples) const
    {
        return static_cast<std::size_t>(samples) * d_decoder.output_bytes();
    }
    std::byte* address(const output& of, std::int64_t position) const
    {
        return of.at + output_bytes(position - d_front + d_shift);
    }
    std::int64_t end_of_room() const { return d_front + d_room - d_shift; }

    void raise_top(std::int64_t to, clock::time_point now);
    void end_opening();
    void move_front(std::int64_t to);
    void close_up();
    void note_skipped(std::size_t which, std::int64_t samples);
    std::int64_t
    produce_output(std::size_t which, std::int64_t end, std::vector<sample_tag>& tags);

    const config d_config;
    std::vector<source_counter_set>& d_counters;
    sample_decoder d_decoder;
    std::vector<output> d_outputs;
    std::int64_t d_front = 0;
    std::int64_t d_top = 0;
    std::int64_t d_room = 0;     // samples behind the front
    std::int64_t d_capacity = 0; // the most that d_room was
    std::int64_t d_shift = 0;    // samples from their final address, after skips
    std::int64_t d_given_up = 0; // the end of the samples that are not waited for
    std::optional<clock::time_point> d_open_until; // none: the stream is not open
    std::int64_t d_opened_at = 0;                  // the position of its first heap
    std::int64_t d_granule = 1; // samples by which the front moves when the opening ends
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_OUTPUT_WINDOW_H */
