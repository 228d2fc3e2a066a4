/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "source_checks.h"
#include "source_engine.h"
#include "support/open_files.h"

#include <algorithm>
#include <array>

namespace gr::spead {

namespace {

using duration = sample_window::clock::duration;

// In which packets of other sockets may still come that belong in front of a stream.
constexpr std::chrono::milliseconds start_delay{ 10 };

duration seconds(double s)
{
    return std::chrono::duration_cast<duration>(std::chrono::duration<double>(s));
}

sample_window::plan window_plan(const source_options& options)
{
    sample_window::plan plan;
    plan.outputs = static_cast<std::size_t>(options.num_outputs);
    plan.bytes = window_bytes_of(options);
    plan.items = most_learned_immediates;
    if (options.items)
        plan.items = std::max(plan.items, options.items->size());
    plan.max_delay = seconds(options.max_delay);
    plan.start_delay = std::min<duration>(start_delay, plan.max_delay);
    return plan;
}

sample_reader::plan reader_plan(const source_options& options)
{
    return { output_type_of(options),
             static_cast<float>(options.scale.value_or(0)),
             on_missing_of(options),
             timestamp_step_of(options),
             options.heap_samples };
}

// A group for all sockets, or one for each output.
reassembler::plan reassembler_plan(const source_options& options, std::size_t lists)
{
    reassembler::plan plan;
    const auto outputs = static_cast<std::size_t>(options.num_outputs);
    for (std::size_t i = 0; i < lists; ++i)
        plan.groups.push_back({ i, lists == 1 ? outputs : 1 });
    plan.type = output_type_of(options);
    if (options.items)
        plan.format = std::make_shared<const stream_format>(given_format(options));
    plan.samples = options.heap_samples;
    plan.ticks = timestamp_step_of(options);
    plan.max_gap = options.max_gap;
    return plan;
}

receiver::plan receiver_plan(const source_options& options)
{
    return { static_cast<int>(options.affinity),
             seconds(options.max_delay),
             options.end_on_stop,
             seconds(options.timeout) };
}

} // namespace

source_engine::source_engine(const std::vector<std::string>& endpoints,
                             const source_options& options,
                             std::function<void()> notify,
                             rate_limited_log::output log)
    : d_endpoints(endpoints),
      d_options(options),
      d_notify(std::move(notify)),
      d_log(std::move(log)),
      d_io(1),
      d_counters(static_cast<std::size_t>(options.num_outputs)),
      d_window(window_plan(options)),
      d_reader(reader_plan(options), d_window, d_counters),
      d_reassembler(reassembler_plan(options, endpoints.size()),
                    d_window,
                    d_counters,
                    d_common,
                    d_rejects,
                    d_log),
      d_receiver(
          receiver_plan(options),
          d_io,
          d_inputs,
          d_reassembler,
          d_window,
          [this] { wake(); },
          d_log)
{
    open();
}

source_engine::~source_engine() { stop(); }

void source_engine::open()
{
    std::vector<receiver::input> opened;
    std::vector<std::string> warnings;
    std::vector<int> ports;
    const receive_socket::options options{ d_options.interface,
                                           static_cast<int>(d_options.socket_buffer) };
    const auto lists = endpoints_of(d_endpoints, d_options);
    std::size_t needed = 1; // to look up a host
    for (const auto& list : lists)
        needed += list.size();
    check_open_files(needed);
    for (std::size_t list = 0; list < lists.size(); ++list)
        for (auto at : lists[list]) {
            // once more the port that was free
            if (!at.port && ports.size() < d_ports.size())
                at.port = static_cast<std::uint16_t>(d_ports[ports.size()]);
            opened.push_back(
                { std::make_unique<receive_socket>(d_io, at, options, warnings), list });
            ports.push_back(opened.back().socket->port());
        }
    const boost::lock_guard<boost::mutex> lock(d_inputs_mutex);
    d_inputs = std::move(opened);
    d_gro = std::all_of(d_inputs.begin(), d_inputs.end(), [](const auto& each) {
        return each.socket->gro();
    });
    if (d_ports.empty())
        for (const auto& warning : warnings)
            d_log.add(warning);
    d_ports = ports;
}

void source_engine::start()
{
    stop(); // if it was not stopped
    // the first time, those of the constructor: they have packets that came meanwhile
    if (d_inputs.empty())
        open();
    d_window.clear();
    d_receiver.start();
    d_started = true;
}

// Packets that come while the flow graph is stopped are not wanted.
// NOLINTNEXTLINE(bugprone-exception-escape): a lock throws only if it is misused
void source_engine::stop() noexcept
{
    if (!d_started)
        return;
    d_started = false;
    d_receiver.stop();
    const boost::lock_guard<boost::mutex> lock(d_inputs_mutex);
    for (const auto& each : d_inputs)
        d_dropped_before += each.socket->dropped();
    d_inputs.clear();
}

void source_engine::wake()
{
    if (!d_reader_waits.claim()) {
        d_notify();
        return;
    }
    {
        const boost::lock_guard<boost::mutex> lock(d_wait_mutex);
    }
    d_woken.notify_all();
}

void source_engine::wait(clock::time_point deadline)
{
    const auto is_ready = [this] {
        return d_reader.is_ready() || d_receiver.has_ended();
    };
    while (!is_ready()) {
        const auto now = clock::now();
        const auto poll = d_receiver.next_poll();
        if (now >= deadline)
            return;
        if (poll && *poll <= now)
            d_receiver.poll();
        else {
            boost::unique_lock<boost::mutex> lock(d_wait_mutex);
            d_reader_waits.announce();
            const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
                std::min(deadline, poll.value_or(deadline)) - now);
            if (!is_ready())
                d_woken.timed_wait(lock,
                                   boost::posix_time::microseconds(left.count() + 1));
            d_reader_waits.withdraw();
        }
    }
}

bool source_engine::is_at_end() const
{
    return d_receiver.has_ended() && !d_reader.is_ready();
}

source_stats source_engine::stats(std::int64_t output) const
{
    source_stats now;
    const auto add = [&](const source_counter_set& set) {
        std::array<std::uint64_t, sizeof(source_counters<std::uint64_t>) / 8> values;
        auto next = values.begin();
        source_counter_set::for_each(
            [&](const char*, auto which) { *next++ = (set.*which).get(); });
        next = values.begin();
        source_counters<std::uint64_t>::for_each(
            [&](const char*, auto which) { now.*which += *next++; });
    };
    for (std::size_t i = 0; i < d_counters.size(); ++i)
        if (output < 0 || static_cast<std::size_t>(output) == i)
            add(d_counters[i]);
    add(d_common);
    const bool fills = on_missing_of(d_options) == missing_policy::zero_fill;
    now.samples_out = now.samples_received + (fills ? now.samples_missing : 0);
    now.packets_rejected = d_rejects.by_name();
    now.buffer_fill = d_window.fill();
    const boost::lock_guard<boost::mutex> lock(d_inputs_mutex);
    now.datagrams_dropped_by_socket = d_dropped_before;
    for (const auto& each : d_inputs)
        now.datagrams_dropped_by_socket += each.socket->dropped();
    now.gro = d_gro;
    return now;
}

std::vector<int> source_engine::ports() const
{
    const boost::lock_guard<boost::mutex> lock(d_inputs_mutex);
    return d_ports;
}

} // namespace gr::spead
