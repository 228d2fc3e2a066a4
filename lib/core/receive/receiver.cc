/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receiver.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace gr::spead {

namespace {

using seconds = std::chrono::duration<double>;

// Of all sockets. Heaps of the same time may come on several ones, and the window must
// hold what is read of one before the next.
constexpr std::size_t calls_in_turn = 16;

// What is received before samples are produced, even though more packets are there.
constexpr std::size_t most_bytes_at_once = 1 << 20;
constexpr std::chrono::milliseconds longest_read{ 2 };

// So that the flow graph can stop, and a block downstream end it.
constexpr std::chrono::milliseconds longest_wait{ 10 };
constexpr std::chrono::milliseconds wait_after_failure{ 10 };

// From this rate on, in bytes a second, sleeping is cheaper than waiting for each packet.
constexpr double busy_rate = 32e6;
constexpr std::chrono::microseconds longest_sleep{ 500 };
constexpr std::chrono::microseconds shortest_sleep{ 50 };
// The kernel's buffer is to be filled by no more than this part meanwhile. A packet takes
// about twice its size in it.
constexpr double part_of_kernel_buffer = 0.1;

} // namespace

receiver::receiver(const plan& how,
                   reassembler& to,
                   output_window& window,
                   source_counter_set& common,
                   rate_limited_log& log)
    : d_plan(how),
      d_to(to),
      d_window(window),
      d_common(common),
      d_log(log),
      d_buffer(receive_socket::buffer_bytes)
{
}

void receiver::start(const std::vector<std::unique_ptr<receive_socket>>& sockets)
{
    d_sockets.clear();
    d_polled.clear();
    d_kernel_buffer = receive_socket::wanted_kernel_buffer_bytes;
    for (const auto& each : sockets) {
        d_sockets.push_back(each.get());
        d_polled.push_back({ each->native_handle(), POLLIN, 0 });
        d_kernel_buffer = std::min(d_kernel_buffer, each->kernel_buffer_bytes());
    }
    d_pending = {};
    d_is_blocked = d_has_ended = false;
    d_last_read = d_last_packet = clock::now();
    d_next_read.reset();
    d_stop_seen.reset();
    d_read_since_stop = 0;
    d_to.start_run();
}

void receiver::receive()
{
    if (d_has_ended)
        return;
    if (!d_is_blocked && !d_to.has_more())
        wait();
    d_is_blocked = !read_all();
    const auto now = clock::now();
    const auto packets = d_common.packets_received.get();
    if (std::exchange(d_packets, packets) != packets || d_is_blocked)
        d_last_packet = now;
    if (d_plan.end_on_stop && d_to.has_stopped() && !d_stop_seen)
        d_stop_seen = now;
    if (end_is_due(now)) {
        d_has_ended = true;
        d_window.give_up(d_to.end());
    }
}

void receiver::wait()
{
    if (d_next_read) {
        std::this_thread::sleep_until(*d_next_read);
        return;
    }
    std::chrono::nanoseconds longest = longest_wait;
    if (!d_window.is_empty())
        longest = std::clamp<std::chrono::nanoseconds>(
            d_plan.max_delay / 16, std::chrono::milliseconds(1), longest);
    const timespec time{ 0, longest.count() };
    ppoll(d_polled.data(), d_polled.size(), &time, nullptr);
}

// False if there is no room for packets.
bool receiver::read_all()
{
    auto now = clock::now();
    const auto latest = now + longest_read;
    std::size_t bytes = 0;
    bool is_empty = false, has_failed = false;
    const auto calls = std::max<std::size_t>(calls_in_turn / d_sockets.size(), 1);
    bool has_room = deliver(now);
    while (has_room && !is_empty && now < latest && bytes < most_bytes_at_once) {
        is_empty = true;
        for (std::size_t socket = 0; socket < d_sockets.size() && has_room; ++socket)
            for (std::size_t i = 0; i < calls && has_room; ++i) {
                d_pending = d_sockets[socket]->receive(d_buffer.data());
                if (const int error = d_pending.error) {
                    if (error != EAGAIN && error != EINTR) {
                        has_failed = true;
                        d_log.add("cannot receive on port ",
                                  d_sockets[socket]->port(),
                                  ": ",
                                  std::strerror(error),
                                  "; trying again");
                    }
                    break;
                }
                d_pending_socket = socket;
                bytes += d_pending.bytes;
                is_empty = false;
                has_room = deliver(now);
            }
        now = clock::now();
    }
    if (d_stop_seen)
        d_read_since_stop += bytes;
    schedule_next_read(bytes, is_empty, now);
    if (has_failed)
        d_next_read = now + wait_after_failure;
    return has_room;
}

void receiver::schedule_next_read(std::size_t bytes, bool is_empty, clock::time_point now)
{
    const seconds elapsed = now - std::exchange(d_last_read, now);
    d_next_read = is_empty ? std::nullopt : std::optional(now);
    const auto rate = static_cast<double>(bytes) / std::max(elapsed.count(), 1e-6);
    if (!is_empty || rate < busy_rate)
        return;
    const seconds to_fill(part_of_kernel_buffer * static_cast<double>(d_kernel_buffer) /
                          rate);
    if (to_fill >= shortest_sleep)
        d_next_read = now + std::chrono::duration_cast<clock::duration>(
                                std::min<seconds>(to_fill, longest_sleep));
}

// False if there is no room for all of the datagrams that were received, and for packets
// that waited.
bool receiver::deliver(clock::time_point now)
{
    while (d_pending.data) {
        const auto n = std::min(d_pending.datagram, d_pending.bytes);
        if (!d_to.take({ d_pending.data, n, d_pending_socket, d_pending.sender }, now))
            return false;
        d_pending.data += n;
        d_pending.bytes -= n;
        if (!d_pending.bytes)
            d_pending = {};
        if (d_to.has_more() && !d_to.go_on(now))
            return false;
    }
    return d_to.go_on(now);
}

bool receiver::end_is_due(clock::time_point now) const
{
    // packets may be on their way on other sockets, or by other paths. If packets keep
    // coming, those that were in the sockets when the stream ended are read.
    if (d_stop_seen && now - *d_stop_seen >= d_plan.max_delay && !d_to.has_more() &&
        (!d_is_blocked || d_read_since_stop >= d_kernel_buffer * d_sockets.size()))
        return true;
    return d_plan.timeout.count() && now - d_last_packet >= d_plan.timeout;
}

} // namespace gr::spead
