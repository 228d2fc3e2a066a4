/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_SOURCE_OPTIONS_H
#define INCLUDED_SPEAD_SOURCE_OPTIONS_H

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
 * \brief The options of the SPEAD source, each with its default.
 */
struct SPEAD_API source_options {
    //! \name General
    //! \{

    //! Type of the output samples: "int8", "int16", "int32" or "float"; complex: "sc8" or
    //! "sc16" (pairs of integers of 8 or 16 bits) or "complex" (pairs of floats).
    //! Integers are output as integers of the same size, with the same bits, or of a
    //! larger size, with the same value. For "float" and "complex", numbers of any type
    //! are converted and divided by scale. "int8" also outputs the bytes of integers of
    //! other sizes, such as packed ones of 4 bits.
    std::string output_type = "int8";

    //! Type of the numbers in packets, as in numpy: "i1", "u1", "i2", "u2", "i4", "u4",
    //! "f4" or "f8", and for "complex" also "c8" or "c16" (pairs of floats). With "<" in
    //! front, such as "<i2", they are little-endian, else big-endian. "i10" and "i12" are
    //! packed integers of 10 and 12 bits, the highest bit first: four numbers in five
    //! bytes, two in three. Heaps must hold such groups; where a byte is lost, its group
    //! is missing. Empty: integers of
    //! the same size as the output, or "i1" for "float" and "complex". It must be empty
    //! unless items is set, because the descriptors give the type. Where descriptors
    //! arrive although items is set, and give another type, no samples are output, unless
    //! output_type is "int8", which outputs any bytes.
    std::string wire_type = "";

    //! Divisor for "float" and "complex" samples, above 0. The default is the largest
    //! integer of the type in packets, such as 127 for "i1", so that full scale is 1.0;
    //! it is 1 if packets hold floats.
    std::optional<double> scale = std::nullopt;

    //! Number of stream outputs, 1 to 64. On all outputs, samples at the same offset have
    //! the same timestamp. With axes, it must be 1: "pol" gives the number of outputs.
    std::int64_t num_outputs = 1;

    //! \}

    //! \name Heap
    //! \{

    //! Items of a heap: one samples(), at most one timestamp() and any number of
    //! immediate(). The value of an immediate item becomes a tag. An immediate() with a
    //! value selects the heaps with this value; with a list of values, one per output, it
    //! separates streams that arrive at the same endpoint. None: the descriptors of the
    //! stream give the items; up to 1 MiB of packets is kept until the descriptors
    //! arrive. Heaps without a timestamp must all have the same length and consecutive
    //! heap counters, and need a single output.
    std::optional<std::vector<item>> items = std::nullopt;

    //! The axes of the samples in a heap and their sizes, the slowest one first, such as
    //! "channel=1024, time=256, pol=2". The outputs are vectors then: "time" runs along
    //! the stream, each "pol" has an output, and the other axes form the vector. If heaps
    //! hold a part of an axis, such as 64 of 1024 frequencies, give both sizes:
    //! "frequency=64/1024". Then the item of the same name gives the first index of the
    //! part, and parts with the same timestamp are joined. Parts that do not arrive are
    //! zeros. At the first vector of a heap, the tag "missing" gives the number of its
    //! missing samples in all parts and outputs. stats(i) counts part i. Empty: the
    //! outputs are streams of samples.
    std::string axes = "";

    //! \}

    //! \name Time
    //! \{

    //! Number of ticks in heap_samples samples or, with axes, in a heap, 1 to 2^48 - 1.
    //! By default, there is one tick per sample or, with axes, per vector.
    std::optional<std::int64_t> timestamp_step = std::nullopt;

    //! Number of samples in timestamp_step ticks, 1 to 4294967296. Heaps of any size are
    //! received. Without effect unless timestamp_step is set, and with axes, whose sizes
    //! give the number.
    std::int64_t heap_samples = 8192;

    //! Ticks per second, equal to the sample rate unless timestamp_step is set: a whole
    //! number or the exact ratio of two integers. If set, samples get "rx_time" tags.
    std::optional<exact_rate> sample_rate = std::nullopt;

    //! Time of tick 0: seconds since 1970 as text, such as "1600000000.123456789", or an
    //! integer number of nanoseconds.
    std::variant<std::string, std::int64_t> sync_time = "0";

    //! The time of the first output sample of each run: its tick, 0 to 2^63 - 1, or with
    //! sample_rate seconds since 1970 as text, such as "1600000000.5", for the first tick
    //! at or after this time. So sources in several flow graphs, processes and hosts have
    //! the same tick at the same offset. Earlier samples are discarded and counted in
    //! samples_early; with axes, the output begins with the first heap at or after this
    //! time. If the stream begins up to max_gap samples later, those before it are
    //! missing; if it begins later than that, the output begins with it, and the log says
    //! so. Timestamps that wrap are compared modulo their size. None: the output begins
    //! with the first sample that arrives.
    std::optional<std::variant<std::string, std::int64_t>> timestamp_start = std::nullopt;

    //! \}

    //! \name Receiving
    //! \{

    //! What to do with samples that do not arrive. "zero_fill" outputs zeros, with
    //! a tag "missing". "skip" omits them, with a tag "skipped" (single output only).
    std::string on_missing = "zero_fill";

    //! How long to wait for a sample after a later one has arrived, in seconds, 0 to 60.
    //! An output that receives nothing delays the others by ten times as long. When the
    //! buffer is full, the source does not wait.
    double max_delay = 0.1;

    //! Largest gap that is filled with zeros, 0 to 4294967296 samples. A larger gap is
    //! not filled, and the next sample has a tag "timestamp". If the heap counters
    //! advance as much as the timestamps, the samples of the gap count as missing and
    //! skipped; otherwise the stream starts over, and the values of items are tagged
    //! again. A gap inside a heap is always filled if it fits into the buffer. The stream
    //! also starts over when timestamps jump back after silence.
    std::int64_t max_gap = 16777216;

    //! Whether an end-of-stream heap ends the stream, and with it the flow graph: windows
    //! keep what they show. With false, the source waits for the next stream.
    bool end_on_stop = true;

    //! Seconds without a packet after which the stream ends, even if none ever arrives:
    //! 0.001 to 1000000000. With 0, the source waits forever.
    double timeout = 0;

    //! Whether a capture is replayed at the speed at which it was recorded, not as fast
    //! as the flow graph takes it.
    bool realtime = false;

    //! Whether captures are replayed again and again. Each replay continues the ticks of
    //! the last one without a discontinuity, unless the captured times go back. The
    //! values of items are tagged again. No effect on addresses. A named pipe cannot be
    //! repeated.
    bool repeat = false;

    //! Size of the buffer of each output in bytes, 262144 to 2^40, with room for at least
    //! 262144 samples. 0: 2 MiB divided by num_outputs, but at least 1 MiB.
    std::int64_t buffer_size = 0;

    //! Interval between messages on the port "stats" in seconds, 0.001 to 1000000000. 0:
    //! no messages. None are sent while the flow graph is blocked. The last one is sent
    //! when the flow graph stops.
    double stats_interval = 0;

    //! Network interface to receive from: a name such as "eth1", or one of its addresses.
    //! Empty: all; multicast groups are joined on the interface that the routing table
    //! selects.
    std::string interface = "";

    //! \}

    //! Calls visit(name, member) for each option, in order.
    template <typename visitor>
    static void for_each(visitor&& visit)
    {
        visit("output_type", &source_options::output_type);
        visit("wire_type", &source_options::wire_type);
        visit("scale", &source_options::scale);
        visit("num_outputs", &source_options::num_outputs);
        visit("items", &source_options::items);
        visit("axes", &source_options::axes);
        visit("timestamp_step", &source_options::timestamp_step);
        visit("heap_samples", &source_options::heap_samples);
        visit("sample_rate", &source_options::sample_rate);
        visit("sync_time", &source_options::sync_time);
        visit("timestamp_start", &source_options::timestamp_start);
        visit("on_missing", &source_options::on_missing);
        visit("max_delay", &source_options::max_delay);
        visit("max_gap", &source_options::max_gap);
        visit("end_on_stop", &source_options::end_on_stop);
        visit("timeout", &source_options::timeout);
        visit("realtime", &source_options::realtime);
        visit("repeat", &source_options::repeat);
        visit("buffer_size", &source_options::buffer_size);
        visit("stats_interval", &source_options::stats_interval);
        visit("interface", &source_options::interface);
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_SOURCE_OPTIONS_H */
