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
 * \brief SPEAD Sink: sends streams of samples as SPEAD heaps over UDP.
 * \ingroup spead
 *
 * \details
 * Packs the samples of each input into heaps of heap_samples samples with a running
 * timestamp and sends them, as SPEAD-64-40 or SPEAD-64-48 (SPEAD protocol, version 4), to
 * the destinations of that input in turn. The packets are laid out in advance and
 * recycled; a thread of its own, named "spead-send", sends them.
 *
 * Everything is checked, resolved and allocated in the constructor: it throws
 * std::invalid_argument (in Python: ValueError) which names the parameter, its value and
 * what is allowed, or std::runtime_error (in Python: RuntimeError) where the system
 * refuses. While the flow graph runs, trouble with the network never ends it: what could
 * not be sent is counted in stats(), and at most one line a second is logged. A thread of
 * its own, "spead-log", writes it when standard output and standard error have room, so
 * that a terminal that is stopped stops no stream.
 *
 * Heap counters, timestamps and statistics go on over stop() and start(); an unfinished
 * heap takes up a whole step.
 *
 * The message port "items" takes new values of immediate items, as set_item() does: a
 * dict, or a pair, of name or ID and an integer for all inputs or a vector with one for
 * each. The message port "stats" gives stats(), as a pair of a dict and NIL.
 *
 * All getters, set_rate(), set_item() and set_items() may be called at any time and from
 * any thread.
 */
class SPEAD_API sink : virtual public gr::block
{
public:
    typedef std::shared_ptr<sink> sptr;

    /*!
     * \brief Make a SPEAD sink.
     *
     * \param destinations where the heaps go: one string for all inputs, or one for each;
     *     each is a comma-separated list of "host:port", "[IPv6 address]:port" or
     *     "A.B.C.D+N:port" for N+1 consecutive IPv4 addresses, all multicast groups or
     *     none, port 1 to 65535, that takes the heaps in turn; the host is an IPv4 or
     *     IPv6 address or a name; 4096 at most. They are told apart as they are written,
     *     "+N" as each of its addresses: one under two names counts as two, and gets two
     *     ends of the stream
     * \param options everything else
     */
    static sptr make(const std::vector<std::string>& destinations,
                     const sink_options& options = sink_options());

    //! The same destinations for all inputs.
    static sptr make(const std::string& destinations,
                     const sink_options& options = sink_options())
    {
        return make(std::vector<std::string>{ destinations }, options);
    }

    //! Throws std::invalid_argument where make() would, as far as that can be known
    //! without the network and the memory of this host: no host is looked up, no socket
    //! opened.
    static void check(const std::vector<std::string>& destinations,
                      const sink_options& options);

    //! Change the value of an immediate item, by its ID or name, from the next heap on:
    //! for all inputs (input -1), or for one of them, 0 to num_inputs - 1. Throws
    //! std::invalid_argument (in Python: ValueError) for what is no such item, value or
    //! input.
    //! \{
    virtual void
    set_item(std::int64_t id, std::int64_t value, std::int64_t input = -1) = 0;
    virtual void
    set_item(const std::string& name, std::int64_t value, std::int64_t input = -1) = 0;
    //! \}

    //! Change the values of all immediate items to those in a list of the same items as
    //! at construction. Throws std::invalid_argument (in Python: ValueError) if it is
    //! another.
    virtual void set_items(const std::vector<item>& items) = 0;

    //! Change the pace, in bytes of UDP payload per second, 0 = unlimited. What is queued
    //! already, up to buffer_size if there was no pace, is sent at the new one.
    virtual void set_rate(double rate) = 0;

    virtual double rate() const = 0; //!< the pace as set

    virtual sink_stats stats() const = 0; //!< all counters, see sink_stats

    virtual std::size_t packet_size() const = 0; //!< bytes of a full packet as sent
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_H */
