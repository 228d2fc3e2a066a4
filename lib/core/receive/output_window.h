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
#include <limits>
#include <optional>
#include <vector>

namespace gr::spead {

//! Whether missing samples are replaced by zeros or left out.
enum class missing_policy { zero_fill, skip };

//! A tag for a sample of an output.
struct sample_tag {
    enum class kind {
        timestamp, //!< value: position of the sample
        missing,   //!< value: number of zeros from this sample on, for missing samples
        skipped,   //!< value: number of missing samples that were left out before it
        item       //!< value: value of an immediate item
    };
    std::size_t output;
    std::size_t offset; //!< from the first sample that this call of produce() outputs
    kind type;
    std::uint64_t value;
    std::size_t item = 0; //!< index among the immediate items
};

/*!
 * \brief The samples placed in the output buffers of the flow graph but not produced yet.
 *
 * A position is an index in the stream; samples of all outputs at a position were taken
 * at the same time. Samples are placed from the write pointer of each output on, in any
 * order, and are produced up to the first missing one. The write pointer is at the
 * position front(), or at an earlier one after samples have been skipped.
 *
 * The window gives up on a missing sample max_delay after a later sample of the same
 * output arrived, 10 * max_delay after a later sample of another output arrived, or when
 * the buffers have no room for a later sample. Does not allocate after construction,
 * except in the vector of tags and in withdraw().
 *
 * A stream begins with an opening phase, in which samples before the first one may still
 * arrive and nothing is produced.
 */
class output_window
{
public:
    using clock = std::chrono::steady_clock;

    struct config {
        std::size_t outputs = 1;
        missing_policy on_missing = missing_policy::zero_fill;
        clock::duration max_delay{};
        std::size_t items = 0;      //!< maximum number of immediate items
        std::int64_t alignment = 1; //!< samples that are produced together
    };
    output_window(const config& settings, std::vector<source_counter_set>& counters);

    //! \name For the flow graph
    //! \{

    //! Sets the write pointer of each output, and the room there in samples.
    void set_room(const std::vector<std::byte*>& write_pointers, std::int64_t samples);

    //! Finds the end of the samples that can be produced now. If \p is_blocked (the
    //! receiver waits for room), gives up on the first missing samples. May end the
    //! opening phase, which moves the front. If the room, and the start and length of
    //! every heap, are multiples of config::alignment, so are the end and the front.
    std::int64_t update_ready_end(clock::time_point now, bool is_blocked);
    //! Produces samples up to \p end: appends their tags and counts them. Returns the
    //! number of samples per output, which is the same for all.
    std::size_t produce(std::int64_t end, std::vector<sample_tag>& tags);
    //! Ends the run. Samples that were not produced count as skipped.
    void discard();

    //! \}

    //! \name For the receiver
    //! \{

    std::int64_t front() const { return d_front; }
    //! The end of the last sample placed in any output. Samples that wait for room raise
    //! it to their start, or to the end of the room if that is earlier. flush() may
    //! raise it too.
    std::int64_t top() const { return d_top; }
    bool is_empty() const { return d_top == d_front; }
    std::int64_t capacity() const { return d_capacity; }
    //! Number of samples after the write pointer that are in use.
    std::int64_t used() const { return d_top - d_front + d_shift; }
    //! The ranges from the front on in which no samples of an output have been placed.
    const missing_ranges& missing(std::size_t output) const
    {
        return d_outputs[output].missing;
    }

    void set_decoder(const sample_decoder& decoder) { d_decoder = decoder; }

    //! Whether a range is before the first position, if one is set.
    bool is_early(position_range range) const
    {
        return d_first_position && range.end <= *d_first_position;
    }
    //! Sets the position at which the stream begins even if later samples arrive first.
    //! Samples before it count as early, not as late.
    void set_first_position(std::optional<std::int64_t> position)
    {
        d_first_position = position;
    }

    //! Returns whether samples can be placed in a range. If not, raises the top, so that
    //! produce() makes room.
    bool reserve(std::size_t output, position_range range, clock::time_point now);

    //! Decodes samples into a range, for which reserve() is true. \p data has whole
    //! groups. Returns the number of new samples, of which early ones are only counted.
    //! Counts the others as late or duplicate.
    std::size_t place(std::size_t output,
                      position_range range,
                      const std::byte* data,
                      clock::time_point now);
    //! Sets the value of an immediate item for the samples of a heap. False if the output
    //! tracks too many changes of the item.
    [[nodiscard]] bool set_item(std::size_t output,
                                std::size_t item,
                                position_range heap,
                                std::uint64_t value);

    //! Makes the samples of a heap, and its items, missing again unless they have been
    //! produced.
    void withdraw(std::size_t output, position_range heap, clock::time_point now);

    //! Moves the front to \p position, which must not be before the top. The samples in
    //! between are not produced and count as skipped.
    void skip_to(std::int64_t position);
    //! How a stream begins.
    struct opening {
        clock::time_point end{}; //!< of the opening phase
        std::int64_t alignment = 1;
        //! Samples that may precede the first heap.
        std::int64_t max_earlier = std::numeric_limits<std::int64_t>::max();
        //! Samples by which rounding may move the front before the first heap.
        std::int64_t max_rounding = std::numeric_limits<std::int64_t>::max();
    };
    //! Begins a stream at position 0 and forgets all item values. The window must be
    //! empty. Returns the position for the first heap: opening::max_earlier samples can
    //! be placed before it, at most half of the room.
    //!
    //! The opening phase ends when its end has passed and a sample has arrived, or
    //! at once if the receiver is blocked or flush() is called. Then update_ready_end()
    //! moves the front to the position of the first heap, or to the earliest sample.
    //! Nothing before it is missing. The position and the new front are multiples of
    //! opening::alignment, as far as opening::max_rounding allows.
    std::int64_t begin_stream(const opening& settings);
    //! Gives up on all missing samples before the top or \p end, whichever is later, but
    //! not beyond the room. Rounds up to config::alignment.
    void flush(std::int64_t end = 0);

    //! \}

private:
    struct output_state {
        std::byte* write_pointer = nullptr;
        missing_ranges missing{ 4096 }; // the last one is open-ended
        std::vector<item_values> items;
        bool needs_timestamp = true;
        std::uint64_t skipped = 0; // samples that no tag has reported yet
    };

    std::size_t output_bytes(std::int64_t samples) const
    {
        return static_cast<std::size_t>(samples) * d_decoder.output_bytes();
    }
    std::byte* address(const output_state& state, std::int64_t position) const
    {
        return state.write_pointer + output_bytes(position - d_front + d_shift);
    }
    std::int64_t end_of_room() const { return d_front + d_room - d_shift; }

    void raise_top(std::int64_t position, clock::time_point now);
    void end_opening();
    void move_front(std::int64_t position);
    void compact();
    void note_skipped(std::size_t output, std::int64_t samples);
    std::int64_t
    produce_output(std::size_t output, std::int64_t end, std::vector<sample_tag>& tags);

    const config d_config;
    std::vector<source_counter_set>& d_counters;
    sample_decoder d_decoder;
    std::vector<output_state> d_outputs;
    std::int64_t d_front = 0;
    std::int64_t d_top = 0;
    std::int64_t d_room = 0;      // samples after the write pointer
    std::int64_t d_capacity = 0;  // largest d_room so far
    std::int64_t d_shift = 0;     // skipped samples between the write pointer and front
    std::int64_t d_flush_end = 0; // nothing before it waits for missing samples
    std::optional<clock::time_point> d_opening_end; // none: not in the opening phase
    std::optional<std::int64_t> d_first_position;
    std::int64_t d_first_heap_position = 0;
    std::int64_t d_min_rounded_front = 0;
    std::int64_t d_alignment = 1; // front is a multiple of this after the opening phase
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_OUTPUT_WINDOW_H */
