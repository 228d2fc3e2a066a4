/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_INPUT_PROGRESS_H
#define INCLUDED_SPEAD_INPUT_PROGRESS_H

#include <gnuradio/block.h>

#include <cstddef>
#include <vector>

namespace gr::spead {

/*!
 * \brief Consumes the samples of several inputs so that they advance together, and each
 * is read to its end.
 *
 * As in every synchronous block, samples with the same index belong together: the inputs
 * advance within heaps_ahead heaps of each other.
 *
 * The scheduler ends a block as soon as one of its inputs has ended and is empty, and
 * samples in the other inputs would be lost. The last sample of each input therefore
 * stays in its buffer, although it has been accepted, until all inputs have ended. With a
 * single input this has no effect.
 *
 * May be used only by the thread that calls general_work().
 */
class input_progress
{
public:
    //! An input may be \p heaps_ahead heaps of \p heap_samples samples ahead of the
    //! slowest one; 0: no limit.
    input_progress(gr::block& block,
                   std::size_t inputs,
                   std::uint64_t heaps_ahead,
                   std::uint64_t heap_samples);

    //! Begins a run. Called by start().
    void start_run();

    //! How many of the offered samples have already been accepted.
    std::size_t accepted(std::size_t input) const { return d_accepted[input]; }

    //! How many samples of each input may be accepted in this run, in total, until the
    //! slowest input catches up.
    std::uint64_t limit() const;
    //! How many more samples may be accepted from this input.
    std::size_t allowed(std::size_t input, std::uint64_t limit) const
    {
        return static_cast<std::size_t>(limit - d_total[input]);
    }

    //! Records that \p n more samples have been accepted.
    void mark_accepted(std::size_t input, std::size_t n);

    //! Consumes the accepted samples, including the last ones if all inputs have ended.
    //! Called at the end of general_work().
    void consume();

    //! Tells the scheduler which samples to wait for.
    void forecast(gr_vector_int& ninput_items_required) const;

private:
    struct input_state {
        std::size_t available; // samples, accepted ones included
        bool has_ended;
    };
    input_state state_of(std::size_t input) const;

    gr::block& d_block;
    const std::uint64_t d_heaps_ahead;
    const std::uint64_t d_heap_samples;
    std::vector<std::size_t> d_accepted; // per input, not consumed yet
    std::vector<std::uint64_t> d_total;  // accepted per input in this run
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_INPUT_PROGRESS_H */
