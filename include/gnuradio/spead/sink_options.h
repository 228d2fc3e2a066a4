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
    //! \name General
    //! \{

    //! Samples in a heap, 1 to 4294967296. Ignored with axes, whose sizes give the
    //! number.
    std::int64_t heap_samples = 8192;

    //! Type of the samples: "int8", "int16", "int32" or "float"; complex: "sc8" or "sc16"
    //! (pairs of integers of 8 or 16 bits) or "complex" (pairs of floats). Integers keep
    //! their values. Floats that are sent as integers are multiplied by scale, rounded to
    //! the nearest integer and clipped to the range of these integers. Halves are rounded
    //! to even; on machines other than x86, they may be rounded away from zero. NaN is
    //! sent as 0. The counter samples_clipped counts samples that were clipped or NaN.
    std::string input_type = "int8";

    //! Type of the numbers in packets, as in numpy: "i1", "u1", "i2", "u2", "i4", "u4",
    //! "f4" or "f8", and for "complex" also "c8" or "c16" (pairs of floats). With "<" in
    //! front, such as "<i2", they are little-endian, else big-endian. "i10" and "i12" are
    //! packed integers of 10 and 12 bits, the highest bit first: four numbers in five
    //! bytes, two in three, as in the heaps of MeerKAT's digitisers (katgpucbf). A heap
    //! must fill whole bytes; zeros complete a shorter one. Integers are sent as integers
    //! of the same size, with the same bits, or as a type that holds all their values;
    //! those of 16 bits also packed, clipped and counted in samples_clipped; floats as
    //! any type. Empty: integers are sent as they are and floats as "i1". Little-endian
    //! numbers, "c8" and "c16" are described by a numpy header, which fixes the shape of
    //! heaps: see tail.
    std::string wire_type = "";

    //! Factor for "float" and "complex" samples, above 0. The default is the largest
    //! integer of wire_type, such as 127 for "i1", so that full scale is 1.0; it is 1 if
    //! packets hold floats. Not allowed for integer types.
    std::optional<double> scale = std::nullopt;

    //! Number of stream inputs, 1 to 64. Each input has its own heaps. Inputs advance
    //! together: none is ahead of the slowest by more than one heap or 256 KiB, whichever
    //! is more. An input that has ended does not hold up the others. With
    //! when_full="drop", inputs do not wait for each other. If an input ends before it
    //! delivers a sample, GNU Radio stops the block.
    std::int64_t num_inputs = 1;

    //! \}

    //! \name Heap
    //! \{

    //! Items of a heap, in order: one samples(), at most one timestamp() and any number
    //! of immediate(). Their IDs and names must differ. At most 251 items, or 125 with
    //! descriptors="first_heap". Every packet repeats the items.
    std::vector<item> items = default_items();

    //! The axes of the samples in a heap and their sizes, the slowest one first, such as
    //! "channel=1024, time=256, pol=2". The inputs are vectors then: "time" runs along
    //! the stream, each "pol" has an input, and the other axes form the vector. If heaps
    //! hold a part of an axis, such as 64 of 1024 frequencies, give both sizes:
    //! "frequency=64/1024". Then each part is a stream of its own, like an input without
    //! axes, and may have its own destinations and values of items. The immediate() of
    //! the same name as the axis gives the first index of the part; it needs no value.
    //! Axes fix the shape of heaps: see tail. sample_rate must be None. Empty: the inputs
    //! are streams of samples.
    std::string axes = "";

    //! How the descriptors of the items are sent. "first_heap": in the first heap of
    //! samples to each destination after each start. "separate": in heaps of their own.
    //! "none": never, for receivers that know the items, such as chunk receivers.
    std::string descriptors = "first_heap";

    //! Interval between repetitions of the descriptors in seconds, 0.001 to 1000000000,
    //! for receivers that start late. 0: not repeated. They are sent in heaps of their
    //! own, between two heaps of samples. While an input gets no samples, its descriptors
    //! are not repeated. Without effect with descriptors="none".
    double descriptor_interval = 1;

    //! Maximum size of a packet in bytes of UDP payload, headers included, up to 65507. A
    //! packet must hold the item pointers, one more for each descriptor, and 8 bytes of
    //! payload. 0: the largest payload that the MTU of the path allows. A value
    //! above that is rejected, but the default, 1472, is lowered to it. All packets of a
    //! heap except the last have the same size.
    std::int64_t max_packet_size = 1472;

    //! Whether NULL items fill the last packet of a heap up to the size of the others.
    //! Packets of several heaps can then be sent in one segmented send. Receivers that
    //! expect a fixed number of items need false.
    bool pad_packets = true;

    //! What to do with the unfinished heap at the end of the stream. "short" sends a heap
    //! of just its samples; not allowed with axes, nor with a wire_type that is
    //! little-endian or complex, as these fix the shape of heaps. "pad" fills it with
    //! zeros. "drop" drops and counts it. Empty: "short" where it is allowed, else "pad".
    //! Even with "short", a heap larger than an eighth of the packet ring is filled with
    //! zeros once one of its packets, which state the full length, has been sent.
    //! samples_zero_filled counts zeros.
    std::string tail = "";

    //! Width of immediate values and of addresses in a heap, in bits: 40
    //! (SPEAD-64-40) or 48 (SPEAD-64-48). Heap counters and timestamps wrap at this
    //! width.
    std::int64_t heap_address_bits = 40;

    //! Whether to leave out the heap length (item 0x02) and the payload offset (0x03), as
    //! SKA-Low does. Each heap must fit into one packet; descriptors must be "separate"
    //! or "none". spead2 does not accept such packets, spead.source does.
    bool single_packet_heaps = false;

    //! Heap counter of the first heap, 0 to 2^heap_address_bits - 1. For mkrecv, start
    //! at 2: it ignores a heap with counter 1.
    std::int64_t heap_id_start = 1;

    //! Step from one heap counter to the next, 1 to (2^(heap_address_bits - 16) - 1) /
    //! num_inputs, so that no heap counter is repeated within 65536 heaps. With n inputs,
    //! the counters of each advance by n times this step. If n sinks send to the same
    //! receiver, give them heap_id_start 0 to n - 1 and heap_id_step n: then no two use
    //! the same heap counter.
    std::int64_t heap_id_step = 1;

    //! \}

    //! \name Time
    //! \{

    //! Timestamp of the first heap in ticks, 0 to 2^heap_address_bits - 1. Must be 0 with
    //! sample_rate.
    std::int64_t timestamp_start = 0;

    //! Ticks from one heap to the next, 0 to 2^heap_address_bits - 1; with sample_rate, 1
    //! or more. The default is heap_samples or, with axes, the size of "time".
    std::optional<std::int64_t> timestamp_step = std::nullopt;

    //! Ticks per second: a whole number or the exact ratio of two integers.
    //! Without it, timestamps start at timestamp_start and advance by timestamp_step per
    //! heap. With it, timestamps are ticks since sync_time, and follow the "rx_time" tags
    //! that SDR sources attach. Each input needs its own tags. Heaps begin at multiples
    //! of timestamp_step; samples before the first multiple or before sync_time are
    //! dropped. No timestamp is sent twice: samples whose times have been sent, after a
    //! step back or in a later run, are dropped. If they last more than a second, this is
    //! logged. Until the first tag, timestamps count up from 0, or continue those of the
    //! previous run. A tick is a sample if timestamp_step equals heap_samples.
    std::optional<exact_rate> sample_rate = std::nullopt;

    //! Time of tick 0, with sample_rate: seconds since 1970 as text, such as
    //! "1600000000.123456789", or an integer number of nanoseconds. Receivers need the
    //! same value. Timestamps wrap after 2^heap_address_bits ticks, so choose a recent
    //! time.
    std::variant<std::string, std::int64_t> sync_time = "0";

    //! What to do when tags show that samples are missing, with sample_rate. "realign"
    //! drops the unfinished heap and aligns a new one, as at the start. "zero_fill" packs
    //! zeros in place of the missing samples, or realigns if more than 10 s are missing.
    std::string on_gap = "realign";

    //! \}

    //! \name Sending
    //! \{

    //! Rate at which to send, in bytes of UDP payload per second. 0: as fast as samples
    //! arrive. After a delay, the sink catches up at no more than 1.05 times the
    //! rate. With a rate and when_full="block", the packet rings hold at most what the
    //! rate sends in half a second, two bursts, or a heap per input, whichever is most.
    //! A capture is written as fast as samples arrive; the rate gives the times in it.
    double rate = 0;

    //! Maximum burst when rate is set, in bytes, 1 to 1073741824. Values below one
    //! packet, or below what the rate sends in 300 us, are raised to that. After a delay,
    //! two bursts may be sent at once: a receiver that reads at 1.05 times the rate needs
    //! a buffer of two bursts.
    std::int64_t burst_size = 65536;

    //! What to do when the packet ring is full. "block": the flow graph waits, and
    //! nothing is lost. "drop": whole heaps are dropped and counted; heap counters and
    //! timestamps continue.
    std::string when_full = "block";

    //! Size of the packet ring of each input in bytes: at least eight packets; with
    //! when_full="drop" two heaps and four packets. 0: 8 MiB divided by num_inputs, but
    //! at least 1 MiB, or more if the ring must be larger.
    std::int64_t buffer_size = 0;

    //! Whether to send an end-of-stream heap when the flow graph stops. lock() and
    //! unlock() stop and start the flow graph, too. A spead2 stream stops at this heap,
    //! unless its stop_on_stop_item is false. Receivers that keep running from run to
    //! run, such as instruments, need false.
    bool send_stop = true;

    //! CPU to pin the sender thread to, 0 to the number of CPUs - 1. -1: not pinned.
    std::int64_t affinity = -1;

    //! Interval between messages on the port "stats" in seconds, 0.001 to 1000000000. 0:
    //! no messages. The last one is sent when the flow graph stops.
    double stats_interval = 0;

    //! Network interface to send from: a name such as "eth1", or one of its
    //! addresses. Empty: the routing table selects it.
    std::string interface = "";

    //! Time to live of multicast packets in hops, 0 to 255.
    std::int64_t ttl = 1;

    //! \}

    //! Calls visit(name, member) for each option, in order.
    template <typename visitor>
    static void for_each(visitor&& visit)
    {
        visit("heap_samples", &sink_options::heap_samples);
        visit("input_type", &sink_options::input_type);
        visit("wire_type", &sink_options::wire_type);
        visit("scale", &sink_options::scale);
        visit("num_inputs", &sink_options::num_inputs);
        visit("items", &sink_options::items);
        visit("axes", &sink_options::axes);
        visit("descriptors", &sink_options::descriptors);
        visit("descriptor_interval", &sink_options::descriptor_interval);
        visit("max_packet_size", &sink_options::max_packet_size);
        visit("pad_packets", &sink_options::pad_packets);
        visit("tail", &sink_options::tail);
        visit("heap_address_bits", &sink_options::heap_address_bits);
        visit("single_packet_heaps", &sink_options::single_packet_heaps);
        visit("heap_id_start", &sink_options::heap_id_start);
        visit("heap_id_step", &sink_options::heap_id_step);
        visit("timestamp_start", &sink_options::timestamp_start);
        visit("timestamp_step", &sink_options::timestamp_step);
        visit("sample_rate", &sink_options::sample_rate);
        visit("sync_time", &sink_options::sync_time);
        visit("on_gap", &sink_options::on_gap);
        visit("rate", &sink_options::rate);
        visit("burst_size", &sink_options::burst_size);
        visit("when_full", &sink_options::when_full);
        visit("buffer_size", &sink_options::buffer_size);
        visit("send_stop", &sink_options::send_stop);
        visit("affinity", &sink_options::affinity);
        visit("stats_interval", &sink_options::stats_interval);
        visit("interface", &sink_options::interface);
        visit("ttl", &sink_options::ttl);
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SINK_OPTIONS_H */
