/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVE_COUNTERS_H
#define INCLUDED_SPEAD_CORE_RECEIVE_COUNTERS_H

#include "protocol/packet_parser.h"
#include "selection_counters.h"
#include "support/counter.h"
#include <gnuradio/spead/source_stats.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace gr::spead {

//! The counters of the receiver. Here, samples_missing counts only the samples replaced
//! by zeros; stats() adds the skipped ones.
using source_counter_set = source_counters<counter>;

//! Rejected packets by reason.
class reject_counters
{
public:
    void add(packet_error error) { d_counters[static_cast<std::size_t>(error)].add(1); }
    //! The counts above 0, by the name of the reason.
    std::map<std::string, std::uint64_t> by_name() const
    {
        std::map<std::string, std::uint64_t> named;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (const auto count = d_counters[i].get())
                named[names[i]] = count;
        return named;
    }

private:
    // in the order of packet_error
    static constexpr std::array names{ "none",           "magic",     "version",
                                       "flavour",        "size",      "missing_item",
                                       "payload_bounds", "items",     "contradiction",
                                       "fragment",       "truncated", "heap_size" };
    std::array<counter, names.size()> d_counters;
};

//! The counters of all outputs together.
struct common_counter_set : source_counter_set {
    reject_counters rejects;
    selection_counters selection;

    //! \p format: with the values that select heaps, or nullptr.
    explicit common_counter_set(const stream_format* format) : selection(format) {}
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVE_COUNTERS_H */
