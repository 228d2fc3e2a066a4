/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_ROUTER_H
#define INCLUDED_SPEAD_CORE_HEAP_ROUTER_H

#include "axes/heap_axes.h"
#include "heap_slots.h"
#include "no_output_reason.h"
#include "output_window.h"
#include "protocol/packet_parser.h"
#include "receive_counters.h"
#include "sender_lock.h"
#include "sender_memory.h"
#include "split_samples.h"
#include "stream_description.h"
#include "support/rate_limited_log.h"
#include "timeline.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Assigns packets to heaps, and places the samples of heaps in the window.
 *
 * A packet is judged once: it is placed in the window, kept in the slot of its heap, or
 * counted as ignored or rejected. A heap is judged once its items have arrived, and again
 * only while the timeline holds it.
 */
class heap_router
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
        timeline::config stream;
        clock::duration max_delay{};
    };

    heap_router(config settings,
                output_window& window,
                std::vector<source_counter_set>& counters, //!< per output
                source_counter_set& common,
                reject_counters& rejects,
                rate_limited_log& log);

    void start_run();
    //! Drops all heaps and packets, and counts the incomplete ones.
    void end_run();

    //! Takes a datagram. Must not be called while is_blocked().
    void receive(const received_packet& packet, clock::time_point now);
    //! Counts a datagram that is unusable.
    void reject(packet_error error,
                const std::byte* datagram = nullptr,
                std::size_t bytes = 0);
    //! Whether packets wait until the window has produced samples.
    bool is_blocked() const { return d_blocked_slot || d_has_new_descriptions; }
    //! Places waiting packets as far as there is room. Returns whether none is left.
    bool resume(clock::time_point now);

    //! Whether an end-of-stream heap of the stream has arrived in this run.
    bool has_stopped() const { return d_has_stopped; }
    //! The format of the samples; nullptr until it is known.
    const stream_format* format() const { return d_format.get(); }
    //! The end position of the heaps that have begun to arrive.
    std::int64_t end() const { return d_timeline.end(d_window.top()); }
    //! Must be called in the order of positions.
    std::uint64_t tick_at(std::int64_t position) { return d_timeline.tick_at(position); }

    //! Why packets have produced no samples since clear_no_output_reason(), with the
    //! remedy.
    const std::string& why_no_output();
    void clear_no_output_reason() { d_no_output_reason.clear(); }
    //! Why the latest packets that gave no samples did not, whether others did or not.
    const std::string& latest_reason() const { return d_no_output_reason.latest(); }

private:
    using state = heap_slot::state;
    using verdict = timeline::verdict;
    using cause = no_output_reason::cause;

    // Packets of a heap do not arrive later than this after those of the next one, or
    // than max_delay if that is longer.
    static constexpr std::chrono::milliseconds min_closing_time{ 100 };

    // A received packet and its parsed header.
    struct arrival : packet_view {
        received_packet datagram;
        heap_id id;
        clock::time_point time = {};
    };
    enum class outcome { taken, ignored, rejected };

    outcome route(const arrival& packet);
    outcome route_other(heap_slot& latest_slot, const arrival& packet);
    outcome begin_heap(const arrival& packet, bool reuses_counter = false);
    outcome add_packet(heap_slot& slot, const arrival& packet);
    outcome collect(heap_slot& slot, const arrival& packet);
    outcome keep_packet(heap_slot& slot, const arrival& packet);
    clock::duration closing_time() const
    {
        return std::max<clock::duration>(d_config.max_delay, min_closing_time);
    }
    bool is_expired(const heap_slot& slot, clock::time_point now) const;
    bool is_closed(const heap_slot& slot, clock::time_point now) const;
    bool is_torn(const heap_slot& slot, const arrival& packet);
    bool is_ambiguous(heap_slot& slot, clock::time_point now);
    bool has_held_restart(const heap_slot& slot) const;
    void drop_packets_before(heap_slot& slot, clock::time_point time);
    void refuse(heap_slot& slot);
    void update_readiness(heap_slot& slot, const packet_view* packet);
    void finish(const heap_slot& slot);
    void count_ignored();
    bool place_waiting();

    // descriptors
    bool find_descriptors(heap_slot& slot, const arrival& packet);
    outcome collect_descriptors(heap_slot& slot, const arrival& packet);
    bool is_ignored_sender(const arrival& packet) const;
    void read_descriptors(heap_slot& slot);
    bool is_before_change(const heap_slot& slot) const;
    bool receives_other_descriptions(const heap_slot& slot) const;
    bool is_described_otherwise(heap_slot& slot);
    bool update_format();
    bool is_unsuitable(const heap_slot& slot);
    bool use_format(std::shared_ptr<const stream_format> format);
    void read_items_again();

    // places in time
    void judge(heap_slot& slot);
    std::optional<verdict> verdict_of(heap_slot& slot);
    void hold(heap_slot& slot);
    bool has_usable_items(heap_slot& slot);
    void recall_values(heap_slot& slot);
    bool has_other_sender(const heap_slot& slot, bool is_located);
    void withdraw_others(std::size_t output);
    void retire(heap_slot& slot);
    bool select_output(heap_slot& slot) const;
    timeline::heap_context context_of(const heap_slot& slot) const;
    void note_misaligned(std::size_t output);
    bool enter_stream(heap_slot& slot);
    void begin_stream(heap_slot& slot);
    void skip_to(std::int64_t position);
    void release_held(const heap_slot& accepted);
    void drop_older(const heap_slot& accepted, bool is_new_stream);
    void log_mismatch();

    // samples
    enum class placement { done, ignored, full };
    bool place_kept(heap_slot& slot);
    outcome place(heap_slot& slot, const arrival& packet);
    placement place_samples(heap_slot& slot,
                            const packet_view& packet,
                            clock::time_point arrival_time);
    bool set_values(heap_slot& slot);

    void note_end(const heap_id& heap, clock::time_point time, bool is_in_order);

    const config d_config;
    output_window& d_window;
    std::vector<source_counter_set>& d_counters;
    source_counter_set& d_common_counters;
    reject_counters& d_rejects;
    rate_limited_log& d_log;

    item_index d_format;
    stream_description d_description;
    bool d_has_new_descriptions = false; // the format must wait for an empty window
    sample_decoder d_decoder;

    heap_slots d_slots;
    heap_slot* d_blocked_slot = nullptr; // keeps packets for which the window has no room
    heap_slot* d_agreed_slot = nullptr;  // to be judged first
    std::vector<heap_slot*> d_held_slots; // per output: the one that the timeline holds
    timeline d_timeline;
    std::vector<sender_lock> d_locks; // per output
    sender_memory d_senders;
    split_samples d_split_samples;

    std::size_t d_ignored_packets = 0; // packets, not counted yet
    bool d_has_stopped = false;
    heap_id d_change; // whose descriptors changed the format; sender 0: none
    clock::time_point d_change_time{};
    unsigned d_change_bits = 0;        // of its address
    clock::duration d_pause_in_heap{}; // the longest one between consecutive packets
    clock::duration d_last_pause{};    // between consecutive packets
    clock::time_point d_now{};         // time of this call; kept packets arrived earlier
    std::uint64_t d_last_sender = 0;   // in this run; 0: none
    heap_id d_last_end;                // last end-of-stream heap
    clock::time_point d_last_end_time{};

    no_output_reason d_no_output_reason;
    bool d_has_logged_other = false;
    bool d_has_logged_misaligned = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_ROUTER_H */
