/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_ROUTER_H
#define INCLUDED_SPEAD_CORE_HEAP_ROUTER_H

#include "format_tracker.h"
#include "heap_slots.h"
#include "no_output_reason.h"
#include "output_window.h"
#include "protocol/packet_parser.h"
#include "receive_config.h"
#include "receive_counters.h"
#include "sample_placer.h"
#include "sender_memory.h"
#include "stream_follower.h"
#include "support/rate_limited_log.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Assigns packets to heaps, and keeps them until the stream takes their heap.
 *
 * A packet is judged once: it is placed in the window, kept in the slot of its heap, or
 * counted as ignored or rejected. A heap is judged once its items have arrived, and again
 * only while the timeline holds it.
 *
 * Which heap a packet belongs to, and what its heap still waits for, depend on each
 * other: they share the slots, and are not worth an interface between two classes.
 */
class heap_router
{
public:
    using clock = std::chrono::steady_clock;


    heap_router(receive_config config,
                output_window& window,
                std::vector<source_counter_set>& counters, //!< per output
                common_counter_set& common,
                rate_limited_log& log);

    void start_run();
    //! Forgets the descriptors and the end of the runs before, which concern the next
    //! run only if its packets continue theirs. Must be called after start_run().
    void forget_runs();
    //! Drops all heaps and packets, and counts the incomplete ones.
    void end_run();

    //! Takes a datagram. Must not be called while waits_for_room().
    void add_datagram(const received_datagram& packet, clock::time_point now);
    //! Counts a datagram that is unusable.
    void reject(packet_error error,
                const std::byte* datagram = nullptr,
                std::size_t bytes = 0);
    //! Whether packets wait until the window has produced samples.
    bool waits_for_room() const
    {
        return d_blocked_slot || d_format_tracker.has_changed();
    }
    //! Places waiting packets as far as there is room. Returns whether none is left.
    bool resume(clock::time_point now);

    //! Whether an end-of-stream heap of the stream has arrived in this run.
    bool has_stopped() const { return d_follower.has_stopped(); }
    //! The format of the samples; nullptr until it is known.
    const stream_format* format() const { return d_format.get(); }
    //! The end position of the heaps that have begun to arrive.
    std::int64_t stream_end() const { return d_follower.stream_end(); }
    //! Must be called in the order of positions.
    std::uint64_t tick_at(std::int64_t position) { return d_follower.tick_at(position); }

    //! Why packets have produced no samples since clear_no_output_reason(), with the
    //! remedy.
    const std::string& why_no_output();
    void clear_no_output_reason() { d_no_output_reason.clear(); }
    //! Why the latest packets that gave no samples did not, whether others did or not.
    const std::string& latest_reason() const { return d_no_output_reason.latest(); }

private:
    using state = heap_slot::state;
    using cause = no_output_reason::cause;

    // A received packet and its parsed header.
    struct parsed_packet : packet_view {
        received_datagram datagram;
        heap_id id;
        clock::time_point time = {};
    };
    enum class outcome { taken, ignored, rejected };

    outcome route_packet(const parsed_packet& packet);
    outcome route_other(heap_slot& latest_slot, const parsed_packet& packet);
    outcome begin_heap(const parsed_packet& packet,
                       bool reuses_counter = false,
                       bool is_repeated = false);
    outcome add_packet(heap_slot& slot, const parsed_packet& packet);
    outcome collect_packet(heap_slot& slot, const parsed_packet& packet);
    outcome keep_packet(heap_slot& slot, const parsed_packet& packet);
    bool may_continue(const heap_slot& slot, const parsed_packet& packet) const;
    bool may_follow_restart(const heap_slot& slot, const parsed_packet& packet) const;
    void learn_pause(const heap_slot& slot, const parsed_packet& packet);
    bool is_ambiguous(heap_slot& slot, const parsed_packet& packet);
    void drop_packets_before(heap_slot& slot, clock::time_point time);
    void update_readiness(heap_slot& slot, const packet_view* packet);
    void finish(const heap_slot& slot);
    void count_ignored();
    bool place_waiting();

    // descriptors
    bool find_descriptors(heap_slot& slot, const parsed_packet& packet);
    outcome collect_descriptors(heap_slot& slot, const parsed_packet& packet);
    void read_descriptors(heap_slot& slot);
    bool update_format();
    bool use_format(std::shared_ptr<const stream_format> format);
    void read_items_again(heap_slot& slot);
    void find_kept_timestamp(heap_slot& slot);

    void judge_heap(heap_slot& slot);
    bool place_kept_packets(heap_slot& slot);
    outcome place_packet(heap_slot& slot, const parsed_packet& packet);

    const receive_config d_config;
    output_window& d_window;
    std::vector<source_counter_set>& d_counters;
    common_counter_set& d_common_counters;
    rate_limited_log& d_log;

    indexed_format d_format;
    sample_decoder d_decoder;

    heap_slots d_slots;
    heap_slot* d_blocked_slot = nullptr; // keeps packets for which the window has no room
    sender_memory d_senders;
    no_output_reason d_no_output_reason;
    stream_follower d_follower;
    format_tracker d_format_tracker;
    sample_placer d_placer;

    std::size_t d_ignored_packets = 0; // packets, not counted yet
    clock::duration d_pause_in_heap{}; // the longest one between consecutive packets
    clock::duration d_last_pause{};    // between consecutive packets
    clock::time_point d_now{};         // time of this call; kept packets arrived earlier
    std::uint64_t d_last_sender = 0;   // in this run; 0: none
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_ROUTER_H */
