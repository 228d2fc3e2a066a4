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
#include <gnuradio/spead/exact_rate.h>
#include <gnuradio/spead/item.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gr::spead {

/*!
 * \brief The options of the SPEAD sink, each with its default.
 */
struct SPEAD_API sink_options {
    //! samples in a heap, 1 to 4294967296
    std::int64_t heap_samples = 8192;

    //! stream inputs, 1 to 64, each with heaps of its own. They advance together, see
    //! max_skew. If one ends before it delivers a sample, GNU Radio stops the block
    std::int64_t num_inputs = 1;

    //! heaps that an input may be ahead of the slowest, 1 to 65536. An input that is so
    //! far ahead waits; one that has ended holds up no other. 0 chooses as
    //! many as fit into 4 MiB, at least one. For heaps larger than a sixteenth of the
    //! packet ring it chooses 1. -1 sets no bound, for streams that have nothing to do
    //! with each other. With when_full="drop" no input waits for another
    std::int64_t max_skew = 0;

    //! what the samples are: "int8", "sc8" (complex, two bytes), "int16" or "sc16", which
    //! keep their value; "float" or "complex", which are sent as int8 or sc8: multiplied
    //! by scale, rounded to the nearest integer (half to even) and clipped to -128 to
    //! 127; NaN is sent as 0; samples_clipped counts both
    std::string input_type = "int8";

    //! byte order of int16 and sc16 on the wire: "big", as SPEAD's formats say, or
    //! "little" (as they are in memory), described by a numpy header of a fixed shape,
    //! for which tail must not be "short"
    std::string byte_order = "big";

    //! what "float" and "complex" samples are multiplied by, above 0; 1 for all others
    double scale = 1.0;

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

    //! what the heap counter grows by from heap to heap, 1 to 2^(heap_address_bits - 16)
    //! - 1, divided by num_inputs: no counter comes again within 65536 heaps
    std::int64_t heap_id_step = 1;

    //! what a heap holds, in order: one samples(), at most one timestamp(), any number of
    //! immediate() up to 250 items in all (125 with descriptors="first_heap"), of
    //! different IDs and names; every packet repeats the items
    std::vector<item> items = default_items();

    //! where the descriptors of the items go: "first_heap" (with the samples of the
    //! first heap to each destination after each start), "separate" (in heaps of their
    //! own) or "none" (for receivers that know the items, such as chunk receivers)
    std::string descriptors = "first_heap";

    //! seconds between repetitions of the descriptors in heaps of their own, for
    //! receivers that join late, 0.001 to 1000000000; 0 repeats nothing. They come
    //! between heaps: a longer heap is completed first, and without samples none are sent
    double descriptor_interval = 0;

    //! fill a shorter last packet of a heap with NULL items, so that it is as long as
    //! the others and a large send runs on across heaps; false for receivers that demand
    //! an exact number of items
    bool pad_packets = true;

    //! timestamp of the first heap, in ticks, 0 to 2^heap_address_bits - 1
    std::int64_t timestamp_start = 0;

    //! ticks from heap to heap, 0 to 2^heap_address_bits - 1; heap_samples unless given
    std::optional<std::int64_t> timestamp_step = std::nullopt;

    //! where timestamps come from: "count" (from timestamp_start on) or "rx_time" (tags
    //! of that name, as SDRs give them: ticks of sample_rate since sync_time, with
    //! timestamp_step at least 1; the heaps begin at multiples of it). No timestamp is
    //! sent twice: what comes with times that have been sent, after a step back or in a
    //! later run, is dropped, and a loss of more than a second is warned about
    std::string timestamp_source = "count";

    //! ticks per second with timestamp_source="rx_time": a whole number of Hz, or the
    //! exact ratio of two integers
    std::optional<exact_rate> sample_rate = std::nullopt;

    //! time of tick 0 with timestamp_source="rx_time": seconds since 1970 as text, such
    //! as "1600000000.123456789", or an integer number of nanoseconds
    std::variant<std::string, std::int64_t> sync_time = "0";

    //! what happens when tags tell that samples are missing: "realign" (the unfinished
    //! heap is dropped and another begun as at the start), "zero_fill" (zeros in their
    //! place; realign beyond 10 s) or "ignore" (the samples are counted on, after a step
    //! back as well)
    std::string on_gap = "realign";

    //! what becomes of samples in front of the first multiple of timestamp_step: "drop",
    //! or "zero_fill" (their heap begins at the multiple before, with zeros in front)
    std::string on_start = "drop";

    //! pace, in bytes of UDP payload per second; 0 sends as fast as samples arrive. After
    //! a delay the sink catches up, at no more than 1.05 times rate
    double rate = 0;

    //! most bytes sent back to back when paced, 1 to 1073741824. A burst may be one
    //! packet, or what the rate makes in 300 us, if that is more. A receiver that reads
    //! at 1.05 times the rate has to buffer two bursts
    std::int64_t burst_size = 65536;

    //! what happens when samples arrive faster than they can be sent: "block" (the flow
    //! graph waits, nothing is lost) or "drop" (whole heaps are dropped and counted;
    //! heap counters and timestamps run on)
    std::string when_full = "block";

    //! bytes of the packet ring between work() and the sender thread, at least eight
    //! packets, with when_full="drop" at least two heaps. Each input has its own. 0
    //! chooses 8 MiB divided by the inputs, at least 1 MiB, or as much as that takes
    std::int64_t buffer_size = 0;

    //! what becomes of the unfinished heap at the end of the stream: "short" (a heap with
    //! just those samples; one larger than an eighth of buffer_size is filled up with
    //! zeros behind a NULL item that ends the samples), "pad" (zeros up to a whole heap)
    //! or "drop" (counted)
    std::string tail = "short";

    //! send an end-of-stream heap when the flow graph stops, and at each lock() and
    //! unlock(), which GNU Radio carries out as stop() and start(). A spead2 stream ends
    //! with it for good, unless its stop_on_stop_item is false: true suits a receiver
    //! that is started for one run, false one that is left running, as instruments are
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

    //! seconds between messages on the port "stats", 0.001 to 1000000000, and one when
    //! the flow graph stops; 0 sends none
    double stats_interval = 0;
};

/*!
 * \brief What the SPEAD sink has done so far.
 *
 * In what stats() gives, samples_in == samples_sent + samples_dropped + samples_pending
 * always holds. While the flow graph runs, the other counters may be some heaps apart,
 * since one is read after the other. A sample counts as sent once every packet of its
 * heap has been handed to the kernel, as dropped once any of them could not be, and as
 * pending until then. Counters go on over stop() and start().
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
    std::uint64_t samples_clipped = 0; //!< samples that were clipped, or NaN
    std::uint64_t gaps = 0;            //!< times that tags told of missing samples
    std::uint64_t samples_missing = 0; //!< samples that were missing there
    std::uint64_t samples_zero_filled = 0; //!< zeros packed in their place
    std::uint64_t steps_back = 0; //!< times that tags told of samples come before
    bool gso = false;             //!< segmented sends are in use
    bool zero_copy = false;       //!< large messages are not copied
    std::map<std::string, std::uint64_t> send_errors; //!< failed sends by errno name
};

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
 * dict, or a pair, of name or ID and an integer for all inputs, or a vector, tuple or
 * list with one for each. The message port "stats" gives stats(), as a pair of a dict and
 * NIL.
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

    virtual std::uint64_t samples_in() const = 0;          //!< see sink_stats
    virtual std::uint64_t samples_sent() const = 0;        //!< see sink_stats
    virtual std::uint64_t samples_dropped() const = 0;     //!< see sink_stats
    virtual std::uint64_t samples_pending() const = 0;     //!< see sink_stats
    virtual std::uint64_t heaps_sent() const = 0;          //!< see sink_stats
    virtual std::uint64_t heaps_dropped() const = 0;       //!< see sink_stats
    virtual std::uint64_t packets_sent() const = 0;        //!< see sink_stats
    virtual std::uint64_t packets_dropped() const = 0;     //!< see sink_stats
    virtual std::uint64_t bytes_sent() const = 0;          //!< see sink_stats
    virtual std::uint64_t icmp_errors() const = 0;         //!< see sink_stats
    virtual std::uint64_t gso_refused() const = 0;         //!< see sink_stats
    virtual std::uint64_t samples_clipped() const = 0;     //!< see sink_stats
    virtual std::uint64_t gaps() const = 0;                //!< see sink_stats
    virtual std::uint64_t samples_missing() const = 0;     //!< see sink_stats
    virtual std::uint64_t samples_zero_filled() const = 0; //!< see sink_stats
    virtual std::uint64_t steps_back() const = 0;          //!< see sink_stats
    virtual bool gso() const = 0;                          //!< see sink_stats
    virtual bool zero_copy() const = 0;                    //!< see sink_stats

    virtual std::size_t packet_size() const = 0; //!< bytes of a full packet as sent
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_H */
