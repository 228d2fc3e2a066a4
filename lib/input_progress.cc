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
#include <limits>

namespace gr::spead {

input_progress::input_progress(gr::block& block,
                               std::size_t inputs,
                               std::uint64_t heaps_ahead,
                               std::uint64_t heap_samples)
    : d_block(block),
      d_heaps_ahead(inputs == 1 ? 0 : heaps_ahead),
      d_heap_samples(heap_samples),
      d_taken(inputs),
      d_total(inputs)
{
}

void input_progress::start_run()
{
    // a restart empties or replaces the buffers, and they have no new samples yet
    for (std::size_t i = 0; i < d_taken.size(); ++i)
        d_taken[i] = std::min(d_taken[i], state_of(i).available);
    std::fill(d_total.begin(), d_total.end(), 0);
}

// The complete heaps of the slowest input, plus heaps_ahead.
std::uint64_t input_progress::limit() const
{
    constexpr auto none = std::numeric_limits<std::uint64_t>::max();
    auto slowest = none;
    for (std::size_t i = 0; d_heaps_ahead && i < d_total.size(); ++i) {
        const auto now = state_of(i);
        if (now.available > d_taken[i] || !now.has_ended)
            slowest = std::min(slowest, d_total[i]);
    }
    return slowest == none ? none
                           : (slowest / d_heap_samples + d_heaps_ahead) * d_heap_samples;
}

void input_progress::mark_taken(std::size_t input, std::size_t n)
{
    d_taken[input] += n;
    d_total[input] += n;
}

input_progress::input_state input_progress::state_of(std::size_t input) const
{
    const auto detail = d_block.detail();
    if (!detail) // started outside of a flow graph
        return { 0, false };
    const auto reader = detail->input(static_cast<unsigned>(input));
    const gr::thread::scoped_lock lock(*reader->mutex());
    return { static_cast<std::size_t>(reader->items_available()), reader->done() };
}

void input_progress::consume()
{
    bool all_have_ended = true;
    for (std::size_t i = 0; i < d_taken.size() && d_taken.size() > 1; ++i) {
        const auto now = state_of(i);
        all_have_ended &= now.has_ended && now.available <= d_taken[i];
    }
    const std::size_t kept = all_have_ended ? 0 : 1;
    for (std::size_t i = 0; i < d_taken.size(); ++i) {
        if (d_taken[i] <= kept)
            continue;
        d_block.consume(static_cast<int>(i), static_cast<int>(d_taken[i] - kept));
        d_taken[i] = kept;
    }
}

// Called when there are samples, perhaps only samples that have already been taken.
void input_progress::forecast(gr_vector_int& required) const
{
    std::fill(required.begin(), required.end(), 0);
    if (d_taken.size() == 1)
        return;
    const auto most = limit();
    std::size_t awaited = d_taken.size(); // the slowest input that has not ended
    for (std::size_t i = 0; i < d_taken.size(); ++i) {
        const auto now = state_of(i);
        if (now.available > d_taken[i] && d_total[i] < most)
            return;
        if (!now.has_ended &&
            (awaited == d_taken.size() || d_total[i] < d_total[awaited]))
            awaited = i;
    }
    // if all have ended, consume() takes the last samples
    if (awaited < d_taken.size())
        required[awaited] = static_cast<int>(d_taken[awaited]) + 1;
}

} // namespace gr::spead
