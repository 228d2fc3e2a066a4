/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "level_check.h"

#include <sstream>

namespace gr::spead {

level_check::level_check(const sample_converter& converter,
                         const sink_counter_set& counters)
    : d_converter(converter), d_counters(counters)
{
}

void level_check::start_run()
{
    d_samples = 0;
    d_clipped_before = d_counters.samples_clipped.get();
    d_warned_of_zeros = d_warned_of_clipping = false;
}

std::string level_check::look(const std::byte* samples, std::size_t n, time_point now)
{
    if (!n)
        return {};
    if (!d_samples) {
        d_begin = now;
        d_is_silent = true;
    }
    d_samples += n;
    if (d_is_silent)
        d_is_silent = d_converter.is_silent(samples, n);
    if (now - d_begin < std::chrono::seconds(1))
        return {};

    const auto clipped = d_counters.samples_clipped.get() - d_clipped_before;
    const bool is_clipped = clipped > d_samples / 2;
    std::ostringstream text;
    if (d_is_silent && !d_warned_of_zeros) {
        d_warned_of_zeros = true;
        text << "all samples have been sent as 0 for a second";
        if (d_converter.is_scaled())
            text << ": with scale = " << d_converter.scale() << ", samples below "
                 << d_converter.zero_below() << " become 0";
    } else if (is_clipped && !d_warned_of_clipping) {
        d_warned_of_clipping = true;
        text << 100 * clipped / d_samples
             << " % of the samples of a second were clipped: with scale = "
             << d_converter.scale() << ", samples above " << d_converter.clipped_above()
             << " are clipped";
    }
    d_samples = 0;
    d_clipped_before += clipped;
    return text.str();
}

} // namespace gr::spead
