/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "socket_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace gr::spead {

namespace {

using seconds = std::chrono::duration<double>;

// Receive calls per round over all sockets. Heaps of the same time may arrive on several
// sockets, and the window must hold the packets read from one before the next is read.
constexpr std::size_t calls_per_round = 16;

// After this time samples are produced, even if more packets are waiting.
constexpr std::chrono::milliseconds max_read{ 1 };

// Limits for one wait, so that the flow graph can stop and a block downstream can end it.
constexpr int max_wait = 10; // ms
constexpr int max_wait_for_missing = 1;
constexpr std::chrono::milliseconds wait_after_failure{ 10 };

// Bytes per second: from this rate on, sleeping is cheaper than a wake-up per packet.
constexpr double busy_rate = 32e6;
constexpr std::chrono::microseconds max_coalesce_time{ 500 };
constexpr std::chrono::microseconds min_coalesce_time{ 50 };
// The fraction of the socket's receive buffer that may fill during a sleep. A packet
// takes about twice its size there.
constexpr double kernel_buffer_fraction = 0.1;

} // namespace

socket_reader::socket_reader(const config& settings,
                             heap_router& router,
                             output_window& window,
                             rate_limited_log& log)
    : packet_reader(router, window, log), d_config(settings)
{
}

void socket_reader::start(const source_list& sockets, bool is_repeated)
{
    packet_reader::start(sockets, is_repeated);
    d_polled.clear();
    d_kernel_buffer = sockets.front()->kernel_buffer_bytes();
    for (const auto& socket : sockets)
        d_polled.push_back({ socket->native_handle(), POLLIN, 0 });
    d_last_packet = d_return_time = clock::now();
    d_stop_time.reset();
    d_read_since_stop = 0;
}

void socket_reader::poll()
{
    if (has_ended())
        return;
    d_paused_time += clock::now() - d_return_time;
    if (!waits_for_room()) {
        if (d_sleep_time.count())
            std::this_thread::sleep_until(d_last_read + d_sleep_time);
        else
            ::poll(d_polled.data(),
                   d_polled.size(),
                   d_window.is_empty() ? max_wait : max_wait_for_missing);
    }
    read_all();
    if (d_config.end_on_stop && d_router.has_stopped() && !d_stop_time)
        d_stop_time = d_last_read;
    // Packets may still arrive on other sockets, or by other network paths. If packets
    // keep arriving, those that were in the sockets when the stream ended are read.
    const bool has_stopped =
        d_stop_time && d_last_read - *d_stop_time >= d_config.max_delay &&
        (!waits_for_room() || d_read_since_stop >= d_kernel_buffer * sources().size());
    const bool is_timeout =
        d_config.timeout.count() && d_last_read - d_last_packet >= d_config.timeout;
    if (has_stopped)
        end_run("an end-of-stream heap has arrived");
    else if (is_timeout)
        end_run("no packets have arrived for as long as timeout");
    d_return_time = clock::now();
}

// Reads the sockets in turn until they are empty, then chooses how to wait.
void socket_reader::read_all()
{
    auto now = clock::now();
    const auto deadline = now + max_read;
    d_sleep_time = {};
    const auto calls = std::max<std::size_t>(calls_per_round / sources().size(), 1);
    std::size_t bytes = 0, empty_sockets = 0; // empty_sockets: consecutive ones
    route_pending(now - d_paused_time);
    while (!waits_for_room() && empty_sockets < sources().size() && now < deadline) {
        ++empty_sockets;
        d_socket = (d_socket + 1) % sources().size();
        int error = 0;
        for (std::size_t i = 0; i < calls && !waits_for_room(); ++i) {
            const auto& received = receive(d_socket);
            error = received.error;
            if (error)
                break;
            bytes += received.bytes;
            empty_sockets = 0;
            route_pending(now - d_paused_time);
        }
        if (error && error != EAGAIN) {
            d_log.add("cannot receive on ",
                      sources()[d_socket]->name(),
                      ": ",
                      std::strerror(error),
                      "; trying again");
            d_sleep_time = wait_after_failure;
        }
        now = clock::now();
    }
    if (bytes || waits_for_room())
        d_last_packet = now;
    if (d_stop_time)
        d_read_since_stop += bytes;
    // the time in which this rate fills that fraction of the receive buffer
    const seconds elapsed = now - std::exchange(d_last_read, now);
    const auto read_bytes = static_cast<double>(bytes);
    const auto coalesce_time = elapsed * kernel_buffer_fraction *
                               static_cast<double>(d_kernel_buffer) / read_bytes;
    if (empty_sockets == sources().size() && read_bytes >= busy_rate * elapsed.count() &&
        coalesce_time >= min_coalesce_time)
        d_sleep_time = std::chrono::duration_cast<clock::duration>(
            std::min<seconds>(coalesce_time, max_coalesce_time));
}

} // namespace gr::spead
