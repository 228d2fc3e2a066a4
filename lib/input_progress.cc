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
      d_accepted(inputs),
      d_total(inputs)
{
}

void input_progress::start_run()
{
    // a restart empties or replaces the buffers, and they have no new samples yet
    for (std::size_t i = 0; i < d_accepted.size(); ++i)
        d_accepted[i] = std::min(d_accepted[i], state_of(i).available);
    std::fill(d_total.begin(), d_total.end(), 0);
}

// The complete heaps of the slowest input, plus heaps_ahead.
std::uint64_t input_progress::limit() const
{
    constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();
    auto min_total = no_limit;
    for (std::size_t i = 0; d_heaps_ahead && i < d_total.size(); ++i) {
        const auto state = state_of(i);
        if (state.available > d_accepted[i] || !state.has_ended)
            min_total = std::min(min_total, d_total[i]);
    }
    return min_total == no_limit
               ? no_limit
               : (min_total / d_heap_samples + d_heaps_ahead) * d_heap_samples;
}

void input_progress::mark_accepted(std::size_t input, std::size_t n)
{
    d_accepted[input] += n;
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
    for (std::size_t i = 0; i < d_accepted.size() && d_accepted.size() > 1; ++i) {
        const auto state = state_of(i);
        all_have_ended &= state.has_ended && state.available <= d_accepted[i];
    }
    const std::size_t kept = all_have_ended ? 0 : 1;
    for (std::size_t i = 0; i < d_accepted.size(); ++i) {
        if (d_accepted[i] <= kept)
            continue;
        d_block.consume(static_cast<int>(i), static_cast<int>(d_accepted[i] - kept));
        d_accepted[i] = kept;
    }
}

// Called when there are samples, perhaps only samples that have already been accepted.
void input_progress::forecast(gr_vector_int& required) const
{
    std::fill(required.begin(), required.end(), 0);
    if (d_accepted.size() == 1)
        return;
    const auto max_total = limit();
    std::size_t awaited_input = d_accepted.size(); // the slowest input that has not ended
    for (std::size_t i = 0; i < d_accepted.size(); ++i) {
        const auto state = state_of(i);
        if (state.available > d_accepted[i] && d_total[i] < max_total)
            return;
        if (!state.has_ended &&
            (awaited_input == d_accepted.size() || d_total[i] < d_total[awaited_input]))
            awaited_input = i;
    }
    // if all have ended, consume() takes the last samples
    if (awaited_input < d_accepted.size())
        required[awaited_input] = static_cast<int>(d_accepted[awaited_input]) + 1;
}

} // namespace gr::spead
