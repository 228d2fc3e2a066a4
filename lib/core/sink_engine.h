/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SINK_ENGINE_H
#define INCLUDED_SPEAD_CORE_SINK_ENGINE_H

#include "network/udp_transport.h"
#include "pack/input_packer.h"
#include "pack/ring_wait.h"
#include "pack/rx_time_packer.h"
#include "send/sender.h"
#include "sink_checks.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief From samples to the network: a packer and a ring for each input, one sender, one
 * socket.
 *
 * start(), write(), wait_for_space(), write_log() and stop() belong to one thread at a
 * time; the rest may be called from any thread.
 */
class sink_engine
{
public:
    //! Opens the socket and allocates everything. The options are those that
    //! check_options() takes. Throws parameter_error, or
    //! std::runtime_error where the system refuses.
    sink_engine(const std::vector<std::string>& destinations,
                const sink_options& options,
                rate_limited_log::output log);
    ~sink_engine();

    void start();

    //! Calls \p publish on the thread of the sender at this interval, in seconds, while
    //! the engine runs; with 0 never. Before start().
    void publish_stats_every(double interval, std::function<void()> publish);

    std::size_t inputs() const { return d_inputs.size(); }

    //! Takes as many samples of an input as there is room for, and says how many. With
    //! sample_rate, \p first is the number of the first one since the start, and \p tags
    //! say when some of them were taken.
    std::size_t write(std::size_t input,
                      const std::byte* samples,
                      std::size_t n,
                      std::uint64_t first = 0,
                      const std::vector<time_tag>& tags = {});

    //! Whether write() is to be called again at once, to go on with zeros in a gap.
    bool is_filling(std::size_t input) const
    {
        const auto& tagged = d_inputs[input]->tagged;
        return tagged && tagged->is_filling();
    }

    //! Waits until there is room for an input whose last write() found none. False if
    //! there is none at the deadline. May throw boost::thread_interrupted.
    bool wait_for_space(ring_wait::clock::time_point deadline);

    //! Sends the tails and what is left. If nothing can be sent for two seconds, the rest
    //! is dropped.
    void stop();

    void set_rate(double bytes_per_second);
    double rate() const { return d_sender->rate(); }

    //! For what the user should know; written by the constructor, write_log() and stop().
    //! Any thread.
    template <typename... types>
    void warn(const types&... parts)
    {
        d_log.add(parts...);
    }
    void write_log() { d_log.write(); } //!< may block

    //! New values of immediate items: of each input, all from its next heap on.
    void set_items(const std::vector<item_update>& updates);

    std::size_t packet_bytes() const { return d_inputs.front()->ring.slot_bytes(); }
    //! What all threads have counted: never more sent and dropped than came in.
    sink_counters<std::uint64_t> counts() const;
    sink_stats stats() const; //!< the same, and the rest

private:
    struct packed_input {
        packed_input(stream_config config,
                     std::size_t slots,
                     std::function<void()> published);

        sink_counter_set counters;
        packet_ring ring;
        input_packer packer;
        std::unique_ptr<rx_time_packer> tagged; // with sample_rate
        // what the ring had released when a write() found no room
        std::optional<std::uint64_t> full_at;
    };

    sink_engine(const std::vector<std::vector<endpoint>>& destinations,
                const sink_options& options,
                rate_limited_log::output log);
    void add_input(const sink_options& options, stream_config config);
    void schedule_stats();
    void end_run();
    void limit_queues();
    void warn_of_input(std::size_t input, const std::string& text);
    template <typename condition>
    bool wait_while_sending(packet_ring& ring, condition is_met);
    template <typename step>
    bool repeat(packet_ring& ring, step done);
    bool end_streams();
    bool send_ends();
    bool wait_for_empty_queues();

    const double d_burst_bytes;
    const bool d_limits_queue;
    rate_limited_log d_log;
    boost::asio::io_context d_io;
    boost::asio::steady_timer d_stats_timer;
    std::chrono::nanoseconds d_stats_interval{ 0 };
    std::function<void()> d_publish_stats;
    udp_transport d_transport;
    sender_counters d_sent;
    std::vector<std::unique_ptr<packed_input>> d_inputs; // at least one
    std::vector<packet_ring*> d_full; // those that wait_for_space() waits for
    ring_wait d_space;
    std::unique_ptr<sender> d_sender;
    std::size_t d_destinations_to_end = 0;
    std::uint64_t d_sent_at_end = 0;       // packets, as the end has seen it
    sender::clock::time_point d_give_up{}; // unless more are sent before
    bool d_started = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SINK_ENGINE_H */
