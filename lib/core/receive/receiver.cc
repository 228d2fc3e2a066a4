/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/capture_file.h"
#include "receiver.h"

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
constexpr std::size_t calls_in_turn = 16;
// Then the flow graph gets what is ready.
constexpr std::size_t packets_of_captures = 1024;

// After this time samples are produced, even if more packets are waiting.
constexpr std::chrono::milliseconds max_read{ 1 };

// Limits for one wait, so that the flow graph can stop and a block downstream can end it.
constexpr int max_wait = 10; // ms
constexpr int max_wait_for_missing = 1;
constexpr std::chrono::milliseconds wait_after_failure{ 10 };

// Bytes per second: from this rate on, sleeping is cheaper than a wake-up per packet.
constexpr double busy_rate = 32e6;
constexpr std::chrono::microseconds max_nap{ 500 };
constexpr std::chrono::microseconds min_nap{ 50 };
// The fraction of the socket's receive buffer that may fill during a nap. A packet takes
// about twice its size there.
constexpr double part_of_kernel_buffer = 0.1;

} // namespace

receiver::receiver(const config& how,
                   reassembler& to,
                   output_window& window,
                   rate_limited_log& log)
    : d_config(how),
      d_reassembler(to),
      d_window(window),
      d_log(log),
      d_buffer(datagram_source::batch_buffer_bytes)
{
}

void receiver::start(const std::vector<std::unique_ptr<datagram_source>>& sockets)
{
    d_sockets = &sockets;
    d_polled.clear();
    d_kernel_buffer = sockets.front()->kernel_buffer_bytes();
    d_reads_captures = sockets.front()->is_capture();
    for (const auto& each : sockets)
        d_polled.push_back({ each->native_handle(), POLLIN, 0 });
    d_pending = {};
    d_is_blocked = d_has_ended = false;
    d_last_packet = d_returned = clock::now();
    d_stop_seen.reset();
    d_replay_begin.reset();
    d_read_since_stop = 0;
    d_reassembler.start_run();
}

void receiver::receive()
{
    if (d_has_ended)
        return;
    if (d_reads_captures)
        return read_captures();
    d_paused_time += clock::now() - d_returned;
    if (!d_is_blocked && !d_reassembler.has_deferred_work()) {
        if (d_nap.count())
            std::this_thread::sleep_until(d_last_read + d_nap);
        else
            poll(d_polled.data(),
                 d_polled.size(),
                 d_window.is_empty() ? max_wait : max_wait_for_missing);
    }
    read_all();
    if (d_config.end_on_stop && d_reassembler.has_stopped() && !d_stop_seen)
        d_stop_seen = d_last_read;
    // Packets may still arrive on other sockets, or by other network paths. If packets
    // keep arriving, those that were in the sockets when the stream ended are read.
    const bool has_stopped =
        d_stop_seen && d_last_read - *d_stop_seen >= d_config.max_delay &&
        !d_reassembler.has_deferred_work() &&
        (!d_is_blocked || d_read_since_stop >= d_kernel_buffer * d_sockets->size());
    const bool is_timeout =
        d_config.timeout.count() && d_last_read - d_last_packet >= d_config.timeout;
    if (has_stopped || is_timeout) {
        d_has_ended = true;
        d_window.give_up(d_reassembler.end());
    }
    d_returned = clock::now();
}

// Reads the captures in order of time until their end, until packets wait for room, or
// until a pipe is empty: the next packet may come from there.
void receiver::read_captures()
{
    d_is_blocked = !deliver(d_capture_time);
    for (std::size_t i = 0; i < packets_of_captures && !d_is_blocked; ++i) {
        std::optional<std::chrono::nanoseconds> first;
        bool is_waiting = false;
        for (std::size_t j = 0; j < d_sockets->size(); ++j) {
            auto& capture = *(*d_sockets)[j];
            const auto time = capture.next_time();
            is_waiting = is_waiting || capture.is_waiting();
            if (time && (!first || *time < *first)) {
                first = time;
                d_socket = j;
            }
        }
        if (is_waiting) {
            if (i == 0)
                wait_for_captures(*d_sockets, std::chrono::milliseconds(max_wait));
            return;
        }
        if (!first)
            return end_captures();
        if (d_config.realtime && is_early(*first))
            return;
        d_pending = (*d_sockets)[d_socket]->receive(d_buffer.data());
        // the clock of the capture may be set back
        d_capture_time = std::max(d_capture_time, clock::time_point(*first));
        d_is_blocked = !deliver(d_capture_time);
    }
}

void receiver::end_captures()
{
    d_has_ended = !d_reassembler.has_deferred_work();
    if (!d_has_ended)
        return;
    for (const auto& capture : *d_sockets)
        if (const auto failure = capture->failure(); !failure.empty())
            d_log.add(failure);
    d_window.give_up(d_reassembler.end());
}

// Whether a packet of this time is not due yet. Then waits for it, but no longer than
// max_wait; the caller produces what has arrived meanwhile.
bool receiver::is_early(std::chrono::nanoseconds time)
{
    const auto now = clock::now();
    if (!d_replay_begin)
        d_replay_begin = now - time;
    const auto due = *d_replay_begin + time;
    if (due <= now)
        return false;
    std::this_thread::sleep_until(
        std::min<clock::time_point>(due, now + std::chrono::milliseconds(max_wait)));
    return true;
}

// Reads the sockets in turn until they are empty, then chooses how to wait.
void receiver::read_all()
{
    auto now = clock::now();
    const auto latest = now + max_read;
    d_nap = {};
    const auto calls = std::max<std::size_t>(calls_in_turn / d_sockets->size(), 1);
    std::size_t bytes = 0, empty = 0; // empty: consecutive empty sockets
    d_is_blocked = !deliver(now - d_paused_time);
    while (!d_is_blocked && empty < d_sockets->size() && now < latest) {
        ++empty;
        d_socket = (d_socket + 1) % d_sockets->size();
        auto& socket = *(*d_sockets)[d_socket];
        for (std::size_t i = 0; i < calls && !d_is_blocked; ++i) {
            d_pending = socket.receive(d_buffer.data());
            if (d_pending.error)
                break;
            bytes += d_pending.bytes;
            empty = 0;
            d_is_blocked = !deliver(now - d_paused_time);
        }
        if (d_pending.error && d_pending.error != EAGAIN) {
            d_log.add("cannot receive on ",
                      socket.name(),
                      ": ",
                      std::strerror(d_pending.error),
                      "; trying again");
            d_nap = wait_after_failure;
        }
        now = clock::now();
    }
    if (bytes || d_is_blocked)
        d_last_packet = now;
    if (d_stop_seen)
        d_read_since_stop += bytes;
    // the time in which this rate fills that fraction of the receive buffer
    const seconds elapsed = now - std::exchange(d_last_read, now);
    const auto read = static_cast<double>(bytes);
    const auto nap =
        elapsed * part_of_kernel_buffer * static_cast<double>(d_kernel_buffer) / read;
    if (empty == d_sockets->size() && read >= busy_rate * elapsed.count() &&
        nap >= min_nap)
        d_nap =
            std::chrono::duration_cast<clock::duration>(std::min<seconds>(nap, max_nap));
}

// Returns false if there is no room for all received datagrams and all packets that are
// ready in the reassembler.
bool receiver::deliver(clock::time_point now)
{
    while (d_pending.data) {
        if (d_reassembler.has_deferred_work() && !d_reassembler.resume(now))
            return false;
        const auto n = std::min(d_pending.datagram_bytes, d_pending.bytes);
        if (!d_reassembler.place_packet({ d_pending.data, n, d_socket, d_pending.sender },
                                        now))
            return false;
        d_pending.bytes -= n;
        d_pending.data = d_pending.bytes ? d_pending.data + n : nullptr;
    }
    return d_reassembler.resume(now);
}

} // namespace gr::spead
