/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SENDER_H
#define INCLUDED_SPEAD_CORE_SENDER_H

#include "batch.h"
#include "coalescing.h"
#include "network/transport.h"
#include "outage_log.h"
#include "pacer.h"
#include "pack/packet_ring.h"
#include "retry_policy.h"
#include "ring_reader.h"
#include "support/sink_counters.h"
#include "support/wakeup.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <vector>

namespace gr::spead {

struct sender_config {
    double rate = 0;                 //!< bytes per second; 0: unlimited
    std::size_t burst_bytes = 65536; //!< limit for packets sent back to back
    int cpu = -1;                    //!< to pin the thread to; -1: none
};

/*!
 * \brief Sends the packets in the rings at the configured rate, in its own thread.
 *
 * Packets of one input to one destination form one message, across heaps, if they have
 * equal size; the last one may be shorter. Several messages are sent in one system call,
 * in the order of publication. A network error never stops the sender: it waits, retries
 * or drops a message, and counts the error.
 *
 * Call start() and finish() from one thread at a time, all other functions from any.
 */
class sender
{
public:
    using clock = std::chrono::steady_clock;

    //! \p on_space is called when the ring of a waiting packer has room again, on the
    //! sending thread or in finish().
    sender(boost::asio::io_context& io,
           const std::vector<packet_ring*>& rings,
           transport& output,
           sender_counters& counters,
           const sender_config& config,
           std::function<void()> on_space,
           rate_limited_log& log);
    ~sender();

    void start(); //!< throws std::runtime_error if the thread cannot be created

    //! Sends the remaining packets until \p deadline, then drops and counts the rest.
    void finish(clock::time_point deadline);

    void wake(); //!< call this when packets were published
    //! Receivers may close their sockets from now on: if packets that are published later
    //! are refused, this is not logged. Until the next start().
    void expect_refusal() { d_expects_refusal = true; }
    void set_rate(double bytes_per_second);
    double rate() const { return d_rate.load(std::memory_order_relaxed); }
    //! The rate at which packets leave the rings; 0: unlimited.
    double pacing_rate() const { return d_transport.needs_pacing() ? rate() : 0; }
    bool gso() const { return d_gso.load(std::memory_order_relaxed); }

protected:
    // The steps of a run, for a test that runs the io_context itself.
    void reset_run();     // resets the state of the previous run
    void start_sending(); // sends queued packets; io_context handlers send later ones
    void close();         // stops the io_context when everything has been sent
    void abort();         // stops the io_context
    void drop_rest();     // drops and counts remaining packets; not while handlers run

private:
    void run();
    void apply_rate();
    void send_queued();
    void yield();
    bool prepare_sleep();
    bool wait_for_more_packets();
    bool release_reported();
    bool sleep_briefly_until(clock::time_point time, clock::time_point now);
    void async_wait_until(clock::time_point time);
    void async_wait_writable();
    void async_wait_reports();

    std::size_t queued_bytes() const;
    std::uint64_t published_bytes() const;
    bool anything_in_flight() const;
    bool much_in_flight() const;
    void release();
    void record_sent(std::size_t n, clock::time_point send_begin);
    void process_reports();
    bool handle_error(int error);
    void drop_message(int error);
    void log_failure(int error, std::uint64_t packets);
    void count_gso_refusal();

    boost::asio::io_context& d_io;
    transport& d_transport;
    sender_counters& d_counters;
    const std::function<void()> d_on_space;
    rate_limited_log& d_log;
    outage_log d_outages;
    const int d_cpu; // to pin the thread to; -1 = not pinned
    std::thread d_thread;
    std::promise<void> d_end; // set at the end of the thread
    std::atomic<bool> d_expects_refusal{ false };
    bool d_ignores_refusal = false; // the packets sent before have been reported

    boost::asio::steady_timer d_timer;
    wakeup d_wakeup;
    std::atomic<double> d_rate;
    std::atomic<bool> d_gso{ true };
    std::atomic<bool> d_closing{ false };
    std::atomic<bool> d_is_finished{ false };

    pacer d_pacer;
    double d_pacer_rate = 0;
    std::vector<ring_reader> d_readers;
    batch d_batch;
    coalescing d_coalescing;
    bool d_yield_pending = false;    // a later send_queued() is posted
    bool d_writable_pending = false; // a wait for a writable socket is pending
    bool d_reports_pending = false;  // a wait for reports on messages is pending
    send_failures d_failures;        // of the first message
    bool d_gso_suspected = false;    // a segmented send failed; GSO may be the cause
    unsigned d_gso_refusals = 0;     // consecutive refusals of segmented sends
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SENDER_H */
