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

namespace gr {
namespace spead {

/*!
 * \brief Consumes the samples of several inputs so that each gets to its own end.
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
    input_progress(gr::block& block, std::size_t inputs);

    //! For start().
    void start_run();

    //! How many of the samples that are offered have been taken before.
    std::size_t taken(std::size_t input) const { return d_taken[input]; }

    //! So many more have been taken.
    void take(std::size_t input, std::size_t n);

    //! To be called when no more can be taken: consumes the last samples, if that is all.
    void finish();

    //! What the scheduler is to wait for.
    void forecast(gr_vector_int& ninput_items_required) const;

private:
    struct outlook {
        std::size_t available; // samples, taken ones included
        bool has_ended;
    };
    outlook look_at(std::size_t input) const;

    gr::block& d_block;
    std::vector<std::size_t> d_taken; // of each input, and not consumed
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_INPUT_PROGRESS_H */
