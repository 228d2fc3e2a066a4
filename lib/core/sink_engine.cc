/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "make_stream_configs.h"
#include "sink_engine.h"
#include "support/checks.h"

#include <boost/thread/thread.hpp>

#include <algorithm>
#include <array>

namespace gr::spead {

using namespace std::chrono_literals;

namespace {

// Seconds that a packer may take to wake up on a busy machine.
constexpr double time_to_wake = 1e-3;

// A receiver may read several sockets in any order, and stops at the first end-of-stream
// heap. By then it should have read the samples in its other sockets.
constexpr std::chrono::milliseconds pause_before_ends{ 100 };
// A host of the local network without a receiver refuses packets within this time.
constexpr std::chrono::milliseconds refusal_time{ 10 };
// A receiver with a full buffer loses the end-of-stream heap. It is sent again after
// delays in this range, which double each time.
constexpr std::chrono::milliseconds first_repetition{ 10 };
constexpr std::chrono::milliseconds last_repetition{ 80 };
// Timeout at the end of a run: if nothing is sent for this long, the network is blocked.
// Resolving a next hop takes up to 1.5 s.
constexpr std::chrono::seconds finish_timeout{ 2 };
// Seconds of data in the queues of a paced stream. The limit lets a stream end soon.
constexpr double paced_queue = 0.5;

timestamp_aligner_config aligner_config_of(const sink_options& options)
{
    timestamp_aligner_config config{};
    config.heap_samples = options.heap_samples;
    config.timestamp_step = timestamp_step_of(options);
    config.sample_rate = *options.sample_rate;
    config.on_gap = on_gap_of(options);
    return config;
}

// Concatenates the lists. The index in the result is the index of the destination.
std::vector<endpoint> all_of(const std::vector<std::vector<endpoint>>& lists)
{
    std::vector<endpoint> all;
    for (const auto& list : lists)
        all.insert(all.end(), list.begin(), list.end());
    return all;
}

} // namespace

sink_engine::packed_input::packed_input(stream_config config,
                                        std::size_t slots,
                                        std::function<void()> wake_sender)
    : ring(slots, config.regular.packet_bytes()),
      packer(std::move(config), ring, counters, std::move(wake_sender))
{
}

sink_engine::sink_engine(const std::vector<std::string>& destinations,
                         const sink_options& options,
                         rate_limited_log::output log)
    : sink_engine(endpoints_of(destinations, options), options, std::move(log))
{
}

sink_engine::sink_engine(const std::vector<std::vector<endpoint>>& destinations,
                         const sink_options& options,
                         rate_limited_log::output log)
    : d_burst_bytes(static_cast<double>(options.burst_size)),
      d_limits_queue(when_full_of(options) == full_policy::block),
      d_log(std::move(log)),
      d_io(1),
      d_stats_timer(d_io)
{
    const auto to = all_of(destinations);
    auto sender_options = options;
    if (to.front().capture.empty()) {
        d_socket = std::make_unique<udp_transport>(d_io, to, options);
    } else {
        d_capture = std::make_unique<capture_writer>(d_io, to, options.rate);
        sender_options.rate = 0; // the rate only sets the times in the capture
    }
    std::vector<packet_ring*> rings;
    for (auto& config :
         make_stream_configs(options,
                             destinations,
                             d_capture ? d_capture->addresses() : d_socket->addresses(),
                             d_capture ? capture_writer::max_packet_bytes
                                       : d_socket->max_packet_bytes())) {
        d_destinations_to_end += config.stop ? config.stop_destinations.size() : 0;
        add_input(options, std::move(config));
        rings.push_back(&d_inputs.back()->ring);
    }
    transport* out = d_socket.get();
    if (d_capture)
        out = d_capture.get();
    d_sender = std::make_unique<sender>(
        d_io, rings, *out, d_sent, sender_options, [this] { d_space.notify(); }, d_log);
    d_full.reserve(d_inputs.size());
    limit_queues();
    if (d_socket)
        for (const auto& warning : d_socket->warnings())
            d_log.add(warning);
    d_log.flush();
}

// NOLINTNEXTLINE(bugprone-exception-escape): waits throw only if they are misused
sink_engine::~sink_engine() { stop(); }

void sink_engine::add_input(const sink_options& options, stream_config config)
{
    const auto slots = ring_slots(options, config);
    d_inputs.push_back(std::make_unique<packed_input>(
        std::move(config), slots, [this] { d_sender->wake(); }));
    auto& added = *d_inputs.back();
    if (options.sample_rate)
        added.tagged = std::make_unique<rx_time_packer>(
            added.packer, added.counters, clock_of(options), aligner_config_of(options));
}

void sink_engine::limit_queues()
{
    const double rate = d_sender->rate();
    const auto inputs = static_cast<double>(d_inputs.size());
    for (auto& one : d_inputs) {
        auto& ring = one->ring;
        if (!d_limits_queue || rate == 0) {
            ring.set_limit(ring.slots());
            continue;
        }
        const auto slot_bytes = static_cast<double>(ring.slot_bytes());
        const auto slots = [&](double bytes) {
            const auto most = static_cast<double>(ring.slots());
            return static_cast<std::size_t>(std::min(bytes / slot_bytes, most));
        };
        // at least two bursts, or pacing would suffer
        const double bytes = std::max(rate * paced_queue,
                                      2 * pacer::burst(d_burst_bytes, slot_bytes, rate)) /
                             inputs;
        const std::size_t limit =
            std::max(slots(bytes), one->packer.config().min_slots_in_use(ring.slots()));
        // wake the packer late, but before the queue is empty: a wake-up costs more than
        // packing
        const std::size_t refill = slots(rate / inputs * time_to_wake);
        ring.set_limit(limit, std::clamp(refill, limit / 4, limit - limit / 4));
    }
}

void sink_engine::start()
{
    stop(); // in case of a start() without a stop()
    for (auto& one : d_inputs) {
        one->packer.start_run();
        one->full_at.reset();
        if (one->tagged)
            one->tagged->start_run();
    }
    schedule_stats();
    d_sender->start();
    d_started = true;
}

void sink_engine::publish_stats_every(double interval, std::function<void()> publish)
{
    d_stats_interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(interval));
    d_publish_stats = std::move(publish);
}

void sink_engine::schedule_stats()
{
    if (!d_stats_interval.count())
        return;
    d_stats_timer.expires_after(d_stats_interval);
    d_stats_timer.async_wait([this](const boost::system::error_code& error) {
        if (error)
            return;
        d_publish_stats();
        schedule_stats();
    });
}

std::size_t sink_engine::write(std::size_t input,
                               const std::byte* samples,
                               std::size_t n,
                               std::uint64_t first,
                               const std::vector<time_tag>& tags)
{
    auto& to = *d_inputs[input];
    const auto mark = to.ring.released();
    to.full_at.reset();
    const auto taken = to.tagged ? to.tagged->write(samples, n, first, tags)
                                 : to.packer.write(samples, n);
    if (taken < n && !is_filling(input)) {
        to.full_at = mark;
        to.counters.ring_full.add(1);
    }
    if (to.tagged)
        for (const auto& warning : to.tagged->take_warnings())
            warn_of_input(input, warning);
    return taken;
}

void sink_engine::warn_of_input(std::size_t input, const std::string& text)
{
    d_log.add(d_inputs.size() > 1 ? "input " + std::to_string(input) + ": " : "", text);
}

bool sink_engine::wait_for_space(ring_wait::clock::time_point deadline)
{
    d_full.clear();
    for (auto& one : d_inputs)
        if (one->full_at)
            d_full.push_back(&one->ring);
    const auto any_space = [this] {
        return std::any_of(d_inputs.begin(), d_inputs.end(), [](const auto& one) {
            return one->full_at && one->ring.has_space_since(*one->full_at);
        });
    };
    return d_space.wait(d_full, any_space, deadline);
}

// Waits until the condition is met. False if the network is blocked.
template <typename condition>
bool sink_engine::wait_while_sending(packet_ring& ring, condition is_met)
{
    for (;;) {
        const auto sent = d_sent.packets_sent.get();
        if (std::exchange(d_sent_at_end, sent) != sent)
            d_end_deadline = sender::clock::now() + finish_timeout;
        if (d_space.wait(std::array{ &ring }, is_met, d_end_deadline))
            return true;
        if (sent == d_sent.packets_sent.get())
            return false;
    }
}

// Calls a step whenever there is room, until it is done. False if the network is blocked.
template <typename step>
bool sink_engine::repeat(packet_ring& ring, step done)
{
    for (;;) {
        const auto mark = ring.released();
        if (done())
            return true;
        if (!wait_while_sending(ring, [&] { return ring.has_space_since(mark); }))
            return false;
    }
}

// Sends the tails and the end-of-stream heaps. False if the network is blocked.
bool sink_engine::end_streams()
{
    for (auto& one : d_inputs)
        if (!repeat(one->ring, [&] { return one->packer.finish_tail(); }))
            return false;
    if (inputs() > 1 || d_destinations_to_end > 1)
        if (!wait_for_empty_queues())
            return false;
    if (d_destinations_to_end > 1) {
        std::this_thread::sleep_for(pause_before_ends);
        // a receiver may close all of its sockets at the first end-of-stream heap
        d_sender->expect_refusal();
    }
    if (!send_ends() || !wait_for_empty_queues())
        return false;
    if (!d_destinations_to_end) {
        if (d_socket)
            std::this_thread::sleep_for(refusal_time);
        return true;
    }
    for (auto time = first_repetition; time <= last_repetition; time *= 2) {
        std::this_thread::sleep_for(time);
        d_sender->expect_refusal(); // by now, the first packets have been refused
        for (auto& one : d_inputs)
            one->packer.repeat_stop();
        if (!send_ends() || !wait_for_empty_queues())
            return false;
    }
    return true;
}

bool sink_engine::send_ends()
{
    return std::all_of(d_inputs.begin(), d_inputs.end(), [&](const auto& one) {
        return repeat(one->ring, [&] { return one->packer.send_stop(); });
    });
}

bool sink_engine::wait_for_empty_queues()
{
    return std::all_of(d_inputs.begin(), d_inputs.end(), [&](const auto& one) {
        auto& ring = one->ring;
        return wait_while_sending(ring,
                                  [&] { return ring.released() == ring.published(); });
    });
}

void sink_engine::stop()
{
    if (std::exchange(d_started, false))
        end_run();
    d_log.flush();
}

void sink_engine::end_run()
{
    // GNU Radio may interrupt this thread again
    const boost::this_thread::disable_interruption until_the_end;
    d_sent_at_end = d_sent.packets_sent.get();
    d_end_deadline = sender::clock::now() + finish_timeout;
    const bool is_sent = end_streams();
    if (!is_sent)
        for (auto& one : d_inputs)
            one->packer.drop_unpublished();
    d_sender->finish(sender::clock::now() + (is_sent ? finish_timeout : 0s));
}

void sink_engine::set_rate(double bytes_per_second)
{
    if (d_capture)
        return d_capture->set_rate(bytes_per_second);
    d_sender->set_rate(bytes_per_second);
    limit_queues();
}

void sink_engine::set_items(const std::vector<item_update>& updates)
{
    for (std::size_t input = 0; input < inputs(); ++input) {
        std::vector<item_update> own;
        for (const auto& update : updates)
            if (update.input == input)
                own.push_back(update);
        if (!own.empty())
            d_inputs[input]->packer.set_items(own);
    }
}

sink_counters<std::uint64_t> sink_engine::counts() const
{
    sink_counters<std::uint64_t> now;
    add_counters<sink_counters>(now, d_sent);
    for (const auto& one : d_inputs)
        add_counters<sink_counters>(now, one->counters);
    // read last, so that it is never below the samples sent and dropped
    now.samples_in = 0;
    for (const auto& one : d_inputs)
        now.samples_in += one->counters.samples_in.get();
    return now;
}

sink_stats sink_engine::stats() const
{
    sink_stats now;
    static_cast<sink_counters<std::uint64_t>&>(now) = counts();
    now.samples_pending = now.samples_in - now.samples_sent - now.samples_dropped;
    for (const auto& one : d_inputs) {
        now.ring_fill = std::max(now.ring_fill, one->ring.fill_level());
        now.largest_sample = std::max(now.largest_sample, one->packer.largest_sample());
    }
    now.gso = d_sender->gso();
    now.zero_copy = d_socket && d_socket->zero_copy_active();
    now.send_errors = d_sent.errors.by_name();
    return now;
}

} // namespace gr::spead
