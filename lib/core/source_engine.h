/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H
#define INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H

#include "receive/heap_router.h"
#include "receive/loss_log.h"
#include "receive/output_window.h"
#include "receive/packet_reader.h"
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
 * \brief Receives streams into the buffers of a flow graph: sockets, router and
 * window.
 *
 * Any thread may call warn(), outputs(), stats() and ports(). Call the other members from
 * one thread at a time.
 */
class source_engine
{
public:
    using clock = std::chrono::steady_clock;

    //! Opens the sockets and allocates all memory. Opens no socket if \p sources of
    //! packets are given, for one run. Throws parameter_error, or std::runtime_error if
    //! a system call fails.
    source_engine(const source_config& config,
                  rate_limited_log::output log,
                  packet_reader::source_list sources = {});

    void start();
    void stop();

    //! Waits for packets, for 10 ms at most, and places their samples in the output
    //! \p buffers, which have room for \p room samples each. May need room for a packet.
    void receive(const std::vector<std::byte*>& buffers, std::int64_t room);
    //! Produces samples that are ready, at most \p limit. Returns their number per
    //! output. Adds their tags to \p tags, which must be empty; timestamps are in ticks.
    std::size_t produce(std::vector<sample_tag>& tags,
                        std::int64_t limit = std::int64_t{ 1 } << 62);
    //! Number of samples in use, from the output addresses on.
    std::int64_t used() const { return d_window.used(); }
    //! Whether the run has ended and all samples have been produced.
    bool is_at_end() const
    {
        return d_reader->has_ended() && d_window.is_empty() && !d_is_repeating;
    }
    //! Why the run has ended, for the log.
    const char* end_reason() const { return d_reader->end_reason(); }
    //! Why the latest packets that gave no samples did not; may be empty.
    const std::string& latest_reason() const { return d_router.latest_reason(); }
    //! The immediate item of a tag.
    const stream_format::immediate& immediate(std::size_t item) const
    {
        return d_router.format()->immediates[item];
    }

    //! Adds a log message, which the next receive() or stop() writes.
    template <typename... types>
    void warn(const types&... values)
    {
        d_log.add(values...);
    }

    std::int64_t outputs() const { return static_cast<std::int64_t>(d_counters.size()); }
    //! Statistics of one output, or of all outputs if \p output is -1.
    source_stats stats(std::int64_t output = -1) const;

    //! The ports that the sockets are bound to, in the order of the endpoints.
    std::vector<int> ports() const;

private:
    void open();
    void replay_again();
    void set_ticks(std::vector<sample_tag>& tags, std::int64_t front);
    bool awaits_downstream() const;
    bool has_room_for_replay() const;
    void check_progress(clock::time_point now, bool is_over);
    std::vector<std::uint64_t> received_by_output() const;
    void set_status(const std::string& text);

    const source_config d_config;
    rate_limited_log d_log;
    boost::asio::io_context d_io;
    std::vector<source_counter_set> d_counters; // per output
    common_counter_set d_common_counters;
    output_window d_window;
    heap_router d_router;
    std::unique_ptr<packet_reader> d_reader;

    // repeated captures
    bool d_is_repeating = false;     // this replay has given samples
    bool d_is_continuing = false;    // the next sample is the first of a further replay
    std::uint64_t d_added_ticks = 0; // to those of the capture
    std::uint64_t d_last_tagged_tick = 0;
    std::int64_t d_samples_since_tag = 0;

    std::int64_t d_room = 0;          // samples, of the last receive()
    clock::time_point d_room_since{}; // has not grown since, or nothing waited for it

    // detects that packets arrive but nothing is output
    clock::time_point d_next_check{};
    clock::time_point d_explanation_time{}; // when to log why there is no output
    source_stats d_start_stats;             // stats at the start of this run
    std::uint64_t d_checked_samples = 0;
    loss_log d_losses{ d_log };

    std::atomic<double> d_buffer_fill{ 0 };
    // guards the members below, which stats() and ports() read in other threads
    mutable std::mutex d_mutex;
    std::vector<std::unique_ptr<datagram_source>> d_sources;
    std::uint64_t d_dropped_before = 0; // by the sockets of previous runs
    std::vector<int> d_ports;
    bool d_gro = false;
    std::string d_status;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H */
