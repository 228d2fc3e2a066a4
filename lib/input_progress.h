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
 * gets to its own end.
 *
 * Like those of every synchronous block, samples with the same index in each input are
 * taken within heaps_ahead heaps of each other.
 *
 * The scheduler ends a block as soon as one of its inputs has ended and is empty: what
 * the others still have would be lost. So the last sample of each input stays in its
 * buffer, though it has been taken, until all have ended. One input needs nothing of
 * this, and loses nothing by it.
 *
 * Belongs to the thread that calls general_work().
 */
class input_progress
{
public:
    //! An input may be \p heaps_ahead heaps of \p heap_samples ahead of the slowest; with
    //! 0 heaps as far as it likes.
    input_progress(gr::block& block,
                   std::size_t inputs,
                   std::uint64_t heaps_ahead,
                   std::uint64_t heap_samples);

    //! For start().
    void start_run();

    //! How many of the samples that are offered have been taken before.
    std::size_t taken(std::size_t input) const { return d_taken[input]; }

    //! How many samples may have been taken of any input, until the slowest catches up.
    std::uint64_t limit() const;
    //! How many more that are of this one.
    std::size_t allowed(std::size_t input, std::uint64_t limit) const
    {
        return static_cast<std::size_t>(limit - d_total[input]);
    }

    //! So many more have been taken.
    void mark_taken(std::size_t input, std::size_t n);

    //! For the end of general_work(): consumes what was taken, including the last samples
    //! if all inputs have ended.
    void consume();

    //! What the scheduler is to wait for.
    void forecast(gr_vector_int& ninput_items_required) const;

private:
    struct input_state {
        std::size_t available; // samples, taken ones included
        bool has_ended;
    };
    input_state state_of(std::size_t input) const;

    gr::block& d_block;
    const std::uint64_t d_heaps_ahead;
    const std::uint64_t d_heap_samples;
    std::vector<std::size_t> d_taken;   // of each input, and not consumed
    std::vector<std::uint64_t> d_total; // taken of each input in this run
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_INPUT_PROGRESS_H */
