/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_H
#define INCLUDED_SPEAD_SINK_H

#include <gnuradio/block.h>
#include <gnuradio/spead/api.h>
#include <gnuradio/spead/item.h>
#include <gnuradio/spead/sink_options.h>
#include <gnuradio/spead/sink_stats.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief SPEAD UDP Sink: sends streams of samples as SPEAD heaps over UDP.
 * \ingroup spead
 *
 * \details
 * Packs the samples of each input into heaps of heap_samples samples with a running
 * timestamp. Sends the heaps to the destinations of the input in turn. The protocol is
 * SPEAD-64-40 or SPEAD-64-48 (SPEAD protocol, version 4).
 *
 * A message on port "items" sets immediate items, as set_item() does. The message is a
 * pair of a key and a value, or a dict of keys and values. A key is the name or ID of an
 * item. A value is a whole number for all inputs, or a vector with one for each input. A
 * message on port "rate" sets the rate, as set_rate() does: a number, or a pair of any
 * key and a number. Port "stats" publishes stats() every stats_interval seconds.
 *
 * When the flow graph stops, the unfinished heap is sent or dropped, as tail says, and
 * queued packets are sent, at the rate if one is set. If nothing can be sent for two
 * seconds, the rest is dropped and counted.
 *
 * Network faults do not end the flow graph. Heaps that could not be sent are counted, see
 * stats(). The log has at most one line per second.
 *
 * Heap counters, timestamps and the counters of stats() continue across stop() and
 * start(). An unfinished heap advances the heap counter and the timestamp by a full step.
 *
 * The constructor checks all parameters, looks up host names, opens the socket and
 * allocates memory. It throws std::invalid_argument (in Python: ValueError) for an
 * invalid value; the error names the parameter, the value and the allowed range. It
 * throws std::runtime_error (in Python: RuntimeError) when a system call fails.
 *
 * stats(), rate(), packet_size(), set_rate(), set_item() and set_items() may be called at
 * any time and from any thread.
 *
 * Packet buffers are allocated once and reused. A thread named "spead-send" sends the
 * packets. A message of port "stats" is a pair (dict, PMT_NIL).
 */
class SPEAD_API sink : virtual public gr::block
{
public:
    typedef std::shared_ptr<sink> sptr;

    /*!
     * \brief Make a SPEAD sink.
     *
     * \param destinations Where to send the heaps: one string for all inputs, or one for
     *     each. A string is a comma-separated list of "host:port",
     *     "[IPv6 address]:port" or "A.B.C.D+N:port". "A.B.C.D+N:port" stands for N+1
     *     consecutive IPv4 addresses, either all multicast or none. The host is an IPv4
     *     or IPv6 address or a name, the port 1 to 65535. The heaps of an input go to
     *     its destinations in turn. There may be up to 4096 destinations in all. A
     *     string must not name an address twice. "FILE.pcap" is a capture (a file or a
     *     named pipe) to write instead of sending; "FILE.pcap?host:port" also sets the
     *     destination of its packets. If one destination is a capture, all must be, of
     *     the same file.
     * \param options all other parameters
     */
    static sptr make(const std::vector<std::string>& destinations,
                     const sink_options& options = sink_options());

    //! The same destinations for all inputs.
    static sptr make(const std::string& destinations,
                     const sink_options& options = sink_options())
    {
        return make(std::vector<std::string>{ destinations }, options);
    }

    //! Checks the options as make() does, without looking up hosts, opening a socket or
    //! allocating memory. Throws std::invalid_argument.
    static void check(const std::vector<std::string>& destinations,
                      const sink_options& options);

    //! Change the value of an immediate item, given by its ID or name, from the next heap
    //! on. input is the index of an input (with axes: of a part), or -1 for all. Throws
    //! std::invalid_argument (in Python: ValueError) if there is no such item or input,
    //! or if the value is not allowed.
    //! \{
    virtual void
    set_item(std::int64_t item, std::int64_t value, std::int64_t input = -1) = 0;
    virtual void
    set_item(const std::string& item, std::int64_t value, std::int64_t input = -1) = 0;
    //! \}

    //! Change the values of all immediate items. The items must have the kinds, IDs and
    //! names of those of the constructor, in the same order. Throws std::invalid_argument
    //! (in Python: ValueError) if they do not.
    virtual void set_items(const std::vector<item>& items) = 0;

    //! Change the rate, in bytes of UDP payload per second, 0 = unlimited. Packets that
    //! are queued already are sent at the new rate. Throws std::invalid_argument (in
    //! Python: ValueError) for a negative rate.
    virtual void set_rate(double rate) = 0;

    virtual double rate() const = 0; //!< the rate as set

    virtual sink_stats stats() const = 0; //!< all counters

    virtual std::size_t packet_size() const = 0; //!< bytes of a full packet as sent

    virtual std::vector<std::string> destinations() const = 0; //!< as given
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_H */
