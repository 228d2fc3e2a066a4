/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_STATS_H
#define INCLUDED_SPEAD_SINK_STATS_H

#include <gnuradio/spead/api.h>

#include <cstdint>
#include <map>
#include <string>

namespace gr::spead {

//! The counters of the SPEAD sink, as numbers of any type, such as std::uint64_t.
template <typename number>
struct sink_counters {
    number samples_in{};      //!< samples taken from the flow graph
    number samples_sent{};    //!< samples in heaps that were sent completely
    number samples_dropped{}; //!< samples in dropped heaps, or dropped before packing
    number heaps_sent{};      //!< heaps of samples that were sent completely
    number heaps_dropped{};   //!< heaps of samples with a packet that was not sent
    number packets_sent{};    //!< packets handed to the kernel
    number packets_dropped{}; //!< packets that could not be sent
    number bytes_sent{};      //!< UDP payload of packets_sent
    number icmp_errors{};     //!< ICMP errors received: usually, no process listens
    number gso_refused{};     //!< refused segmented sends, whose packets were sent singly
    number samples_clipped{}; //!< float samples that were clipped, or NaN
    number gaps{};            //!< gaps between samples, according to tags
    number samples_missing{}; //!< samples missing in these gaps
    number samples_zero_filled{}; //!< zeros packed for missing samples, or to fill a tail
    number ring_full{};           //!< how often the packet ring had no room for samples
    number steps_back{};          //!< steps back in time, according to tags

    //! Calls visit(name, member) for each, in order.
    template <typename visitor>
    static void for_each(visitor&& visit)
    {
        using counters = sink_counters;
        visit("samples_in", &counters::samples_in);
        visit("samples_sent", &counters::samples_sent);
        visit("samples_dropped", &counters::samples_dropped);
        visit("heaps_sent", &counters::heaps_sent);
        visit("heaps_dropped", &counters::heaps_dropped);
        visit("packets_sent", &counters::packets_sent);
        visit("packets_dropped", &counters::packets_dropped);
        visit("bytes_sent", &counters::bytes_sent);
        visit("icmp_errors", &counters::icmp_errors);
        visit("gso_refused", &counters::gso_refused);
        visit("samples_clipped", &counters::samples_clipped);
        visit("gaps", &counters::gaps);
        visit("samples_missing", &counters::samples_missing);
        visit("samples_zero_filled", &counters::samples_zero_filled);
        visit("ring_full", &counters::ring_full);
        visit("steps_back", &counters::steps_back);
    }
};

/*!
 * \brief The counters and the state of the SPEAD sink.
 *
 * samples_in always equals samples_sent + samples_dropped + samples_pending.
 * While the flow graph runs, other counters may lag by a few heaps. A sample is pending
 * until all packets of its heap have been handed to the kernel, or the heap is dropped.
 * send_errors counts retries, too, so it is not the number of lost packets.
 * largest_sample is the largest magnitude of a float, or of the real or imaginary part of
 * a complex sample, times scale, before it is rounded and clipped. NaN is ignored.
 * It is 0 for integer types. Counters and largest_sample continue across stop() and
 * start().
 */
struct SPEAD_API sink_stats : sink_counters<std::uint64_t> {
    std::uint64_t samples_pending = 0; //!< samples neither sent nor dropped yet
    double ring_fill = 0;              //!< used part of the fullest packet ring, 0 to 1
    double largest_sample = 0;         //!< largest float times scale, before clipping
    bool gso = false;                  //!< segmented sends (UDP_SEGMENT) are in use
    bool zero_copy = false;            //!< sends without a copy (MSG_ZEROCOPY) are in use
    std::map<std::string, std::uint64_t> send_errors; //!< failed sends by error

    //! Calls visit(name, member) for each figure, in order.
    template <typename visitor>
    static void for_each(visitor&& visit)
    {
        sink_counters::for_each(visit);
        visit("samples_pending", &sink_stats::samples_pending);
        visit("ring_fill", &sink_stats::ring_fill);
        visit("largest_sample", &sink_stats::largest_sample);
        visit("gso", &sink_stats::gso);
        visit("zero_copy", &sink_stats::zero_copy);
        visit("send_errors", &sink_stats::send_errors);
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_STATS_H */
