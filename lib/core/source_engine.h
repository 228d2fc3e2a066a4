/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H
#define INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H

#include "receive/output_window.h"
#include "receive/reassembler.h"
#include "receive/receiver.h"
#include "support/rate_limited_log.h"
#include <gnuradio/spead/source_options.h>
#include <gnuradio/spead/source_stats.h>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief From the network to samples in the buffers of a flow graph: sockets, the window
 * and what places packets in it.
 *
 * start(), receive(), produce() and stop() belong to one thread at a time; the rest may
 * be called from any thread.
 */
class source_engine
{
public:
    using clock = std::chrono::steady_clock;

    //! The largest number of samples that a call of receive() must have room for.
    static constexpr std::size_t most_packet_samples = 65536;

    //! Opens the sockets and allocates everything. The options are those that
    //! check_options() takes. Throws parameter_error, or std::runtime_error where the
    //! system refuses.
    source_engine(const std::vector<std::string>& endpoints,
                  const source_options& options,
                  rate_limited_log::output log);

    void start();
    void stop();

    //! Receives packets, and waits for some for 10 ms at most. Places their samples from
    //! \p at on, where each output has room for so many samples.
    void receive(const std::vector<std::byte*>& at, std::int64_t room);
    //! Produces what is complete: returns the number of samples of each output, and adds
    //! their tags. The value of a timestamp is its tick.
    std::size_t produce(std::vector<sample_tag>& tags);
    //! Whether the run has ended, and all has been produced.
    bool is_at_end() const { return d_receiver.has_ended() && d_window.is_empty(); }
    //! The name of the immediate item of a tag.
    const std::string& item_name(std::size_t item) const
    {
        return d_reassembler.format()->immediates[item].name;
    }

    //! For what the user should know; written by receive() and stop(). Any thread.
    template <typename... types>
    void warn(const types&... parts)
    {
        d_log.add(parts...);
    }

    //! Of one output, or with -1 of all.
    source_stats stats(std::int64_t output = -1) const;

    //! The ports that the sockets are bound to, in the order of the endpoints.
    std::vector<int> ports() const;

private:
    void open();
    void check_progress(clock::time_point now, bool is_over);
    void set_status(const std::string& text);

    const std::vector<std::string> d_endpoints;
    const source_options d_options;
    rate_limited_log d_log;
    boost::asio::io_context d_io;
    std::vector<source_counter_set> d_counters; // of each output
    source_counter_set d_common;
    reject_counters d_rejects;
    output_window d_window;
    reassembler d_reassembler;
    receiver d_receiver;

    // why nothing comes out
    clock::time_point d_next_check{};
    clock::time_point d_explain_at{}; // if samples have not come out before
    source_stats d_at_start;          // of this run
    std::uint64_t d_checked_samples = 0;

    mutable std::mutex d_mutex; // for the following, while stop() closes the sockets
    std::vector<std::unique_ptr<receive_socket>> d_sockets;
    std::uint64_t d_dropped_before = 0; // by sockets that are closed
    std::vector<int> d_ports;
    bool d_gro = false;
    std::string d_status;
    std::atomic<double> d_fill{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H */
