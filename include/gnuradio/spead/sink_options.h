/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SINK_OPTIONS_H
#define INCLUDED_SPEAD_SINK_OPTIONS_H

#include <gnuradio/spead/api.h>
#include <gnuradio/spead/exact_rate.h>
#include <gnuradio/spead/item.h>

#include <cstdint>
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

    //! UDP port of this host that packets are sent from, 0 to 65535, for firewalls and
    //! for switches that share out streams by their ports; 0 takes any that is free
    std::int64_t source_port = 0;

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

//! Calls visit(name, member) for each option, in order.
template <typename visitor>
void for_each_option(visitor&& visit)
{
    visit("heap_samples", &sink_options::heap_samples);
    visit("num_inputs", &sink_options::num_inputs);
    visit("max_skew", &sink_options::max_skew);
    visit("input_type", &sink_options::input_type);
    visit("byte_order", &sink_options::byte_order);
    visit("scale", &sink_options::scale);
    visit("max_packet_size", &sink_options::max_packet_size);
    visit("heap_address_bits", &sink_options::heap_address_bits);
    visit("heap_id_start", &sink_options::heap_id_start);
    visit("heap_id_step", &sink_options::heap_id_step);
    visit("items", &sink_options::items);
    visit("descriptors", &sink_options::descriptors);
    visit("descriptor_interval", &sink_options::descriptor_interval);
    visit("pad_packets", &sink_options::pad_packets);
    visit("timestamp_start", &sink_options::timestamp_start);
    visit("timestamp_step", &sink_options::timestamp_step);
    visit("timestamp_source", &sink_options::timestamp_source);
    visit("sample_rate", &sink_options::sample_rate);
    visit("sync_time", &sink_options::sync_time);
    visit("on_gap", &sink_options::on_gap);
    visit("on_start", &sink_options::on_start);
    visit("rate", &sink_options::rate);
    visit("burst_size", &sink_options::burst_size);
    visit("when_full", &sink_options::when_full);
    visit("buffer_size", &sink_options::buffer_size);
    visit("tail", &sink_options::tail);
    visit("send_stop", &sink_options::send_stop);
    visit("stop_timeout", &sink_options::stop_timeout);
    visit("interface", &sink_options::interface);
    visit("source_port", &sink_options::source_port);
    visit("ttl", &sink_options::ttl);
    visit("loopback", &sink_options::loopback);
    visit("socket_buffer", &sink_options::socket_buffer);
    visit("dscp", &sink_options::dscp);
    visit("gso", &sink_options::gso);
    visit("zero_copy", &sink_options::zero_copy);
    visit("affinity", &sink_options::affinity);
    visit("stats_interval", &sink_options::stats_interval);
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_OPTIONS_H */
