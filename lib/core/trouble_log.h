/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TROUBLE_LOG_H
#define INCLUDED_SPEAD_CORE_TROUBLE_LOG_H

#include "log_lines.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gr {
namespace spead {

/*!
 * \brief What is worth a line of everything that goes wrong while sending.
 *
 * A line is due when a cause turns up that had been gone for a while, when packets were
 * lost, and when the first packet gets through after that.
 */
class trouble_log
{
public:
    using time_point = log_lines::time_point;

    explicit trouble_log(log_lines& lines) : d_lines(lines) {}

    //! A send failed, and \p lost packets were given up for it.
    void failed(int error, std::uint64_t lost, time_point now);
    //! A send succeeded.
    void succeeded(time_point now);
    //! Something else that is worth a line.
    void warn(const std::string& text, time_point now);
    //! The stream has ended: what was lost is told, though nothing gets through yet.
    void end(time_point now);
    //! Writes what is due; at once if it is the \p last time.
    void flush(time_point now, bool last = false);

    //! When flush() will write what waits; none if nothing does.
    std::optional<time_point> due() const
    {
        return d_lines.empty() ? std::nullopt : std::optional(d_lines.due());
    }

    //! Nothing to say and nothing to recover from: the usual case, to be tested cheaply.
    bool quiet() const { return !d_outage && d_lines.empty(); }

private:
    log_lines& d_lines;
    std::map<int, time_point> d_seen; // by errno, the last time
    std::uint64_t d_lost = 0;         // since the outage began
    bool d_outage = false;
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_TROUBLE_LOG_H */
