/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SOURCE_STATS_H
#define INCLUDED_SPEAD_SOURCE_STATS_H

#include <gnuradio/spead/api.h>

#include <cstdint>
#include <map>
#include <string>

namespace gr::spead {

//! The counters of the SPEAD source, as numbers of any type, such as std::uint64_t.
template <typename number>
struct source_counters {
    number samples_received{}; //!< samples that arrived in time and were output
    number
        samples_missing{}; //!< samples that did not arrive in time, or not before the end
    number samples_skipped{};   //!< missing samples not replaced by zeros
    number samples_late{};      //!< samples that arrived too late
    number samples_early{};     //!< samples before timestamp_start
    number samples_duplicate{}; //!< samples that arrived again
    number heaps_received{};    //!< heaps that arrived completely
    number heaps_incomplete{};  //!< heaps that arrived in part
    number packets_received{};  //!< SPEAD packets received
    number packets_ignored{};   //!< SPEAD packets without samples for an output
    number bytes_received{};    //!< UDP payload of packets_received
    number discontinuities{};   //!< restarts of the stream, and gaps above max_gap

    //! Calls visit(name, member) for each, in order.
    template <typename visitor>
    static void for_each(visitor&& visit)
    {
        using counters = source_counters;
        visit("samples_received", &counters::samples_received);
        visit("samples_missing", &counters::samples_missing);
        visit("samples_skipped", &counters::samples_skipped);
        visit("samples_late", &counters::samples_late);
        visit("samples_early", &counters::samples_early);
        visit("samples_duplicate", &counters::samples_duplicate);
        visit("heaps_received", &counters::heaps_received);
        visit("heaps_incomplete", &counters::heaps_incomplete);
        visit("packets_received", &counters::packets_received);
        visit("packets_ignored", &counters::packets_ignored);
        visit("bytes_received", &counters::bytes_received);
        visit("discontinuities", &counters::discontinuities);
    }
};

/*!
 * \brief The counters and the state of the SPEAD source.
 *
 * For each output, samples_out always equals samples_received + samples_missing -
 * samples_skipped. Samples are skipped with on_missing="skip", in gaps above max_gap, and
 * when the flow graph stops. Counters continue across stop() and start().
 */
struct SPEAD_API source_stats : source_counters<std::uint64_t> {
    std::uint64_t samples_out = 0;                 //!< samples output, including zeros
    std::uint64_t datagrams_dropped_by_socket = 0; //!< dropped by the kernel: buffer full
    double buffer_fill = 0; //!< fraction of the buffer in use, 0 to 1
    bool gro = false;       //!< merged datagrams (UDP_GRO) are in use
    std::map<std::string, std::uint64_t>
        packets_rejected; //!< datagrams by reason: not SPEAD, contradictory, IP fragments
    std::map<std::string, std::uint64_t>
        heaps_selected; //!< heaps by selected value, in items or of a divided axis
    std::map<std::string, std::uint64_t>
        heaps_unselected; //!< ignored heaps by other value of these items: the first 64
    std::string status;   //!< why nothing is output, with the remedy; else empty

    //! Calls visit(name, member) for each figure, in order.
    template <typename visitor>
    static void for_each(visitor&& visit)
    {
        source_counters::for_each(visit);
        visit("samples_out", &source_stats::samples_out);
        visit("datagrams_dropped_by_socket", &source_stats::datagrams_dropped_by_socket);
        visit("buffer_fill", &source_stats::buffer_fill);
        visit("gro", &source_stats::gro);
        visit("packets_rejected", &source_stats::packets_rejected);
        visit("heaps_selected", &source_stats::heaps_selected);
        visit("heaps_unselected", &source_stats::heaps_unselected);
        visit("status", &source_stats::status);
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SOURCE_STATS_H */
