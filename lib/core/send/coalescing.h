/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_COALESCING_H
#define INCLUDED_SPEAD_CORE_COALESCING_H

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gr::spead {

/*!
 * \brief Decides whether a thread that has run out of packets waits for several of them.
 *
 * Waking a thread costs more than sending 64 KiB. If small blocks arrive fast, the thread
 * coalesces them, as network cards moderate interrupts.
 */
class coalescing
{
public:
    using clock = std::chrono::steady_clock;

    static constexpr std::size_t max_bytes = 128 << 10;
    static constexpr std::chrono::microseconds max_time{ 500 };

    //! To be called before each sleep. \p published: bytes so far.
    bool is_worthwhile(std::uint64_t published, clock::time_point now)
    {
        ++d_sleeps;
        if (const std::chrono::duration<double> time = now - d_time; time >= interval) {
            const auto bytes = static_cast<double>(published - d_published);
            d_is_worthwhile = bytes >= min_rate * time.count() &&
                              bytes < 2.0 * max_bytes * static_cast<double>(d_sleeps);
            d_time = now;
            d_published = published;
            d_sleeps = 0;
        }
        return d_is_worthwhile;
    }

private:
    static constexpr double min_rate = 128e6; // bytes per second
    static constexpr std::chrono::milliseconds interval{ 10 };

    clock::time_point d_time{};    // of the last measurement
    std::uint64_t d_published = 0; // bytes, by that time
    std::uint64_t d_sleeps = 0;    // since that time
    bool d_is_worthwhile = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_COALESCING_H */
