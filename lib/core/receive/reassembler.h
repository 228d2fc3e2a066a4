/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_REASSEMBLER_H
#define INCLUDED_SPEAD_CORE_REASSEMBLER_H

#include "axes/heap_axes.h"
#include "descriptor_collector.h"
#include "heap_table.h"
#include "no_output_reason.h"
#include "output_window.h"
#include "packet_store.h"
#include "protocol/packet_parser.h"
#include "receive_counters.h"
#include "split_samples.h"
#include "stream_format.h"
#include "stream_tracker.h"
#include "support/rate_limited_log.h"

#include <boost/container/flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gr::spead {

/*!
 * \brief Places the samples of packets in the window.
 *
 * Their position follows from the timestamp of the heap and the payload offset of the
 * packet. place_packet() takes a bounded time, and leaves longer work to resume().
 */
class reassembler
{
public:
    using clock = std::chrono::steady_clock;

    struct config {
        //! The group of each socket. There is one group per output, or one for all.
        std::vector<std::size_t> group_of_socket;
        bool has_group_for_each_output = false;
        sample_type type = sample_type::int8;       //!< type of the outputs
        std::optional<double> scale = std::nullopt; //!< none: full scale is 1.0
        heap_axes axes;
        //! of items; nullptr: from descriptors
        std::shared_ptr<const stream_format> format;
        stream_tracker::config stream;
    };

    reassembler(config how,
                output_window& window,
                std::vector<source_counter_set>& counters, //!< per output
                source_counter_set& common,
                reject_counters& rejects,
                rate_limited_log& log);

    void start_run();
    //! Drops all waiting packets and heaps, and counts the incomplete ones.
    void end_run();

    //! Places or stores a datagram. False if there is no room: call it again after the
    //! window has produced samples.
    bool place_packet(const received_packet& packet, clock::time_point now);
    //! Counts a datagram that is unusable.
    void reject(packet_error error,
                const std::byte* datagram = nullptr,
                std::size_t bytes = 0);
    //! Reads descriptors, places stored packets and drops those that are too old. A call
    //! does a part of this work: call it again while has_deferred_work(). False if there
    //! is no room.
    bool resume(clock::time_point now);
    bool has_deferred_work() const
    {
        return (d_format && d_store.has_ready()) || d_collectors.has_work();
    }

    //! Whether an end-of-stream heap of the stream has arrived in this run.
    bool has_stopped() const { return d_has_stopped; }
    //! The format of the samples; nullptr until it is known.
    const stream_format* format() const { return d_format.get(); }
    //! The end position of the heaps that have begun to arrive.
    std::int64_t end() const { return d_tracker.end(); }
    std::uint64_t tick_at(std::int64_t position) const
    {
        return d_tracker.tick_at(position);
    }

    //! Why packets have produced no samples since clear_no_output_reason(), with the
    //! remedy.
    const std::string& why_no_output() const { return d_no_output_reason.text(); }
    void clear_no_output_reason() { d_no_output_reason.clear(); }

private:
    using state = received_heap::state;
    using cause = no_output_reason::cause;

    enum class result {
        done,
        ignored,
        rejected,
        wait, // until its heap is accepted
        full  // until the window has room
    };

    // A received packet and its parsed header.
    struct arrival : packet_view {
        received_packet from;
        heap_id heap;
        clock::time_point time = {};
    };

    result place(const arrival& packet);
    result read_heap(const arrival& packet, received_heap* known);
    result classify(const arrival& packet, received_heap* placed);
    void note_misaligned();
    void begin_stream();
    void skip_to(std::int64_t position);
    received_heap& record(const received_heap& heap);
    void forget_heaps();
    void finish(const received_heap& heap);
    result place_samples(received_heap& heap, const arrival& packet);
    bool set_values(received_heap& heap);

    void read_items(const packet_view& packet);
    bool has_axes(const received_heap& heap) const;
    std::optional<std::size_t> output_of(const received_heap& heap) const;

    void collect_descriptors(const arrival& packet);
    bool read_descriptors();
    std::shared_ptr<const stream_format> described_format() const;
    bool confirms_format(const heap_id& heap);
    void index_immediates();
    bool use_format(std::shared_ptr<const stream_format> format);

    void release(const heap_id* of = nullptr);

    void note_end(const arrival& packet, bool is_in_order);

    const config d_config;
    output_window& d_window;
    std::vector<source_counter_set>& d_counters;
    source_counter_set& d_common;
    reject_counters& d_rejects;
    rate_limited_log& d_log;

    std::shared_ptr<const stream_format> d_format;
    std::vector<item_description> d_descriptions; // all descriptions, one per item ID
    descriptor_collectors d_collectors;
    bool d_has_new_descriptions = false; // since d_format was derived
    sample_decoder d_decoder;

    heap_table d_heaps;
    stream_tracker d_tracker;
    split_samples d_split;
    received_heap d_heap; // heap of the packet that is being placed
    // item ID to index in d_format->immediates
    boost::container::flat_map<std::uint64_t, std::size_t> d_immediates;

    packet_store d_store;
    bool d_has_stopped = false;
    clock::time_point d_now{}; // time of this call; stored packets arrived earlier
    struct jump {
        heap_id heap;
        clock::time_point time = {};
    };
    // Stored packets that arrived before the start of the stream belong to another one.
    // Those that the sender of d_jump sent before it may too, unless they have items.
    clock::time_point d_stream_start{};
    jump d_jump;
    std::uint64_t d_last_sender = 0; // in this run; 0: none
    heap_id d_last_end;              // last end-of-stream heap
    clock::time_point d_last_end_time{};

    no_output_reason d_no_output_reason;
    std::string d_refusal; // why the descriptors are unusable; else empty
    bool d_has_logged_other = false;
    bool d_has_logged_misaligned = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_REASSEMBLER_H */
