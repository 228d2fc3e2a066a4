/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "make_packer_configs.h"
#include "network/capture_writer.h"
#include "network/udp_transport.h"
#include "send/stream_end.h"
#include "sink_engine.h"
#include "support/checks.h"

#include <boost/thread/thread.hpp>

#include <algorithm>
#include <array>

namespace gr::spead {

using namespace std::chrono_literals;

namespace {

// Seconds that a packer may take to wake up on a busy machine.
constexpr double wake_time = 1e-3;

// A receiver may read several sockets in any order, and stops at the first end-of-stream
// heap. By then it should have read the samples in its other sockets.
constexpr std::chrono::milliseconds end_delay{ 100 };

// Concatenates the lists. The index in the result is the index of the destination.
std::vector<endpoint> all_of(const std::vector<std::vector<endpoint>>& lists)
{
    std::vector<endpoint> endpoints;
    for (const auto& list : lists)
        endpoints.insert(endpoints.end(), list.begin(), list.end());
    return endpoints;
}

} // namespace

std::unique_ptr<transport> open_transport(boost::asio::io_context& io,
                                          const sink_config& config)
{
    const auto endpoints = all_of(config.destinations);
    if (config.is_capture())
        return std::make_unique<capture_writer>(io, endpoints);
    return std::make_unique<udp_transport>(io, endpoints, config.interface, config.ttl);
}

sink_engine::packed_input::packed_input(packer_config config,
                                        std::size_t slots,
                                        std::function<void()> wake_sender)
    : ring(slots, config.regular.packet_bytes()),
      packer(std::move(config), ring, counters, std::move(wake_sender))
{
}

sink_engine::sink_engine(const sink_config& config, rate_limited_log::output log)
    : d_burst_bytes(static_cast<double>(config.burst_bytes)),
      d_limits_rings(config.when_full == full_policy::block),
      d_log(std::move(log)),
      d_io(1),
      d_stats_timer(d_io),
      d_transport(open_transport(d_io, config))
{
    std::vector<packet_ring*> rings;
    for (auto& packer : make_packer_configs(
             config, d_transport->addresses(), d_transport->max_packet_bytes())) {
        d_destinations_to_end += packer.stop ? packer.stop_destinations.size() : 0;
        add_input(config, std::move(packer));
        rings.push_back(&d_inputs.back()->ring);
    }
    d_sender = std::make_unique<sender>(
        d_io,
        rings,
        *d_transport,
        d_sender_counters,
        sender_config{ config.rate, config.burst_bytes, config.cpu },
        [this] { d_ring_wait.notify(); },
        d_log);
    d_full_rings.reserve(d_inputs.size());
    limit_rings();
    for (const auto& warning : d_transport->warnings())
        d_log.add(warning);
    d_log.flush();
}

// NOLINTNEXTLINE(bugprone-exception-escape): waits throw only if they are misused
sink_engine::~sink_engine() { stop(); }

void sink_engine::add_input(const sink_config& config, packer_config packer)
{
    const auto slots = ring_slots(config, packer);
    d_inputs.push_back(std::make_unique<packed_input>(
        std::move(packer), slots, [this] { d_sender->wake(); }));
    auto& input = *d_inputs.back();
    if (config.aligner)
        input.time_packer = std::make_unique<rx_time_packer>(
            input.packer, input.counters, *config.clock, *config.aligner);
}

void sink_engine::limit_rings()
{
    const double rate = d_sender->pacing_rate();
    const auto inputs = static_cast<double>(d_inputs.size());
    for (auto& input : d_inputs) {
        auto& ring = input->ring;
        if (!d_limits_rings || rate == 0) {
            ring.set_limit(ring.slots());
            continue;
        }
        const auto slot_bytes = static_cast<double>(ring.slot_bytes());
        const auto slots = [&](double bytes) {
            const auto max_slots = static_cast<double>(ring.slots());
            return static_cast<std::size_t>(std::min(bytes / slot_bytes, max_slots));
        };
        // at least two bursts, or pacing would suffer
        const double bytes =
            std::max(rate * paced_ring_time,
                     2 * pacer::burst_size(d_burst_bytes, slot_bytes, rate)) /
            inputs;
        const std::size_t limit =
            std::max(slots(bytes), input->packer.config().min_slots_in_use(ring.slots()));
        // wake the packer late, but before the ring is empty: a wake-up costs more than
        // packing
        const std::size_t refill = slots(rate / inputs * wake_time);
        ring.set_limit(limit, std::clamp(refill, limit / 4, limit - limit / 4));
    }
}

void sink_engine::start()
{
    stop(); // in case of a start() without a stop()
    for (auto& input : d_inputs) {
        input->packer.start_run();
        input->released_when_full.reset();
        if (input->time_packer)
            input->time_packer->start_run();
    }
    schedule_stats();
    d_sender->start();
    d_started = true;
}

void sink_engine::publish_stats_every(std::chrono::nanoseconds interval,
                                      std::function<void()> publish)
{
    d_stats_interval = interval;
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
                               std::uint64_t first_sample,
                               const std::vector<rx_time_tag>& tags)
{
    auto& packed = *d_inputs[input];
    const auto released_before = packed.ring.released();
    packed.released_when_full.reset();
    const auto n_taken = packed.time_packer
                             ? packed.time_packer->write(samples, n, first_sample, tags)
                             : packed.packer.write(samples, n);
    if (n_taken < n && !is_filling(input)) {
        packed.released_when_full = released_before;
        packed.counters.ring_full.add(1);
    }
    if (packed.time_packer)
        for (const auto& warning : packed.time_packer->take_warnings())
            warn_of_input(input, warning);
    return n_taken;
}

void sink_engine::warn_of_input(std::size_t input, const std::string& text)
{
    d_log.add(d_inputs.size() > 1 ? "input " + std::to_string(input) + ": " : "", text);
}

bool sink_engine::wait_for_space(ring_wait::clock::time_point deadline)
{
    d_full_rings.clear();
    for (auto& input : d_inputs)
        if (input->released_when_full)
            d_full_rings.push_back(&input->ring);
    const auto has_any_space = [this] {
        return std::any_of(d_inputs.begin(), d_inputs.end(), [](const auto& input) {
            return input->released_when_full &&
                   input->ring.has_space_since(*input->released_when_full);
        });
    };
    return d_ring_wait.wait(d_full_rings, has_any_space, deadline);
}

void sink_engine::start_finish_timeout()
{
    d_last_sent = d_sender_counters.packets_sent.get();
    d_end_deadline = sender::clock::now() + finish_timeout;
}

// Whether nothing has been sent for too long. Extends the deadline while packets are
// sent.
bool sink_engine::is_timed_out()
{
    const auto sent = d_sender_counters.packets_sent.get();
    const auto now = sender::clock::now();
    if (std::exchange(d_last_sent, sent) != sent)
        d_end_deadline = now + finish_timeout;
    return now >= d_end_deadline;
}

void sink_engine::finish_writing(const std::function<bool()>& try_write)
{
    // GNU Radio may interrupt this thread again
    const boost::this_thread::disable_interruption no_interruption;
    start_finish_timeout();
    while (!try_write() && !is_timed_out())
        wait_for_space(d_end_deadline);
}

// Waits until the condition is met. False if the network is blocked.
template <typename condition>
bool sink_engine::wait_while_sending(packet_ring& ring, condition is_met)
{
    do {
        if (d_ring_wait.wait(std::array{ &ring }, is_met, d_end_deadline))
            return true;
    } while (!is_timed_out());
    return false;
}

// Calls a step whenever there is room, until it is done. False if the network is blocked.
template <typename step>
bool sink_engine::repeat(packet_ring& ring, step try_step)
{
    for (;;) {
        const auto released_before = ring.released();
        if (try_step())
            return true;
        if (!wait_while_sending(ring,
                                [&] { return ring.has_space_since(released_before); }))
            return false;
    }
}

// Sends the tails and the end-of-stream heaps. False if the network is blocked.
bool sink_engine::end_streams()
{
    for (auto& input : d_inputs)
        if (!repeat(input->ring, [&] { return input->packer.finish_tail(); }))
            return false;
    if (inputs() > 1 || d_destinations_to_end > 1)
        if (!wait_for_empty_rings())
            return false;
    if (d_destinations_to_end > 1) {
        std::this_thread::sleep_for(end_delay);
        // a receiver may close all of its sockets at the first end-of-stream heap
        d_sender->expect_refusal();
    }
    if (!pack_stop_heaps() || !wait_for_empty_rings())
        return false;
    if (!d_destinations_to_end) {
        std::this_thread::sleep_for(refusal_time);
        return true;
    }
    for (auto delay = first_repeat_delay; delay <= last_repeat_delay; delay *= 2) {
        std::this_thread::sleep_for(delay);
        d_sender->expect_refusal(); // by now, the first packets have been refused
        for (auto& input : d_inputs)
            input->packer.repeat_stop_heaps();
        if (!pack_stop_heaps() || !wait_for_empty_rings())
            return false;
    }
    return true;
}

bool sink_engine::pack_stop_heaps()
{
    return std::all_of(d_inputs.begin(), d_inputs.end(), [&](const auto& input) {
        return repeat(input->ring, [&] { return input->packer.pack_stop_heaps(); });
    });
}

bool sink_engine::wait_for_empty_rings()
{
    return std::all_of(d_inputs.begin(), d_inputs.end(), [&](const auto& input) {
        auto& ring = input->ring;
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
    const boost::this_thread::disable_interruption no_interruption;
    start_finish_timeout();
    const bool is_sent = end_streams();
    if (!is_sent)
        for (auto& input : d_inputs)
            input->packer.drop_unpublished();
    d_sender->finish(sender::clock::now() + (is_sent ? finish_timeout : 0s));
}

void sink_engine::set_rate(double bytes_per_second)
{
    d_sender->set_rate(bytes_per_second);
    limit_rings();
}

void sink_engine::set_items(const std::vector<item_update>& updates)
{
    for (std::size_t input = 0; input < inputs(); ++input) {
        std::vector<item_update> own_updates;
        for (const auto& update : updates)
            if (update.input == input)
                own_updates.push_back(update);
        if (!own_updates.empty())
            d_inputs[input]->packer.set_items(own_updates);
    }
}

sink_counters<std::uint64_t> sink_engine::counts() const
{
    sink_counters<std::uint64_t> sums;
    add_counters<sink_counters>(sums, d_sender_counters);
    for (const auto& input : d_inputs)
        add_counters<sink_counters>(sums, input->counters);
    // read last, so that it is never below the samples sent and dropped
    sums.samples_in = 0;
    for (const auto& input : d_inputs)
        sums.samples_in += input->counters.samples_in.get();
    return sums;
}

sink_stats sink_engine::stats() const
{
    sink_stats statistics;
    static_cast<sink_counters<std::uint64_t>&>(statistics) = counts();
    statistics.samples_pending =
        statistics.samples_in - statistics.samples_sent - statistics.samples_dropped;
    for (const auto& input : d_inputs) {
        statistics.ring_fill = std::max(statistics.ring_fill, input->ring.fill_level());
        statistics.largest_sample =
            std::max(statistics.largest_sample, input->packer.largest_sample());
    }
    statistics.gso = d_sender->gso();
    statistics.zero_copy = d_transport->zero_copy_active();
    statistics.send_errors = d_sender_counters.errors.by_name();
    return statistics;
}

} // namespace gr::spead
