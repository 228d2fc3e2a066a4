/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_H
#define INCLUDED_SPEAD_SINK_H

#include <gnuradio/spead/api.h>
#include <gnuradio/spead/item.h>
#include <gnuradio/sync_block.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr {
namespace spead {

/*!
 * \brief The options of the SPEAD sink, each with its default.
 */
struct SPEAD_API sink_options {
    //! samples in a heap, 1 to 4294967296
    std::int64_t heap_samples = 8192;

    //! largest packet in bytes of UDP payload, headers included: from the smallest that
    //! holds the items, their descriptors and 8 bytes of samples to 65507, and no larger
    //! than the MTU of the path allows; 0 takes the MTU of the path, and the default,
    //! 1472, is lowered to it. All packets of a heap get the same size, which is this or
    //! less
    std::int64_t max_packet_size = 1472;

    //! width of immediate values and of addresses in a heap in bits, 40 (SPEAD-64-40) or
    //! 48 (SPEAD-64-48); counters and timestamps wrap at this width
    std::int64_t heap_address_bits = 40;

    //! heap counter of the first heap, 0 to 2^heap_address_bits - 1; mkrecv ignores a
    //! heap with counter 1
    std::int64_t heap_id_start = 1;

    //! what the heap counter grows by from heap to heap, 1 to 2^heap_address_bits - 1
    std::int64_t heap_id_step = 1;

    //! what a heap holds, in order: one samples() and at most one timestamp(), of
    //! different IDs and names; every packet repeats the items
    std::vector<item> items = default_items();

    //! where the descriptors of the items go: "first_heap" (with the samples of the
    //! first heap after each start) or "none" (for receivers that know the items, such
    //! as chunk receivers)
    std::string descriptors = "first_heap";

    //! fill a shorter last packet of a heap with NULL items, so that it is as long as
    //! the others and a large send runs on across heaps; false for receivers that demand
    //! an exact number of items
    bool pad_packets = true;

    //! timestamp of the first heap, in ticks, 0 to 2^heap_address_bits - 1
    std::int64_t timestamp_start = 0;

    //! ticks from heap to heap, 0 to 2^heap_address_bits - 1; heap_samples unless given
    std::optional<std::int64_t> timestamp_step = std::nullopt;

    //! pace, in bytes of UDP payload per second; 0 sends as fast as samples arrive
    double rate = 0;

    //! bytes sent back to back when paced, 1 to 1073741824. Where that is less than a
    //! packet and what the rate makes in 50 us, which is how late a thread may be, bursts
    //! are longer: up to two packets and what the rate makes in 100 us
    std::int64_t burst_size = 65536;

    //! what happens when samples arrive faster than they can be sent: "block" (the flow
    //! graph waits, nothing is lost) or "drop" (whole heaps are left out and counted;
    //! heap counters and timestamps run on)
    std::string when_full = "block";

    //! bytes of the packet ring between work() and the sender thread, at least eight
    //! packets, with when_full="drop" at least two heaps; 0 lets the block choose 8 MiB,
    //! or as much as that takes
    std::int64_t buffer_size = 0;

    //! what becomes of the unfinished heap at the end of the stream: "short" (a heap with
    //! just those samples; one larger than an eighth of buffer_size is filled up with
    //! zeros behind a NULL item that ends the samples), "pad" (zeros up to a whole heap)
    //! or "drop" (counted)
    std::string tail = "short";

    //! send an end-of-stream heap when the flow graph stops
    bool send_stop = true;

    //! seconds that stop() may take to send what is left, at the pace, 0 to 3600; what is
    //! left after that is dropped and counted
    double stop_timeout = 1.0;

    //! network interface (a name such as "eth1", or one of its addresses) that packets
    //! leave by; "" leaves it to the routing table
    std::string interface = "";

    //! time to live of multicast packets in hops, 0 to 255
    std::int64_t ttl = 1;

    //! whether multicast packets also reach receivers on this host
    bool loopback = true;

    //! bytes of the kernel's send buffer, 0 to 1073741824; 0 lets the block choose
    std::int64_t socket_buffer = 0;

    //! differentiated services code point of the packets, 0 to 63 (RFC 2474)
    std::int64_t dscp = 0;

    //! hand many packets to the kernel in one piece where it can (UDP_SEGMENT)
    bool gso = true;

    //! let the device read large messages where they lie (MSG_ZEROCOPY), as long as the
    //! kernel does not copy them all the same, as it does for receivers on this host
    bool zero_copy = true;

    //! CPU that the sender thread is pinned to, 0 to the number of CPUs - 1; -1 leaves it
    //! to the kernel
    std::int64_t affinity = -1;
};

/*!
 * \brief What the SPEAD sink has done so far.
 *
 * At every moment samples_in == samples_sent + samples_dropped + samples_pending. A
 * sample counts as sent once every packet of its heap has been handed to the kernel, as
 * dropped once any of them could not be, and as pending until then. Counters go on over
 * stop() and start().
 */
struct SPEAD_API sink_stats {
    std::uint64_t samples_in = 0;      //!< samples taken from the flow graph
    std::uint64_t samples_sent = 0;    //!< samples in heaps that were sent whole
    std::uint64_t samples_dropped = 0; //!< samples in heaps that were not sent whole
    std::uint64_t samples_pending = 0; //!< samples on their way
    std::uint64_t heaps_sent = 0;      //!< heaps with samples that were sent whole
    std::uint64_t heaps_dropped = 0;   //!< heaps with samples that were not
    std::uint64_t packets_sent = 0;    //!< packets handed to the kernel
    std::uint64_t packets_dropped = 0; //!< packets made but not sent
    std::uint64_t bytes_sent = 0;      //!< UDP payload of packets_sent
    std::uint64_t icmp_errors = 0;     //!< ICMP errors received, mostly: nobody listens
    std::uint64_t gso_refused = 0;     //!< segmented sends that went packet by packet
    bool gso = false;                  //!< segmented sends are in use
    bool zero_copy = false;            //!< large messages are not copied
    std::map<std::string, std::uint64_t> send_errors; //!< failed sends by errno name
};

/*!
 * \brief SPEAD Sink: sends a stream of int8 samples as SPEAD heaps over UDP.
 * \ingroup spead
 *
 * \details
 * Packs the samples of its one input (int8, one byte each) into heaps of heap_samples
 * samples with a running timestamp and sends them, as SPEAD-64-40 or SPEAD-64-48 (SPEAD
 * protocol, version 4), to one UDP endpoint. The packets are laid out in advance and
 * recycled; a thread of its own, named "spead-send", sends them.
 *
 * Everything is checked, resolved and allocated in the constructor: it throws
 * std::invalid_argument (in Python: ValueError) which names the parameter, its value and
 * what is allowed, or std::runtime_error where the system refuses. While the flow graph
 * runs, trouble with the network never ends it: what could not be sent is counted in
 * stats(), and at most one line a second is logged.
 *
 * Heap counters, timestamps and statistics go on over stop() and start(); an unfinished
 * heap takes up a whole step.
 *
 * All getters, and set_rate(), may be called at any time and from any thread.
 */
class SPEAD_API sink : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<sink> sptr;

    /*!
     * \brief Make a SPEAD sink.
     *
     * \param destinations where the heaps go: "host:port" or "[IPv6 address]:port", port
     *     1 to 65535; the host is an IPv4 or IPv6 address or a name
     * \param options everything else
     */
    static sptr make(const std::string& destinations,
                     const sink_options& options = sink_options());

    //! Change the pace, in bytes of UDP payload per second, 0 = unlimited.
    virtual void set_rate(double rate) = 0;

    virtual double rate() const = 0; //!< the pace as set

    virtual sink_stats stats() const = 0; //!< all counters at one moment

    virtual std::uint64_t samples_in() const = 0;      //!< see sink_stats
    virtual std::uint64_t samples_sent() const = 0;    //!< see sink_stats
    virtual std::uint64_t samples_dropped() const = 0; //!< see sink_stats
    virtual std::uint64_t samples_pending() const = 0; //!< see sink_stats
    virtual std::uint64_t heaps_sent() const = 0;      //!< see sink_stats
    virtual std::uint64_t heaps_dropped() const = 0;   //!< see sink_stats
    virtual std::uint64_t packets_sent() const = 0;    //!< see sink_stats
    virtual std::uint64_t packets_dropped() const = 0; //!< see sink_stats
    virtual std::uint64_t bytes_sent() const = 0;      //!< see sink_stats
    virtual std::uint64_t icmp_errors() const = 0;     //!< see sink_stats
    virtual std::uint64_t gso_refused() const = 0;     //!< see sink_stats
    virtual bool gso() const = 0;                      //!< see sink_stats
    virtual bool zero_copy() const = 0;                //!< see sink_stats

    virtual std::size_t packet_size() const = 0; //!< bytes of a full packet as sent
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_SINK_H */
