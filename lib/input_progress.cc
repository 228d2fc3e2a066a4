/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "input_progress.h"

#include <gnuradio/block_detail.h>
#include <gnuradio/buffer_reader.h>

#include <algorithm>

namespace gr {
namespace spead {

input_progress::input_progress(gr::block& block, std::size_t inputs)
    : d_block(block), d_taken(inputs)
{
}

void input_progress::start_run()
{
    // a restart empties buffers, or makes new ones; nothing has been put into them yet
    for (std::size_t i = 0; i < d_taken.size(); ++i)
        d_taken[i] = std::min(d_taken[i], look_at(i).available);
}

void input_progress::take(std::size_t input, std::size_t n)
{
    auto& taken = d_taken[input];
    taken += n;
    const std::size_t kept = d_taken.size() == 1 ? 0 : 1;
    if (taken <= kept)
        return;
    d_block.consume(static_cast<int>(input), static_cast<int>(taken - kept));
    taken = kept;
}

input_progress::outlook input_progress::look_at(std::size_t input) const
{
    const auto reader = d_block.detail()->input(static_cast<unsigned>(input));
    const gr::thread::scoped_lock lock(*reader->mutex());
    return { static_cast<std::size_t>(reader->items_available()), reader->done() };
}

void input_progress::finish()
{
    if (d_taken.size() == 1)
        return;
    for (std::size_t i = 0; i < d_taken.size(); ++i) {
        const auto now = look_at(i);
        if (now.available > d_taken[i] || !now.has_ended)
            return;
    }
    for (std::size_t i = 0; i < d_taken.size(); ++i) {
        d_block.consume(static_cast<int>(i), static_cast<int>(d_taken[i]));
        d_taken[i] = 0;
    }
}

// Called when there are samples, perhaps only such that have been taken.
void input_progress::forecast(gr_vector_int& required) const
{
    std::fill(required.begin(), required.end(), 0);
    if (d_taken.size() == 1)
        return;
    std::size_t awaited = d_taken.size();
    for (std::size_t i = 0; i < d_taken.size(); ++i) {
        const auto now = look_at(i);
        if (now.available > d_taken[i])
            return;
        if (!now.has_ended)
            awaited = i;
    }
    // otherwise all have ended, and finish() is due
    if (awaited < d_taken.size())
        required[awaited] = static_cast<int>(d_taken[awaited]) + 1;
}

} // namespace spead
} // namespace gr
