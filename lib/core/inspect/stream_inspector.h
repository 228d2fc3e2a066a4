/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_INSPECTOR_H
#define INCLUDED_SPEAD_CORE_STREAM_INSPECTOR_H

#include "protocol/descriptor_reader.h"
#include "protocol/packet_parser.h"
#include "receive/heap_descriptors.h"
#include "receive/receive_counters.h"
#include "receive/timeline.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gr::spead {

//! The smallest and the largest of some numbers.
template <typename type>
struct number_range {
    type min = std::numeric_limits<type>::max();
    type max = std::numeric_limits<type>::min();

    void add(type number)
    {
        min = std::min(min, number);
        max = std::max(max, number);
    }
};

//! Counts how often each number occurs.
class histogram
{
public:
    void add(std::uint64_t number);
    //! Reverts an add(), and returns whether there was one.
    bool remove(std::uint64_t number);
    //! 0 if there are no numbers.
    std::uint64_t most_frequent() const;
    const std::map<std::uint64_t, std::uint64_t>& counts() const { return d_counts; }

private:
    std::map<std::uint64_t, std::uint64_t> d_counts; // the first 256 different ones
};

//! Statistics of an item that SPEAD does not require.
struct inspected_item {
    bool is_number = false;           //!< immediate, or described as a single integer
    std::int64_t last = 0;            //!< value, or size in bytes of other items
    number_range<std::int64_t> range; //!< of values or sizes
    std::set<std::int64_t> values;    //!< the first 257 different ones
    histogram steps;                  //!< increases from heap to heap
};

//! The items of a heap that SPEAD does not require.
struct inspected_heap {
    std::uint64_t arrival; //!< number of its first packet, in the order of arrival
    std::uint64_t counter;
    //! By ID; none: no number, or it has not arrived.
    std::map<std::uint64_t, std::optional<std::int64_t>> items = {};
};

//! Statistics of the packets from one sender to one endpoint.
struct inspected_stream {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;                  //!< UDP payload
    number_range<std::uint64_t> packet_bytes; //!< of packets of heaps with samples
    unsigned heap_address_bits = 0;
    bool is_single = false;                 //!< single-packet heaps, without heap length
    std::uint64_t heaps = 0;                //!< heaps with samples
    number_range<std::uint64_t> heap_bytes; //!< their payload
    std::uint64_t incomplete = 0;           //!< heaps with missing packets
    //! Missing heaps, according to heap counters; none if these are no sequence.
    std::optional<std::uint64_t> lost;
    std::uint64_t counter_step = 0; //!< from one heap counter to the next, or 0
    std::uint64_t counted = 0;      //!< different heap counters
    std::uint64_t reordered = 0;    //!< heaps that arrived after a later one
    std::uint64_t duplicates = 0;   //!< packets
    std::uint64_t descriptors = 0;  //!< heaps with descriptors
    std::uint64_t ends = 0;         //!< end-of-stream heaps
    std::map<std::uint64_t, inspected_item> items;
    std::vector<inspected_heap> first_heaps; //!< the first 4096 heaps with samples
    std::vector<item_description> descriptions;
};

/*!
 * \brief Collects statistics of unknown streams from their packets.
 *
 * Not thread-safe.
 */
class stream_inspector
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    //! Adds a packet of \p bytes from \p sender, received at the endpoint with this
    //! index.
    void add(const packet_view& packet,
             std::size_t bytes,
             const std::string& sender,
             std::size_t endpoint,
             time_point now);

    //! Counts a datagram that is unusable. \p sender may be unknown.
    void reject(packet_error error, const std::string& sender = "")
    {
        d_rejects.add(error);
        if (!sender.empty())
            d_rejected_sender = sender;
    }

    //! By endpoint and sender.
    using key = std::pair<std::size_t, std::string>;
    using streams_by_key = std::map<key, inspected_stream>;
    streams_by_key streams() const;

    //! Packets that are not SPEAD, by reason.
    std::map<std::string, std::uint64_t> rejected() const { return d_rejects.by_name(); }
    std::string last_sender_rejected() const { return d_rejected_sender; }
    //! Packets of senders beyond the first 1024.
    std::uint64_t packets_of_others() const { return d_packets_of_others; }

private:
    // An item whose value has not arrived.
    struct awaited_number {
        std::uint64_t id, begin, end;
        number_format format;
    };
    struct open_heap {
        std::uint64_t counter;
        std::uint64_t tag; // distinguishes single-packet heaps with the same counter
        std::optional<std::uint64_t> length;
        std::uint64_t received = 0;
        bool has_samples = false;
        bool is_first = false;  // its beginning may have been missed
        time_point latest = {}; // packet
        std::set<std::uint64_t> offsets = {};
        std::optional<std::size_t> number = {}; // in first_heaps
        std::vector<awaited_number> awaited_numbers = {};
    };
    // The packets of the heap whose descriptors are arriving.
    struct heap_packets {
        std::uint64_t counter = 0;
        time_point begin{};
        heap_descriptors descriptors;
        std::vector<std::vector<std::byte>> packets;
    };
    struct tracked_stream : inspected_stream {
        std::vector<open_heap> recent_heaps; // a ring
        std::size_t next_heap = 0;
        std::optional<std::uint64_t> newest; // heap counter of the latest heap
        std::vector<std::uint64_t> counters; // of recent heaps; a ring
        histogram counter_steps;
        heap_packets described_heap;
    };

    static void close(inspected_stream& stream, const open_heap& heap);
    static void
    read_descriptors(tracked_stream& stream, const packet_view& packet, time_point now);
    static void
    add_items(tracked_stream& stream, open_heap& heap, const packet_view& packet);
    static void add_value(tracked_stream& stream,
                          const open_heap& heap,
                          std::uint64_t id,
                          std::int64_t value,
                          bool is_number);
    static void add_counter(tracked_stream& stream, std::uint64_t counter);

    std::map<key, tracked_stream> d_streams;
    std::uint64_t d_packets = 0;
    reject_counters d_rejects;
    std::string d_rejected_sender;
    std::uint64_t d_packets_of_others = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_INSPECTOR_H */
