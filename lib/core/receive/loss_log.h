/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_LOSS_LOG_H
#define INCLUDED_SPEAD_CORE_LOSS_LOG_H

#include "support/rate_limited_log.h"

#include <gnuradio/spead/source_stats.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace gr::spead {

/*!
 * \brief Logs how many samples are missing, and what else was counted meanwhile.
 *
 * Logs a loss within a second, and further ones every ten seconds.
 */
class loss_log
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit loss_log(rate_limited_log& lines) : d_lines(lines) {}

    struct counts {
        source_stats stats;
        //! Samples received by each output. Empty: one output, or the slices of axes.
        std::vector<std::uint64_t> received = {};
    };

    //! Begins a run.
    void start(const counts& begin, time_point now);
    //! Whether check() is due.
    bool is_due(time_point now) const { return now >= d_next_check; }
    //! Logs what has been lost since the last line.
    void check(const counts& current, time_point now);

private:
    rate_limited_log& d_lines;
    time_point d_next_check;
    // a sample counts as missing later than what has happened to its packet
    counts d_begin, d_last_check;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_LOSS_LOG_H */
