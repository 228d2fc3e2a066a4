/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACER_H
#define INCLUDED_SPEAD_CORE_PACER_H

#include <chrono>
#include <cstddef>
#include <optional>

namespace gr::spead {

/*!
 * \brief Limits the rate: determines how many bytes may be sent now, and when more may.
 *
 * A token bucket that holds two bursts and fills at the rate. Grants one burst at a time,
 * or two if the thread is late. Bytes that overflow the bucket form a backlog, which is
 * made up for by sending up to 5 % faster. The caller supplies the time.
 */
class pacer
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    static constexpr double catch_up = 0.05; //!< fraction of the rate, added to it
    static constexpr double max_backlog_seconds = 1; //!< of sending at the rate

    pacer(std::size_t burst_bytes, std::size_t packet_bytes);

    //! Returns the burst size in bytes: \p burst_bytes, or what is sent in 300 us at
    //! \p rate if that is more. Rounded down to whole messages of the transport or, if
    //! less than a message, to whole packets, but at least one.
    static double burst_size(double burst_bytes, double packet_bytes, double rate);

    //! \p bytes_per_second 0: unlimited
    void set_rate(double bytes_per_second, time_point now);
    bool unlimited() const { return d_rate == 0; }

    //! Returns how many bytes may be sent now, perhaps more than the \p waiting ones. If
    //! 0, call it again at next_send_time().
    std::size_t allowance(std::size_t waiting, time_point now);
    time_point next_send_time(std::size_t waiting, time_point now) const;
    //! Records that \p bytes were sent. \p now is the time after the send, so that the
    //! next burst does not follow a slow send too closely.
    void sent(std::size_t bytes, time_point now);

private:
    double wanted_bytes(std::size_t waiting) const;
    void refill(time_point now);

    const double d_burst_bytes;
    const double d_packet_bytes;
    double d_burst;
    double d_rate = 0;
    double d_tokens;
    double d_granted_bytes = 0;              // not sent yet
    double d_backlog = 0;                    // bytes
    std::optional<time_point> d_last_refill; // last refill; none before the first packets
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACER_H */
