/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_REASSEMBLER_H
#define INCLUDED_SPEAD_CORE_REASSEMBLER_H

#include "descriptor_collector.h"
#include "heap_steps.h"
#include "packet_store.h"
#include "receive_counters.h"
#include "sample_window.h"
#include "stream_format.h"
#include "stream_time.h"
#include "support/rate_limited_log.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Finds the place of each payload in the window: from timestamps, heap counters
 * and payload offsets.
 *
 * Does not allocate for a packet. One thread at a time.
 */
class reassembler
{
public:
    using clock = sample_window::clock;

    //! The outputs of what arrives on one socket, or on several.
    struct socket_group {
        std::size_t first_output;
        std::size_t outputs;
    };
    struct plan {
        std::vector<socket_group> groups;
        sample_type type = sample_type::int8;        //!< of the outputs
        std::shared_ptr<const stream_format> format; //!< none: descriptors tell
        std::int64_t samples = 1;                    //!< that last as long as
        std::int64_t ticks = 1;                      //!< these
        std::int64_t max_gap = 0;                    //!< samples
    };

    reassembler(plan how,
                sample_window& window,
                std::vector<source_counter_set>& counters, //!< of each output
                source_counter_set& common,
                reject_counters& rejects,
                rate_limited_log& log);

    //! Another run begins.
    void start_run();

    //! Takes a packet that came in through a group. False if there is no room: then it is
    //! to be given again later.
    bool take(const std::byte* packet,
              std::size_t bytes,
              std::size_t group,
              clock::time_point now);

    //! Places packets that wait, if their place is known now. False if there is no room:
    //! then it is to be called again later.
    bool place_waiting(clock::time_point now);

    //! Whether an end-of-stream heap has come in this run.
    bool has_stopped() const { return d_has_stopped; }

    //! What has not arrived of the heaps will not arrive.
    void end_run();

private:
    struct heap {
        std::uint64_t counter = 0;
        std::size_t group = 0;
        enum class use { none, ignored, late, samples } is = use::none;
        std::size_t output = 0;
        // where its timestamp stands in each packet, if it does
        std::size_t timestamp_pointer = 0;
        std::optional<std::uint64_t> timestamp;
        // the same of the item that tells its output
        std::size_t selector_pointer = 0;
        std::optional<std::uint64_t> selector;
        std::int64_t position = 0; // in the window
        // of its samples, in its payload
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        // the item pointer that holds them, if they are an immediate value
        std::optional<std::size_t> immediate;
        std::uint64_t received = 0; // bytes of samples
    };
    // the items of a packet that matter
    struct found_items {
        std::optional<std::uint64_t> timestamp;
        std::size_t timestamp_pointer = 0;
        bool is_timestamp_immediate = false;
        bool is_timestamp_elsewhere = false; // in the payload of another packet
        std::size_t selector_pointer = 0;
        std::optional<std::uint64_t> selector;
        std::optional<std::uint64_t> samples; // their address
        std::uint64_t samples_end = 0;
        std::optional<std::size_t> immediate_samples; // index of the pointer
        // of immediate items
        std::vector<std::optional<item_pointer>> pointers;
        std::vector<std::optional<std::uint64_t>> values;
        bool has_descriptors = false;
        bool is_stop = false;
    };
    enum class result { done, ignored, unknown, full };

    result place(const packet_view& packet, std::size_t group, clock::time_point now);
    result place_samples(heap& to, const packet_view& packet, clock::time_point now);
    heap* find(const packet_view& packet, std::size_t group);
    bool may_have_restarted(clock::time_point now) const;
    heap& replace_oldest();
    result open(const packet_view& packet,
                std::size_t group,
                clock::time_point now,
                heap*& opened);
    void read_items(const packet_view& packet);
    std::optional<std::uint64_t> value_of(const packet_view& packet,
                                          const item_pointer& item) const;
    std::uint64_t counted_timestamp(const packet_view& packet);
    bool is_of_heap(const packet_view& packet, const heap& known) const;
    std::optional<std::size_t> output_of(const socket_group& group) const;
    result locate(heap& opened, const packet_view& packet, clock::time_point now);
    result begin_stream(heap& opened, const packet_view& packet, clock::time_point now);
    bool predict(heap& opened, const packet_view& packet);
    bool set_items(const heap& of);
    void finish(heap& old);
    void finish_all();
    unsigned timestamp_bits(const packet_view& packet) const;
    std::int64_t sample_bytes() const;
    void learn(clock::time_point now);
    void collect(const packet_view& packet, clock::time_point now);
    void keep(const packet_store::packet& packet);
    bool place_packets_of_opened_heap(clock::time_point now);
    result place_waiting_packet(std::size_t number, clock::time_point now);
    void forget_waiting(std::size_t end);
    void forget_old(clock::time_point now);
    void count(counter source_counter_set::*which, std::size_t output, std::size_t bytes);
    bool is_far(std::int64_t samples) const;

    const plan d_plan;
    sample_window& d_window;
    std::vector<source_counter_set>& d_counters;
    source_counter_set& d_common;
    reject_counters& d_rejects;
    rate_limited_log& d_log;

    std::shared_ptr<const stream_format> d_format;
    descriptor_collector d_collector;
    bool d_must_learn = false;   // from descriptors that are complete
    std::uint64_t d_learned = 0; // hash of the descriptors
    std::optional<clock::time_point> d_learned_at;
    packet_store d_waiting;      // for the descriptors, or until their place is known
    bool d_is_place_due = false; // of all packets that wait
    bool d_has_awaited = false;  // a heap that tells the place of some
    bool d_has_jumped = false;   // so that packets that came before belong nowhere
    // a heap that was opened, of which packets may wait that overtook its first one
    struct opened_heap {
        std::uint64_t counter;
        std::size_t group;
        std::size_t end; // of the packets that came before its first one
    };
    std::optional<opened_heap> d_opened_heap;
    std::size_t d_placing = 0; // number of the packet that is placed, or the end

    stream_time d_time;
    std::optional<stream_time> d_time_before; // of the stream before
    bool d_is_running = false;                // since the first heap of a run
    clock::time_point d_last_fresh{};         // bytes that had not come before
    std::size_t d_stale = 0;                  // packets since then
    std::vector<heap_steps> d_steps;          // of each output
    // of each heap, in a stream without timestamps; 0: not known yet
    std::uint64_t d_heap_ticks = 0;

    std::vector<heap> d_heaps;
    std::vector<std::uint64_t> d_heap_counters; // of the heaps, to find one fast
    std::size_t d_last = 0;                     // the heap of the last packet
    std::size_t d_next = 0;                     // the one to be replaced
    found_items d_items;
    bool d_has_stopped = false;
    std::vector<std::array<std::size_t, 2>> d_rests; // of a sample, late and duplicate
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_REASSEMBLER_H */
