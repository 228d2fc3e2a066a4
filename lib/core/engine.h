/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ENGINE_H
#define INCLUDED_SPEAD_CORE_ENGINE_H

#include "endpoint.h"
#include "heap_packer.h"
#include "sample_converter.h"
#include "sender.h"
#include "timeline.h"
#include "udp_transport.h"

#include <boost/asio/io_context.hpp>

#include <condition_variable>
#include <mutex>

namespace gr {
namespace spead {

enum class descriptor_policy { none, first_heap, separate };
enum class timestamp_source { count, rx_time };

//! Checked options; what depends on the path is checked by the engine.
struct engine_options {
    //! one list for each input, or one for all
    std::vector<std::vector<endpoint>> destinations;
    socket_options socket;
    std::size_t inputs = 1;
    sample_type type = sample_type::int8;
    byte_order order = byte_order::big;
    float scale = 1;
    std::vector<item> items;
    wire::flavour flavour{ 40 };
    std::uint64_t heap_samples = 8192;
    std::size_t max_packet_bytes = 1472; //!< 0 = from the path MTU
    descriptor_policy descriptors = descriptor_policy::first_heap;
    double descriptor_interval = 0; //!< seconds, 0 = once
    bool pad_packets = true;
    std::uint64_t heap_id_start = 1;
    std::uint64_t heap_id_step = 1;
    std::uint64_t timestamp_start = 0;
    std::uint64_t timestamp_step = 8192;
    timestamp_source timestamps = timestamp_source::count;
    exact_rate sample_rate{ 1 }; //!< and what follows: of rx_time only
    exact_time sync_time;
    gap_policy on_gap = gap_policy::realign;
    start_policy on_start = start_policy::drop;
    full_policy when_full = full_policy::block;
    tail_policy tail = tail_policy::shorten;
    std::size_t buffer_bytes = 0; //!< 0 = our choice
    bool send_stop = true;
    double stop_timeout = 1; //!< seconds
    sender_options sending;
};

/*!
 * \brief One stream, from samples to the network: packer, ring, sender and socket.
 *
 * start(), write(), wait conditions and stop() belong to one thread at a time; the rest
 * may be called from any thread.
 */
class engine
{
public:
    //! Opens the socket and allocates everything. Throws parameter_error, or
    //! std::runtime_error where the system refuses. \p space is called, on the sender's
    //! thread, when space_since() has become true for a waiting packer.
    engine(const engine_options& options,
           std::function<void()> space,
           trouble_log::output log);
    ~engine();

    void start();

    //! Takes as many samples as there is room for, and says how many.
    std::size_t write(const std::int8_t* samples, std::size_t n);

    //! A mark to take before a write(), for space_since().
    std::uint64_t progress() const { return d_ring->released(); }
    //! Whether a write() that found no room after \p mark should be tried again.
    bool space_since(std::uint64_t mark) const;
    //! Ask for the call of \p space; then look at space_since() once more, then wait.
    void announce_wait() { d_ring->packer_waits.announce(); }

    //! Sends the tail and what is left, for no longer than the stop timeout.
    void stop() noexcept;

    //! The value of the immediate item \p index of the list, from the next heap of that
    //! input on. Not heeded yet.
    void set_item(std::size_t, std::uint64_t, std::size_t) {}

    void set_rate(double bytes_per_second);
    double rate() const { return d_sender->rate(); }
    bool gso() const { return d_sender->gso(); }
    bool zero_copy() const { return d_transport.zero_copy_active(); }
    std::size_t packet_bytes() const { return d_ring->slot_bytes(); }
    const packer_counters& packed() const { return d_packed; }
    const sender_counters& sent() const { return d_sent; }
    const timeline_counters& timed() const { return d_timed; }

private:
    stream_plan make_plan(const engine_options& options) const;
    std::size_t packet_limit(const engine_options& options) const;
    std::size_t ring_slots(const engine_options& options, const stream_plan& plan) const;
    void limit_queue();
    void warn_of_slow_tails(const engine_options& options,
                            const trouble_log::output& log) const;
    bool end_stream(sender::clock::time_point deadline);
    bool wait_for_space(std::uint64_t mark, sender::clock::time_point deadline);

    const double d_stop_timeout; // seconds
    const double d_burst_bytes;
    const bool d_limits_queue;
    const double d_paced_bytes; // that a paced queue may hold
    const std::function<void()> d_on_space;
    boost::asio::io_context d_io;
    udp_transport d_transport;
    packer_counters d_packed;
    sender_counters d_sent;
    timeline_counters d_timed;
    std::unique_ptr<packet_ring> d_ring;
    std::unique_ptr<heap_packer> d_packer;
    std::unique_ptr<sender> d_sender;
    bool d_started = false;
    std::mutex d_mutex;
    std::condition_variable d_space;
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_ENGINE_H */
