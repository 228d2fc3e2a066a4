/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SOURCE_H
#define INCLUDED_SPEAD_SOURCE_H

#include <gnuradio/block.h>
#include <gnuradio/spead/api.h>
#include <gnuradio/spead/source_options.h>
#include <gnuradio/spead/source_stats.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief SPEAD Source: receives streams of samples as SPEAD heaps over UDP.
 * \ingroup spead
 *
 * \details
 * Receives SPEAD heaps and puts their samples into the flow graph, each at the place that
 * its timestamp gives. A sample that does not arrive is replaced by a zero, tagged and
 * counted. The protocol is SPEAD version 4, with item pointers of 64 bits.
 *
 * The descriptors of the stream say which items are the timestamp and the samples, and
 * how they are encoded; or the option items does. The timestamp is the item named
 * "timestamp", or the one with ID 0x1600. Heaps without a timestamp are placed by their
 * counters. A jump forward is accepted when a second heap agrees with it, or when the
 * stream has been silent: for 0.1 s, or for three times its longest pause so far, up to
 * 10 s. A jump back is accepted only after a silence. Of several senders for one output,
 * the first is received; the others are ignored, and the log says how to select one.
 *
 * The first sample of a stream has a tag "timestamp" with its time in ticks. If
 * sample_rate is given, it also has a tag "rx_time", as GNU Radio's radios give it. Both
 * come again where the stream begins anew, and behind skipped samples. The values of
 * immediate items are tags of their names, at the first sample and when they change. A
 * tag "missing" gives the number of samples that are missing from its place on, or before
 * it if they are skipped; a long gap has several. Items with the names of these three
 * tags are not tagged. Nor are items whose descriptor has no name of printable ASCII.
 *
 * All outputs have the same timestamp at the same place. They begin with the first
 * samples that arrive for one of them.
 *
 * The constructor checks all parameters, looks up host names, opens the sockets and
 * allocates memory. It throws std::invalid_argument (in Python: ValueError) for an
 * invalid value; the error names the parameter, the value and the allowed range. It
 * throws std::runtime_error (in Python: RuntimeError) when the system refuses.
 *
 * The block's own thread receives. Samples are placed in the output buffers directly: the
 * block behind the source must use GNU Radio's default buffers. If the flow graph is
 * slower than the network, the kernel drops packets, which datagrams_dropped_by_socket
 * counts, and the samples are missing.
 *
 * If packets arrive and no samples come out for a second, the log says why in one line,
 * and so does the status in stats(). At most one line a second is logged.
 *
 * Port "stats" publishes stats() every stats_interval seconds, as a pair of a dict and
 * NIL.
 *
 * stats() and ports() may be called at any time and from any thread.
 */
class SPEAD_API source : virtual public gr::block
{
public:
    typedef std::shared_ptr<source> sptr;

    /*!
     * \brief Make a SPEAD source.
     *
     * \param endpoints Where to receive: one string for all outputs, or one for each. A
     *     string is a comma-separated list of "host:port", "[IPv6 address]:port" or
     *     "A.B.C.D+N:port". "A.B.C.D+N:port" stands for N+1 consecutive IPv4 addresses,
     *     either all multicast or none. The host is a multicast group to join, or an
     *     address of this host; "0.0.0.0" and "[::]" are all of its addresses. The port
     *     is 0 to 65535; 0 takes any free port, see ports().
     * \param options all other parameters
     */
    static sptr make(const std::vector<std::string>& endpoints,
                     const source_options& options = source_options());

    //! The same endpoints for all outputs.
    static sptr make(const std::string& endpoints,
                     const source_options& options = source_options())
    {
        return make(std::vector<std::string>{ endpoints }, options);
    }

    //! Checks the options as make() does, without looking up hosts, opening a socket or
    //! allocating memory. Throws std::invalid_argument.
    static void check(const std::vector<std::string>& endpoints,
                      const source_options& options);

    //! All counters: of one output, or with -1 of all outputs together. Throws
    //! std::invalid_argument (in Python: ValueError) if there is no such output.
    virtual source_stats stats(std::int64_t output = -1) const = 0;

    //! The UDP ports that are bound, in the order of the endpoints.
    virtual std::vector<int> ports() const = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SOURCE_H */
