/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_OUTAGE_LOG_H
#define INCLUDED_SPEAD_CORE_OUTAGE_LOG_H

#include "support/rate_limited_log.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

namespace gr::spead {

/*!
 * \brief Logs when sending begins to fail, and when it works again.
 *
 * Logs each error that is new in this run or has not recurred for a while. Logs the
 * recovery when packets are sent and none has been lost for a second.
 *
 * A receiver that has accepted packets, and refuses them shortly before the run ends, has
 * only been stopped first, as happens in a flow graph with both blocks. This is not
 * logged.
 */
class outage_log
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit outage_log(rate_limited_log& lines) : d_lines(lines) {}

    //! Records that a send failed and that \p lost packets were dropped.
    void failed(int error, std::uint64_t lost, time_point now);
    //! Records that a send succeeded. Cheap unless there is an outage.
    void succeeded(time_point now)
    {
        d_last_success = now;
        if (!d_is_accepted || d_has_outage || d_refused_since)
            note_success(now);
    }
    //! Ends the run: logs the losses of an outage that has not ended.
    void end(time_point now);

private:
    void note_success(time_point now);
    void log(int error);
    void log_refusal(time_point now);

    rate_limited_log& d_lines;
    std::map<int, time_point> d_last_occurrence; // by errno
    bool d_has_outage = false;
    time_point d_last_loss;
    std::uint64_t d_lost = 0; // packets, in this outage
    std::optional<time_point> d_first_success;
    time_point d_last_success;
    bool d_is_accepted = false; // by a receiver
    // When the first refused packet was sent; only if this is not logged yet.
    std::optional<time_point> d_refused_since;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_OUTAGE_LOG_H */
