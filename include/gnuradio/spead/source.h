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

struct item_description;

/*!
 * \brief SPEAD UDP Source: receives streams of samples as SPEAD heaps over UDP.
 * \ingroup spead
 *
 * \details
 * Receives SPEAD heaps and outputs their samples in the order of their timestamps.
 * Missing samples are tagged and counted, and replaced by zeros or skipped: see
 * on_missing and max_gap. The protocol is SPEAD version 4, with 64-bit item pointers.
 *
 * On all outputs, the same offset has the same timestamp. They begin with the first
 * sample that arrives for any of them. Port "stats" publishes stats() every
 * stats_interval seconds.
 *
 * The option items, if set, or else the stream's descriptors define the timestamp and the
 * samples. The timestamp is the item named "timestamp", or the one with ID 0x1600. Heaps
 * without a timestamp are placed by their heap counters. A jump forward is accepted when
 * a second heap confirms it, or after silence for three times the longest pause so far,
 * at least 0.1 s and at most 10 s. A jump back is accepted only after silence. Of several
 * senders to one output, the first is received; the others are ignored, and the log says
 * how to select one.
 *
 * The first sample of a stream has a tag "timestamp" with its time in ticks and, with
 * sample_rate, a tag "rx_time", as radio blocks of GNU Radio attach it. Both are repeated
 * after a discontinuity and after skipped samples. Each immediate item becomes a tag with
 * its name and value, on the first sample and where the value changes. A tag "missing"
 * gives the number of zeros for missing samples, from its own sample on; a long gap has
 * several such tags. A tag "skipped" gives the number of samples that were left out
 * before its own sample. Items named like these four tags, or whose descriptor has no
 * name in printable ASCII, are not tagged.
 *
 * If packets arrive but no samples leave the source for a second, the log and the status
 * in stats() give the reason. The log has at most one line per second.
 *
 * The constructor checks all parameters, looks up host names, opens the sockets and
 * allocates memory. It throws std::invalid_argument (in Python: ValueError) for an
 * invalid value; the error names the parameter, the value and the allowed range. It
 * throws std::runtime_error (in Python: RuntimeError) when a system call fails.
 *
 * stats() and ports() may be called at any time and from any thread.
 *
 * The block receives in its scheduler thread, and writes samples directly into the output
 * buffers, so the next block must use GNU Radio's default buffers. If the flow graph is
 * slower than the network, the kernel drops packets, which datagrams_dropped_by_socket
 * counts. A message of port "stats" is a pair (dict, PMT_NIL).
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
     *     is 0 to 65535; 0 selects a free port, see ports(). "FILE", with an optional
     *     filter of libpcap after "?", is a capture that is replayed: an existing file
     *     (pcap or pcapng), or a named pipe. The flow graph ends when the capture does,
     *     unless repeat is set.
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

    //! A source that knows \p descriptions, as if their descriptors had arrived.
    static sptr make_described(const std::vector<std::string>& endpoints,
                               const source_options& options,
                               const std::vector<item_description>& descriptions);

    //! Checks the options as make() does, without looking up hosts, opening a socket or
    //! allocating memory. Throws std::invalid_argument.
    static void check(const std::vector<std::string>& endpoints,
                      const source_options& options);

    //! All counters, of one output or, with -1, of all outputs together. Throws
    //! std::invalid_argument (in Python: ValueError) if there is no such output.
    virtual source_stats stats(std::int64_t output = -1) const = 0;

    //! The UDP ports that are bound, in the order of the endpoints.
    virtual std::vector<int> ports() const = 0;

    virtual std::vector<std::string> endpoints() const = 0; //!< as given
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SOURCE_H */
