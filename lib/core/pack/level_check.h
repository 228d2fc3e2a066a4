/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_LEVEL_CHECK_H
#define INCLUDED_SPEAD_CORE_LEVEL_CHECK_H

#include "protocol/sample_converter.h"
#include "sink_counters.h"

#include <chrono>
#include <cstddef>
#include <string>

namespace gr::spead {

/*!
 * \brief Notices a wrong level: all samples of a second are sent as 0, or most of them
 * are clipped.
 *
 * It reads samples only until it finds one that is not sent as 0, and begins again after
 * a second. One thread.
 */
class level_check
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    //! Both must outlive this. The converter is the one that counts the clipped samples.
    level_check(const sample_converter& converter, const sink_counter_set& counters);

    void start_run();

    //! These samples have just been converted. Returns what the user should know: either
    //! warning at most once in a run, mostly nothing.
    std::string look(const std::byte* samples, std::size_t n, time_point now);

private:
    const sample_converter& d_converter;
    const sink_counter_set& d_counters;
    time_point d_begin; // of this second
    std::size_t d_samples = 0;
    std::uint64_t d_clipped_before = 0;
    bool d_is_silent = true;
    bool d_warned_of_zeros = false;
    bool d_warned_of_clipping = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_LEVEL_CHECK_H */
