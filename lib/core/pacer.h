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

namespace gr {
namespace spead {

/*!
 * \brief Says how many bytes may leave now, and when to ask again.
 *
 * A token bucket of \p burst_bytes that fills at the rate. What overflows it while
 * packets wait (the thread came late, the network stalled) is owed, and paid back at no
 * more than 1.05 times the rate. Where a thread may well be later than a burst takes, the
 * bucket is larger, and two of it may leave in a row: the rate comes first. Has no clock
 * of its own.
 */
class pacer
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    static constexpr double catch_up = 0.05;      //!< of the rate, on top of it
    static constexpr double max_debt_seconds = 1; //!< what a longer stall costs is lost
    //! The packer may be late, too; a source that is slow is owed no more than this.
    static constexpr double max_idle_debt_seconds = 0.01;

    //! A burst holds at least one packet and what comes in within 50 us.
    pacer(std::size_t burst_bytes, std::size_t packet_bytes);

    //! The bytes that may gather at a rate until they leave.
    static double bucket(double burst_bytes, double packet_bytes, double rate);

    //! \p bytes_per_second 0 = unlimited
    void set_rate(double bytes_per_second, time_point now);
    bool unlimited() const { return d_rate == 0; }

    //! Nothing was waiting until now: of what overflowed hardly anything is owed.
    void resume(time_point now);

    //! How many of \p waiting bytes may leave now; 0 = come back at next(), which is so
    //! much before the bucket is full as a thread is usually late.
    std::size_t allowance(std::size_t waiting, time_point now);
    time_point next(std::size_t waiting, time_point now);
    //! The bytes have left by \p now.
    void sent(std::size_t bytes, time_point now);

private:
    double wanted(std::size_t waiting) const;
    double wanted_or(double part, std::size_t waiting) const;
    void learn_lateness(std::chrono::duration<double> late);
    double time_until(double tokens) const;
    void refill(time_point now, bool owe);

    const double d_wanted_burst;
    const double d_packet;
    double d_burst; // what the bucket holds
    double d_rate = 0;
    double d_tokens;
    double d_debt = 0;
    double d_enough;                 // tokens to wait for
    std::optional<time_point> d_due; // what next() has said
    bool d_begun = false;            // some of a burst has left since
    double d_lateness = 0;           // seconds after that when packets have usually left
    time_point d_last{};
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_PACER_H */
