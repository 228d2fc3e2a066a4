/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_COUNTERS_H
#define INCLUDED_SPEAD_CORE_COUNTERS_H

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace gr::spead {

//! A figure that one thread counts and any thread reads.
class counter
{
public:
    // one writer: a plain add, without the cost of a locked one
    void add(std::uint64_t n)
    {
        d_value.store(d_value.load(std::memory_order_relaxed) + n,
                      std::memory_order_release);
    }
    std::uint64_t get() const { return d_value.load(std::memory_order_acquire); }

private:
    std::atomic<std::uint64_t> d_value{ 0 };
};

//! Failed sends by cause.
class error_counters
{
public:
    static constexpr std::array<int, 16> causes{
        EAGAIN,        ENOBUFS,      ENOMEM,     ECONNREFUSED,
        ENETUNREACH,   EHOSTUNREACH, ENETDOWN,   ENODEV,
        EADDRNOTAVAIL, EMSGSIZE,     EPERM,      EACCES,
        EIO,           EINVAL,       EOPNOTSUPP, 0 // any other
    };

    void add(int error) { d_counters[index(error)].add(1); }
    std::uint64_t get(std::size_t cause) const { return d_counters[cause].get(); }

private:
    static std::size_t index(int error)
    {
        std::size_t i = 0;
        while (causes[i] != error && i + 1 < causes.size())
            ++i;
        return i;
    }
    std::array<counter, causes.size()> d_counters;
};

//! What the thread that fills the ring counts.
struct packer_counters {
    counter samples_in;
    counter samples_dropped;
    counter samples_clipped;
    counter samples_zero_filled;
    counter heaps_dropped;
};

//! What the thread that sends counts.
struct sender_counters {
    counter samples_sent;
    counter samples_dropped;
    counter heaps_sent;
    counter heaps_dropped;
    counter packets_sent;
    counter packets_dropped;
    counter bytes_sent;
    counter icmp_errors;
    counter gso_refused;
    error_counters errors;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_COUNTERS_H */
