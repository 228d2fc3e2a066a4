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

namespace gr::spead {

/*!
 * \brief Logs when sending begins to fail, and when it works again.
 *
 * There is a line for each new error, or one that has not been seen for a while, and a
 * line when packets are sent and none has been lost for a second.
 */
class outage_log
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    explicit outage_log(rate_limited_log& lines) : d_lines(lines) {}

    //! A send failed, and \p lost packets were dropped for it.
    void failed(int error, std::uint64_t lost, time_point now);
    //! A send succeeded.
    void succeeded(time_point now);
    //! The stream has ended: logs the losses, though sending does not work again yet.
    void end();

    //! Nothing to recover from: the usual case, to be tested cheaply.
    bool quiet() const { return !d_outage; }

private:
    rate_limited_log& d_lines;
    std::map<int, time_point> d_seen; // by errno, the last time
    bool d_outage = false;
    time_point d_last_loss;
    std::uint64_t d_lost = 0; // since then
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_OUTAGE_LOG_H */
