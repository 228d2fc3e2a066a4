/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "vector_stage.h"

#include <algorithm>
#include <utility>

namespace gr::spead {

vector_stage::vector_stage(const heap_axes& axes, std::size_t sample_bytes, writer write)
    : d_axes(axes),
      d_transposer(axes, sample_bytes),
      d_write(std::move(write)),
      d_sample_bytes(sample_bytes),
      d_time_samples(axes.contiguous_samples_per_time()),
      d_heaps(axes.substreams(), std::vector<std::byte>(axes.samples() * sample_bytes)),
      d_written(axes.substreams())
{
}

void vector_stage::start_run()
{
    d_items = d_padded = 0;
    std::fill(d_written.begin(), d_written.end(), 0);
}

std::size_t vector_stage::take_items(const std::vector<const std::byte*>& ports,
                                     std::size_t n)
{
    const auto items = std::min(n, d_axes.times() - d_items);
    for (std::size_t i = 0; i < d_heaps.size(); ++i)
        d_transposer.to_heap(d_heaps[i].data(), ports, i, d_items, d_items + items);
    d_items += items;
    return items;
}

bool vector_stage::write_heaps()
{
    if (d_items < d_axes.times())
        return true;
    bool is_written = true;
    for (std::size_t i = 0; i < d_heaps.size(); ++i)
        is_written &= write_heap(i);
    if (is_written)
        start_run();
    return is_written;
}

// Padded times are zeros at the end of each sequence of times.
bool vector_stage::write_heap(std::size_t substream)
{
    const auto period = d_axes.times() * d_time_samples;
    const auto samples = (d_axes.times() - d_padded) * d_time_samples;
    auto& written = d_written[substream];
    while (written < d_axes.samples()) {
        const auto period_offset = written % period;
        const auto* data = d_heaps[substream].data() + written * d_sample_bytes;
        const bool is_padding = period_offset >= samples;
        const auto n = d_padded ? (is_padding ? period : samples) - period_offset
                                : d_axes.samples() - written;
        const auto accepted = d_write(substream, is_padding ? nullptr : data, n);
        written += accepted;
        if (accepted < n)
            return false;
    }
    return true;
}

void vector_stage::pad()
{
    if (!d_items || d_items == d_axes.times())
        return;
    d_padded = d_axes.times() - d_items;
    d_items = d_axes.times();
}

std::size_t vector_stage::samples_left(std::size_t substream) const
{
    // in each sequence of times, these have samples
    const auto times = d_items == d_axes.times() ? d_items - d_padded : d_items;
    const auto samples = times * d_time_samples;
    const auto period = d_axes.times() * d_time_samples;
    const auto written = d_written[substream];
    return d_axes.samples() / period * samples - written / period * samples -
           std::min(written % period, samples);
}

} // namespace gr::spead
