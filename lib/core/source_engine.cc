/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/capture_file.h"
#include "network/receive_socket.h"
#include "receive/capture_replay.h"
#include "receive/socket_reader.h"
#include "shared_options.h"
#include "source_config.h"
#include "source_engine.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace gr::spead {

namespace {

using duration = output_window::clock::duration;

constexpr std::chrono::milliseconds check_interval{ 100 };
constexpr std::chrono::seconds explanation_delay{ 1 };
// How long packets wait for room while blocks downstream take no samples. Packets of
// sockets would be dropped meanwhile.
constexpr std::chrono::milliseconds max_stall{ 20 };
constexpr std::chrono::seconds max_stall_of_captures{ 1 };
constexpr std::chrono::microseconds pause_for_downstream{ 200 };
// Warn about smaller receive buffers. Most systems grant users less by default.
constexpr std::size_t min_kernel_buffer_bytes = 1 << 20;

// Maximum number of immediate items.
std::size_t max_values(const source_config& config)
{
    const auto* described = config.user_format.get();
    return std::max(max_described_immediates,
                    described ? described->immediates.size() : 0);
}

// The sockets form one group for all outputs, or one group per output.
receive_config router_config(const source_config& config)
{
    receive_config router;
    const auto& lists = config.endpoints;
    for (std::size_t i = 0; i < lists.size(); ++i)
        router.group_of_source.insert(router.group_of_source.end(), lists[i].size(), i);
    router.has_group_for_each_output = lists.size() > 1;
    router.type = config.format.type;
    router.scale = config.scale;
    router.axes = config.axes;
    router.format = config.user_format;
    router.descriptions = config.descriptions;
    router.timeline_config = { config.outputs,      router.group_of_source.size(),
                               config.heap_samples, config.timestamp_step,
                               config.max_gap,      !config.axes.empty(),
                               config.start_tick };
    router.max_delay = config.max_delay;
    return router;
}

void check_window(const source_config& config)
{
    const auto max_bytes = max_buffer_bytes() / config.outputs;
    require(config.window_bytes <= max_bytes,
            "buffer_size",
            config.window_bytes,
            to_text(min_window_bytes) + " to " + to_text(max_bytes) +
                " (half of the memory for all outputs), or 0");
}

} // namespace

source_engine::source_engine(const source_config& config,
                             rate_limited_log::output log,
                             packet_reader::source_list sources)
    : d_config(config),
      d_log(std::move(log)),
      d_io(1),
      d_counters(config.outputs),
      d_common_counters(config.user_format.get()),
      d_window({ d_counters.size(),
                 config.on_missing,
                 config.max_delay,
                 max_values(config),
                 config.axes.empty() ? 1 : config.heap_samples },
               d_counters),
      d_router(router_config(config), d_window, d_counters, d_common_counters, d_log)
{
    check_window(config);
    if (sources.empty())
        open();
    else
        d_sources = std::move(sources);
    if (d_sources.front()->is_capture())
        d_reader =
            std::make_unique<capture_replay>(config.realtime, d_router, d_window, d_log);
    else
        d_reader = std::make_unique<socket_reader>(
            socket_reader::config{ config.max_delay, config.end_on_stop, config.timeout },
            d_router,
            d_window,
            d_log);
    d_log.flush();
}

void source_engine::open()
{
    std::vector<std::unique_ptr<datagram_source>> sources;
    std::vector<int> ports;
    for (const auto& list : d_config.endpoints)
        for (auto endpoint : list) {
            if (!endpoint.capture.empty()) {
                sources.push_back(open_capture(endpoint.capture, endpoint.filter));
                if (d_config.repeat && sources.back()->native_handle() >= 0)
                    throw parameter_error(
                        "repeat", "True", "False for a named pipe, which is read once");
                continue;
            }
            // reuse the ephemeral port of the first run
            if (!endpoint.port && ports.size() < d_ports.size())
                endpoint.port = static_cast<std::uint16_t>(d_ports[ports.size()]);
            sources.push_back(
                std::make_unique<receive_socket>(d_io, endpoint, d_config.interface));
            ports.push_back(sources.back()->port());
        }
    const auto granted = sources.front()->kernel_buffer_bytes();
    if (d_ports.empty() && !sources.front()->is_capture() &&
        granted < min_kernel_buffer_bytes)
        d_log.add("the kernel limits the receive buffer to ",
                  granted,
                  " bytes, so packets may be lost; to raise the limit: sysctl -w "
                  "net.core.rmem_max=",
                  receive_socket::wanted_kernel_buffer_bytes);
    const std::lock_guard<std::mutex> lock(d_mutex);
    d_sources = std::move(sources);
    d_gro = std::all_of(d_sources.begin(), d_sources.end(), [](const auto& source) {
        return source->gro();
    });
    d_ports = ports;
}

void source_engine::start()
{
    // the first run uses the sockets of the constructor, which hold earlier packets
    if (d_sources.empty())
        open();
    d_reader->start(d_sources, false);
    d_is_repeating = d_is_continuing = false;
    d_added_ticks = 0;
    d_start_stats = stats();
    d_losses.start({ d_start_stats, received_by_output() }, clock::now());
    d_next_check = {};
    d_explanation_time = clock::time_point::max();
    std::string names;
    for (const auto& source : d_sources)
        names += (names.empty() ? "" : ", ") + source->name();
    set_status("no packets have arrived on " + names);
}

// Closes the sockets: packets that arrive while the flow graph is stopped are dropped.
void source_engine::stop()
{
    check_progress(d_reader->now(), true);
    d_window.discard();
    d_router.end_run();
    const std::lock_guard<std::mutex> lock(d_mutex);
    for (const auto& source : d_sources)
        d_dropped_before += source->dropped_by_kernel();
    d_sources.clear();
    d_log.flush();
}

// Opens the captures again, as they may have been renamed or replaced since.
void source_engine::replay_again()
{
    d_router.end_run();
    d_is_repeating = false;
    try {
        open();
    } catch (const std::exception& error) {
        d_log.add("the captures cannot be repeated: ", error.what());
        return;
    }
    d_reader->start(d_sources, true);
    d_is_continuing = true;
    d_next_check = {};
    d_explanation_time = clock::time_point::max();
}

void source_engine::receive(const std::vector<std::byte*>& buffers, std::int64_t room)
{
    d_window.set_room(buffers, room);
    const bool has_replayed =
        d_is_repeating && d_reader->has_ended() && d_window.is_empty();
    if (const bool is_awaited = d_reader->waits_for_room() || has_replayed;
        !is_awaited || d_room < room)
        d_room_since = clock::now();
    d_room = room;
    if (has_replayed && has_room_for_replay())
        replay_again();
    d_reader->poll();
    d_log.write();
    d_buffer_fill =
        1 - static_cast<double>(room) / static_cast<double>(d_window.capacity());
}

// Whether the blocks downstream have taken the samples of the last replay, or take no
// more. How much room there is decides which samples before the first heap of a stream
// may still arrive: each replay begins like the first one.
bool source_engine::has_room_for_replay() const
{
    if (d_room >= d_window.capacity() / 16 * 15 ||
        clock::now() - d_room_since >= duration(max_stall_of_captures))
        return true;
    std::this_thread::sleep_for(pause_for_downstream);
    return false;
}

// Whether packets wait for room that a block downstream is about to make, so that no
// sample needs to be given up for them. Some blocks always leave samples in the buffer.
bool source_engine::awaits_downstream() const
{
    if (!d_reader->waits_for_room() || d_room >= d_window.capacity() / 4 * 3)
        return false;
    const duration limit = d_sources.front()->is_capture()
                               ? duration(max_stall_of_captures)
                               : duration(max_stall);
    return clock::now() - d_room_since < limit;
}

std::size_t source_engine::produce(std::vector<sample_tag>& tags, std::int64_t limit)
{
    const auto now = d_reader->now();
    const bool is_awaited = awaits_downstream();
    const auto ready =
        d_window.update_ready_end(now, d_reader->waits_for_room() && !is_awaited);
    const auto end = std::min(ready, d_window.front() + limit);
    if (is_awaited && end == d_window.front())
        std::this_thread::sleep_for(pause_for_downstream);
    std::size_t samples = 0;
    if (const auto front = d_window.front(); end > front) {
        samples = d_window.produce(end, tags);
        set_ticks(tags, front);
        d_samples_since_tag += end - front;
        d_is_repeating = d_config.repeat;
    }
    if (now >= d_next_check || is_at_end())
        check_progress(now, is_at_end());
    return samples;
}

// Converts the positions in tags to ticks. A further replay continues the last one, and
// its first sample needs no timestamp. But captured times that go back would fall below 0
// sooner or later: these are repeated as they are.
void source_engine::set_ticks(std::vector<sample_tag>& tags, std::int64_t front)
{
    using kind = sample_tag::kind;
    if (std::exchange(d_is_continuing, false)) {
        __extension__ using wide = __int128;
        const auto ticks =
            wide(d_samples_since_tag) * d_config.timestamp_step / d_config.heap_samples;
        const auto added = d_last_tagged_tick + static_cast<std::uint64_t>(ticks) -
                           d_router.tick_at(front);
        const auto is_first = [](kind type) {
            return [type](const sample_tag& tag) {
                return tag.type == type && tag.offset == 0;
            };
        };
        const bool goes_on = static_cast<std::int64_t>(added - d_added_ticks) > 0;
        if (goes_on)
            d_added_ticks = added;
        if (goes_on && std::none_of(tags.begin(), tags.end(), is_first(kind::skipped)))
            tags.erase(
                std::remove_if(tags.begin(), tags.end(), is_first(kind::timestamp)),
                tags.end());
    }
    for (auto& tag : tags) {
        if (tag.type != kind::timestamp)
            continue;
        const auto position = static_cast<std::int64_t>(tag.value);
        tag.value = d_router.tick_at(position) + d_added_ticks;
        d_last_tagged_tick = tag.value;
        d_samples_since_tag = front - position;
    }
}

// Reports the reason if packets arrive but nothing is output for a second, or if a run
// ends without samples.
void source_engine::check_progress(clock::time_point now, bool is_over)
{
    d_next_check = now + check_interval;
    const auto text = d_router.why_no_output();
    const auto current = stats();
    // real time, also for captures
    if (const auto real_time = clock::now(); is_over || d_losses.is_due(real_time))
        d_losses.check({ current, received_by_output() }, real_time);
    if (std::exchange(d_checked_samples, current.samples_out) != current.samples_out) {
        d_explanation_time = clock::time_point::max();
        d_router.clear_no_output_reason();
        set_status("");
        return;
    }
    if (!text.empty())
        d_explanation_time = std::min(d_explanation_time, now + explanation_delay);
    const bool was_silent =
        is_over && current.samples_out == d_start_stats.samples_out &&
        (!text.empty() || current.packets_received > d_start_stats.packets_received);
    if (!was_silent && now < d_explanation_time)
        return;
    if (!text.empty() && text != current.status)
        d_log.add("no output: ", text);
    set_status(text);
}

// With axes, an output of the engine is a slice of an axis, which users do not number.
std::vector<std::uint64_t> source_engine::received_by_output() const
{
    std::vector<std::uint64_t> received;
    if (outputs() == 1 || !d_config.axes.empty())
        return received;
    received.reserve(d_counters.size());
    for (const auto& counters : d_counters)
        received.push_back(counters.samples_received.get());
    return received;
}

void source_engine::set_status(const std::string& text)
{
    const std::lock_guard<std::mutex> lock(d_mutex);
    d_status = text;
}

source_stats source_engine::stats(std::int64_t output) const
{
    source_stats statistics;
    for (std::size_t i = 0; i < d_counters.size(); ++i)
        if (output < 0 || static_cast<std::size_t>(output) == i)
            add_counters<source_counters>(statistics, d_counters[i]);
    add_counters<source_counters>(statistics, d_common_counters);
    // read last, so that it is never below packets_ignored
    statistics.packets_received = d_common_counters.packets_received.get();
    // samples_missing, in the window, counts only zeros: thus samples_out never decreases
    // during an update
    statistics.samples_out = statistics.samples_received + statistics.samples_missing;
    statistics.samples_missing += statistics.samples_skipped;
    statistics.packets_rejected = d_common_counters.rejects.by_name();
    statistics.heaps_selected = d_common_counters.selection.selected();
    statistics.heaps_unselected = d_common_counters.selection.unselected();
    statistics.buffer_fill = d_buffer_fill;
    const std::lock_guard<std::mutex> lock(d_mutex);
    statistics.datagrams_dropped_by_socket = d_dropped_before;
    for (const auto& source : d_sources)
        statistics.datagrams_dropped_by_socket += source->dropped_by_kernel();
    statistics.gro = d_gro;
    statistics.status = d_status;
    return statistics;
}

std::vector<int> source_engine::ports() const
{
    const std::lock_guard<std::mutex> lock(d_mutex);
    return d_ports;
}

} // namespace gr::spead
