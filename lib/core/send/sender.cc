/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sender.h"
#include "support/thread_setup.h"

#include <utility>

namespace gr::spead {

sender::sender(boost::asio::io_context& io,
               const std::vector<packet_ring*>& rings,
               transport& out,
               sender_counters& counters,
               const sink_options& options,
               std::function<void()> space,
               rate_limited_log& log)
    : d_io(io),
      d_cpu(static_cast<int>(options.affinity)),
      d_log(log),
      d_loop(io, rings, out, counters, options, std::move(space), log)
{
}

sender::~sender() { finish(clock::now()); }

void sender::start()
{
    d_loop.start_run();
    d_running = true;
    try {
        d_thread = start_thread([this] { run(); });
    } catch (...) {
        d_running = false;
        throw;
    }
}

void sender::finish(clock::time_point deadline)
{
    if (d_thread.joinable()) {
        d_loop.close();
        {
            std::unique_lock<std::mutex> lock(d_mutex);
            d_ended.wait_until(lock, deadline, [this] { return !d_running; });
        }
        d_loop.abort();
        d_thread.join();
    }
    d_loop.drop_rest();
}

void sender::run()
{
    const auto warning = prepare_thread("spead-send", d_cpu);
    if (!warning.empty())
        d_log.add(warning);
    d_loop.begin();
    d_io.run();
    const std::lock_guard<std::mutex> lock(d_mutex);
    d_running = false;
    d_ended.notify_all();
}

} // namespace gr::spead
