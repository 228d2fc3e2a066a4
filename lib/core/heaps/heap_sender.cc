/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_sender.h"
#include "make_packer_configs.h"
#include "protocol/heap_layout.h"
#include "send/stream_end.h"
#include "sink_engine.h"

#include <boost/thread/thread.hpp>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

namespace gr::spead {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t ring_bytes = 1 << 20;
constexpr std::size_t min_slots = 16;
// A slow rate must not delay the end of the flow graph for longer.
constexpr std::chrono::seconds max_end_time{ 4 };

std::size_t slots_for(double bytes, std::size_t packet_bytes)
{
    const auto limited = std::min(bytes, static_cast<double>(ring_bytes));
    return std::max(static_cast<std::size_t>(limited) / packet_bytes, min_slots);
}

} // namespace

heap_sender::heap_sender(const sink_config& config, rate_limited_log::output log)
    : d_config(config),
      d_log(std::move(log)),
      d_transport(open_transport(d_io, config)),
      d_packet_bytes(packet_limit(config, d_transport->max_packet_bytes())),
      d_ring(slots_for(ring_bytes, d_packet_bytes), d_packet_bytes),
      d_sender(std::make_unique<sender>(
          d_io,
          std::vector<packet_ring*>{ &d_ring },
          *d_transport,
          d_sender_counters,
          sender_config{ config.rate, config.burst_bytes, -1 },
          [this] { d_ring_wait.notify(); },
          d_log)),
      d_writer(d_ring, [this] { d_sender->wake(); }),
      d_counter(config.heap_id_start)
{
    if (const auto rate = d_sender->pacing_rate(); rate > 0) {
        const auto bytes =
            std::max(rate * paced_ring_time,
                     2 * pacer::burst_size(static_cast<double>(config.burst_bytes),
                                           static_cast<double>(d_packet_bytes),
                                           rate));
        d_ring.set_limit(std::min(slots_for(bytes, d_packet_bytes), d_ring.slots()));
    }
    for (const auto& warning : d_transport->warnings())
        d_log.add(warning);
    d_log.flush();
}

// NOLINTNEXTLINE(bugprone-exception-escape): waits throw only if they are misused
heap_sender::~heap_sender() { stop(); }

void heap_sender::start()
{
    stop(); // in case of a start() without a stop()
    d_expects_end = false;
    d_end_deadline.reset();
    d_sender->start();
    d_is_started = true;
}

std::uint64_t heap_sender::next_counter()
{
    const auto counter = d_counter;
    d_counter = (d_counter + d_config.heap_id_step) & d_config.flavour.address_mask();
    return counter;
}

bool heap_sender::send(const std::vector<outgoing_item>& items, bool is_counted)
{
    // GNU Radio may interrupt this thread; the packets in the ring are sent nevertheless
    const boost::this_thread::disable_interruption no_interruption;
    const auto packets =
        packets_of(items, next_counter(), d_config.flavour, d_packet_bytes);
    const std::uint16_t last_flags =
        packet_info::heap_end | (is_counted ? packet_info::data : 0);
    for (const auto& packet : packets)
        if (!write(packet, &packet == &packets.back() ? last_flags : 0)) {
            d_counters.heaps_dropped.add(is_counted);
            return false;
        }
    d_writer.publish();
    return true;
}

bool heap_sender::write(const std::vector<std::byte>& packet, std::uint16_t flags)
{
    const prebuilt_packet prebuilt{
        packet, { static_cast<std::uint32_t>(packet.size()), flags, 0, 0 }
    };
    for (;;) {
        const auto released_before = d_ring.released();
        if (d_writer.write(prebuilt))
            return true;
        d_writer.publish();
        if (!wait([&] { return d_ring.has_space_since(released_before); }))
            return false;
    }
}

// Waits until the condition is met. False if the run ends, and the network is blocked.
template <typename condition>
bool heap_sender::wait(condition is_met)
{
    auto sent = d_sender_counters.packets_sent.get();
    auto deadline = clock::now() + finish_timeout;
    for (;;) {
        if (d_ring_wait.wait(std::array{ &d_ring }, is_met, clock::now() + 100ms))
            return true;
        const bool is_ending =
            d_expects_end || boost::this_thread::interruption_requested();
        const auto now = clock::now();
        const auto now_sent = d_sender_counters.packets_sent.get();
        if (!is_ending || std::exchange(sent, now_sent) != now_sent)
            deadline = now + finish_timeout;
        if (is_ending && !d_end_deadline)
            d_end_deadline = now + max_end_time;
        if (is_ending && now >= std::min(deadline, *d_end_deadline))
            return false;
    }
}

void heap_sender::stop()
{
    if (!std::exchange(d_is_started, false))
        return d_log.flush();
    const boost::this_thread::disable_interruption no_interruption;
    d_expects_end = true;
    const auto are_sent = [this] { return d_ring.released() == d_ring.published(); };
    const bool is_sent = wait(are_sent) && send_end();
    d_sender->finish(clock::now() + (is_sent ? finish_timeout : 0s));
    d_log.flush();
}

// Sends the end-of-stream heap. False if the network is blocked.
bool heap_sender::send_end()
{
    if (!d_config.has_end) {
        std::this_thread::sleep_for(refusal_time);
        return true;
    }
    const auto end =
        heap_layout::even(stop_contents(d_config.flavour), 0, d_packet_bytes, false);
    const auto packet = end.packet(end.words(next_counter()), 0, end.contents().prefix);
    const auto send = [&] {
        if (!write(packet, packet_info::heap_end))
            return false;
        d_writer.publish();
        return wait([this] { return d_ring.released() == d_ring.published(); });
    };
    if (!send())
        return false;
    for (auto delay = first_repeat_delay; delay <= last_repeat_delay; delay *= 2) {
        std::this_thread::sleep_for(delay);
        d_sender->expect_refusal(); // by now, the first packets have been refused
        if (!send())
            return false;
    }
    return true;
}

sink_counters<std::uint64_t> heap_sender::counts() const
{
    sink_counters<std::uint64_t> sums;
    add_counters<sink_counters>(sums, d_sender_counters);
    add_counters<sink_counters>(sums, d_counters);
    return sums;
}

} // namespace gr::spead
