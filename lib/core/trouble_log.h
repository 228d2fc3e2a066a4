/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TROUBLE_LOG_H
#define INCLUDED_SPEAD_CORE_TROUBLE_LOG_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace gr {
namespace spead {

/*!
 * \brief Makes at most one line a second of everything that goes wrong while sending.
 *
 * A line is due when a cause turns up that had been gone for a while, when packets were
 * lost, and when the first packet gets through after that.
 */
class trouble_log
{
public:
    using time_point = std::chrono::steady_clock::time_point;
    using output = std::function<void(const std::string&)>;

    explicit trouble_log(output out);

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

    //! Nothing to say and nothing to recover from: the usual case, to be tested cheaply.
    bool quiet() const { return !d_outage && d_news.empty(); }

private:
    void add(const std::string& news);

    const output d_out;
    std::map<int, time_point> d_seen; // by errno, the last time
    std::string d_news;
    std::uint64_t d_lost = 0; // since the outage began
    bool d_outage = false;
    time_point d_last_line{};
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_TROUBLE_LOG_H */
