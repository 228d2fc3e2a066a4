/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SINK_ENGINE_H
#define INCLUDED_SPEAD_CORE_SINK_ENGINE_H

#include "network/transport.h"
#include "pack/input_packer.h"
#include "pack/ring_wait.h"
#include "pack/rx_time_packer.h"
#include "send/sender.h"
#include "sink_config.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

//! Opens the socket or the capture for the destinations. Throws as sink_engine does.
std::unique_ptr<transport> open_transport(boost::asio::io_context& io,
                                          const sink_config& config);

/*!
 * \brief Packs samples and sends them: a packer and a ring per input, one sender, one
 * socket or capture.
 *
 * Any thread may call set_rate(), rate(), warn(), set_items(), inputs(), packet_bytes(),
 * counts() and stats(). Call the other members from one thread at a time.
 */
class sink_engine
{
public:
    //! Opens the socket or the capture and allocates all memory. Throws
    //! parameter_error, or std::runtime_error if a system call fails.
    sink_engine(const sink_config& config, rate_limited_log::output log);
    ~sink_engine();

    void start();

    //! Calls \p publish on the sender's thread at this interval while the engine runs;
    //! 0: never. Call before start().
    void publish_stats_every(std::chrono::nanoseconds interval,
                             std::function<void()> publish);

    std::size_t inputs() const { return d_inputs.size(); }

    //! Packs or drops as many samples of an input as possible, and returns their number.
    //! \p samples may be nullptr: zeros.
    //! With sample_rate, \p first_sample is the index of the first sample since the
    //! start, and \p tags give the time of some of the samples.
    std::size_t write(std::size_t input,
                      const std::byte* samples,
                      std::size_t n,
                      std::uint64_t first_sample = 0,
                      const std::vector<rx_time_tag>& tags = {});

    //! Counts \p n samples of an input as dropped: no heap will hold them.
    void drop(std::size_t input, std::uint64_t n) { d_inputs[input]->packer.drop(n); }

    //! Whether to call write() again at once, since it is filling a gap with zeros.
    bool is_filling(std::size_t input) const
    {
        const auto& time_packer = d_inputs[input]->time_packer;
        return time_packer && time_packer->is_filling();
    }

    //! Waits until there is room for an input whose last write() found none. False if
    //! there is none at the deadline. May throw boost::thread_interrupted.
    bool wait_for_space(ring_wait::clock::time_point deadline);

    //! Calls \p try_write, which writes the last samples, until it has written all. Gives
    //! up if nothing can be sent for two seconds.
    void finish_writing(const std::function<bool()>& try_write);
    //! Ends the run: sends the tails and all queued packets. Drops the rest if nothing
    //! can be sent for two seconds.
    void stop();

    void set_rate(double bytes_per_second);
    double rate() const { return d_sender->rate(); }

    //! Adds a log message, which the next write_log() or stop() writes.
    template <typename... types>
    void warn(const types&... values)
    {
        d_log.add(values...);
    }
    void write_log() { d_log.write(); } //!< may block

    //! Sets values of immediate items. Each input uses all of its new values from its
    //! next heap on.
    void set_items(const std::vector<item_update>& updates);

    std::size_t packet_bytes() const { return d_inputs.front()->ring.slot_bytes(); }
    //! The sums over all inputs and the sender. samples_in is never below samples_sent +
    //! samples_dropped.
    sink_counters<std::uint64_t> counts() const;
    sink_stats stats() const; //!< counts() and the other statistics

private:
    struct packed_input {
        packed_input(packer_config config,
                     std::size_t slots,
                     std::function<void()> wake_sender);

        sink_counter_set counters;
        packet_ring ring;
        input_packer packer;
        std::unique_ptr<rx_time_packer> time_packer; // with sample_rate
        // released() of the ring before a write() that found no room
        std::optional<std::uint64_t> released_when_full;
    };

    void add_input(const sink_config& config, packer_config stream);
    void schedule_stats();
    void end_run();
    void start_finish_timeout();
    bool is_timed_out();
    void limit_rings();
    void warn_of_input(std::size_t input, const std::string& text);
    template <typename condition>
    bool wait_while_sending(packet_ring& ring, condition is_met);
    template <typename step>
    bool repeat(packet_ring& ring, step try_step);
    bool end_streams();
    bool pack_stop_heaps();
    bool wait_for_empty_rings();

    const double d_burst_bytes;
    const bool d_limits_rings;
    rate_limited_log d_log;
    boost::asio::io_context d_io;
    boost::asio::steady_timer d_stats_timer;
    std::chrono::nanoseconds d_stats_interval{ 0 };
    std::function<void()> d_publish_stats;
    std::unique_ptr<transport> d_transport;
    sender_counters d_sender_counters;
    std::vector<std::unique_ptr<packed_input>> d_inputs; // at least one
    std::vector<packet_ring*> d_full_rings; // rings that wait_for_space() waits for
    ring_wait d_ring_wait;
    std::unique_ptr<sender> d_sender;
    std::size_t d_destinations_to_end = 0;
    std::uint64_t d_last_sent = 0;              // packets, at the last check of end_run()
    sender::clock::time_point d_end_deadline{}; // extended while packets are being sent
    bool d_started = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SINK_ENGINE_H */
