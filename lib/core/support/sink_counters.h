/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SINK_COUNTERS_H
#define INCLUDED_SPEAD_CORE_SINK_COUNTERS_H

#include "counter.h"
#include <gnuradio/spead/sink_stats.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace gr::spead {

//! Failed sends by cause.
class send_error_counters
{
public:
    static constexpr std::array<int, 17> causes{
        EAGAIN,   ENOBUFS, ENOMEM,        ECONNREFUSED, ENETUNREACH, EHOSTUNREACH,
        ENETDOWN, ENODEV,  EADDRNOTAVAIL, EMSGSIZE,     EPERM,       EACCES,
        EIO,      EINVAL,  EOPNOTSUPP,    ENOSPC,
        0 // any other
    };

    void add(int error) { d_counters[index(error)].add(1); }
    //! The counts above 0, by error name, such as "ENOBUFS".
    std::map<std::string, std::uint64_t> by_name() const
    {
        std::map<std::string, std::uint64_t> named;
        for (std::size_t i = 0; i < causes.size(); ++i)
            if (const auto count = d_counters[i].get())
                named[causes[i] ? strerrorname_np(causes[i]) : "other"] = count;
        return named;
    }

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

//! The counters of one input or of the sender. The totals are the sums over all of them.
using sink_counter_set = sink_counters<counter>;

//! The counters of the sender.
struct sender_counters : sink_counter_set {
    send_error_counters errors;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SINK_COUNTERS_H */
