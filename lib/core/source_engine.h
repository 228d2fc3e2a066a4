/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H
#define INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H

#include "receive/reassembler.h"
#include "receive/receiver.h"
#include "receive/sample_reader.h"
#include "receive/sample_window.h"
#include "support/rate_limited_log.h"
#include "support/sleep_flag.h"
#include <gnuradio/spead/source_options.h>
#include <gnuradio/spead/source_stats.h>

#include <boost/asio/io_context.hpp>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>

#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief From the network to samples: sockets, the receiving thread, a window for each
 * output, and their reader.
 *
 * start(), read(), wait() and stop() belong to one thread at a time; the rest may be
 * called from any thread.
 */
class source_engine
{
public:
    using clock = sample_window::clock;

    //! Opens the sockets and allocates everything. The options are those that
    //! check_options() takes. Throws parameter_error, or std::runtime_error where the
    //! system refuses. When samples come while nobody is in wait(), \p notify is called,
    //! from any thread.
    source_engine(const std::vector<std::string>& endpoints,
                  const source_options& options,
                  std::function<void()> notify,
                  rate_limited_log::output log);
    ~source_engine();

    void start();
    void stop() noexcept;

    //! Reads what is there, see sample_reader.
    void read(const std::vector<std::byte*>& to,
              std::size_t most,
              std::vector<std::size_t>& read,
              std::vector<sample_tag>& tags)
    {
        d_reader.read(to, most, read, tags);
    }
    //! Waits until there is something to read, or the end. May throw
    //! boost::thread_interrupted.
    void wait(clock::time_point deadline);
    //! Whether all has been read, and no more will come.
    bool is_at_end() const;

    //! Something that the user should know.
    template <typename... types>
    void warn(const types&... parts) noexcept
    {
        d_log.add(parts...);
    }

    //! Of one output, or with -1 of all.
    source_stats stats(std::int64_t output = -1) const;

    //! The ports that the sockets are bound to, in the order of the endpoints.
    std::vector<int> ports() const;

private:
    void open();
    void wake();

    const std::vector<std::string> d_endpoints;
    const source_options d_options;
    const std::function<void()> d_notify;
    rate_limited_log d_log;
    boost::asio::io_context d_io;
    std::vector<source_counter_set> d_counters; // of each output
    source_counter_set d_common;
    reject_counters d_rejects;
    std::vector<receiver::input> d_inputs;
    mutable boost::mutex d_inputs_mutex; // stop() closes the sockets
    std::uint64_t d_dropped_before = 0;  // by sockets that are closed
    std::vector<int> d_ports;
    bool d_gro = false;
    sample_window d_window;
    sample_reader d_reader;
    reassembler d_reassembler;
    receiver d_receiver;
    bool d_started = false;

    sleep_flag d_reader_waits;
    boost::mutex d_wait_mutex;
    boost::condition_variable d_woken;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOURCE_ENGINE_H */
