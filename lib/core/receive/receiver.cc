/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receiver.h"
#include "support/thread_setup.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gr::spead {

namespace {

// Of a socket, before it is the turn of the next one.
constexpr int calls_in_turn = 16;

// From this rate on, in bytes a second, sleeping is cheaper than waiting for each packet.
constexpr double busy_rate = 32e6;
constexpr std::chrono::microseconds longest_sleep{ 500 };
constexpr std::chrono::microseconds shortest_sleep{ 50 };
// The reader polls, unless it is later than this: then its flow graph is slow.
constexpr std::chrono::milliseconds longest_without_reader{ 5 };
// So that the flow graph can stop while packets keep coming.
constexpr std::chrono::milliseconds longest_poll{ 10 };
// The kernel's buffer is to be filled by no more than this part meanwhile. A packet takes
// about twice its size in it.
constexpr double part_of_kernel_buffer = 0.2;

// The reader is woken for so much, or after so long.
constexpr std::int64_t bytes_to_wake = 1 << 20;
constexpr std::chrono::milliseconds longest_unwoken{ 2 };

constexpr std::chrono::microseconds wait_for_room{ 500 };
constexpr std::chrono::milliseconds wait_after_failure{ 10 };
constexpr std::chrono::seconds longest_wait{ 1 };

} // namespace

receiver::receiver(const plan& how,
                   boost::asio::io_context& io,
                   std::vector<input>& inputs,
                   reassembler& to,
                   sample_window& window,
                   std::function<void()> wake,
                   rate_limited_log& log)
    : d_plan(how),
      d_io(io),
      d_work(io.get_executor()),
      d_inputs(inputs),
      d_to(to),
      d_window(window),
      d_wake(std::move(wake)),
      d_log(log),
      d_buffer(receive_socket::buffer_bytes)
{
}

void receiver::start()
{
    stop();
    d_stopping = false;
    d_has_ended = false;
    d_pending = {};
    d_stop_seen.reset();
    d_read_since_stop = 0;
    d_last_poll = clock::now();
    d_next_poll.reset();
    d_next_poll_by_reader = never;
    d_waits.assign(d_inputs.size(), 0);
    d_woken_for = d_window.decided();
    d_last_packet = clock::now();
    d_to.start_run();
    d_io.restart();
    d_thread = start_thread([this] { run(); });
}

void receiver::stop() noexcept
{
    if (!d_thread.joinable())
        return;
    d_stopping = true; // before the lock: it ends the poll of the other thread
    {
        const std::lock_guard<std::mutex> lock(d_mutex);
    }
    d_poll_is_earlier.notify_one();
    d_io.stop();
    d_thread.join();
}

void receiver::run()
{
    const auto warning = prepare_thread("spead-recv", d_plan.cpu);
    if (!warning.empty())
        d_log.add(warning);
    while (!d_stopping)
        try {
            if (!take_turn())
                return;
        } catch (const std::exception& error) {
            // memory may have run out for a moment
            d_log.add("receiving failed: ", error.what(), "; trying again");
            std::this_thread::sleep_for(wait_after_failure);
        }
    const std::lock_guard<std::mutex> lock(d_mutex);
    d_next_poll_by_reader = never;
    d_to.end_run();
}

// Polls, and waits until that is due again. False if the stream has ended.
bool receiver::take_turn()
{
    std::unique_lock<std::mutex> lock(d_mutex);
    const auto now = clock::now();
    // the reader may have polled meanwhile
    if (!d_next_poll || now >= *d_next_poll)
        poll_sockets();
    if (end_is_due(now)) {
        d_next_poll_by_reader = never;
        lock.unlock();
        end();
        return false;
    }
    if (d_is_blocked || !d_next_poll)
        wake_reader(now);
    if (const auto next = d_next_poll)
        d_poll_is_earlier.wait_until(lock, *next);
    else {
        // the reader does not poll now
        lock.unlock();
        wait_for_packets();
    }
    return true;
}

// Takes what is in the sockets, and decides which thread polls next, and when.
void receiver::poll_sockets()
{
    const auto [bytes, is_empty] = read_all();
    const auto now = clock::now();
    publish(now);
    const std::chrono::duration<double> since = now - d_last_poll;
    d_last_poll = now;
    const bool reader_polls = d_next_poll_by_reader.load() != never;
    d_next_poll_by_reader = never;
    d_next_poll.reset(); // when packets come
    if (d_is_blocked) {
        d_last_packet = now; // there may be others in the kernel
        d_next_poll = now + wait_for_room;
        return;
    }
    if (d_has_failed) {
        d_next_poll = now + wait_after_failure;
        return;
    }
    const auto rate = static_cast<double>(bytes) / std::max(since.count(), 1e-6);
    const auto kernel_buffer = d_inputs.front().socket->kernel_buffer_bytes();
    const std::chrono::duration<double> to_fill(
        part_of_kernel_buffer * static_cast<double>(kernel_buffer) / std::max(rate, 1.0));
    if (rate < busy_rate || to_fill < shortest_sleep)
        return;
    const auto at_most = [&](std::chrono::duration<double> longest) {
        return std::chrono::duration_cast<clock::duration>(std::min(to_fill, longest));
    };
    d_next_poll = is_empty ? now + at_most(longest_sleep) : now;
    if (d_plan.cpu < 0) {
        d_next_poll_by_reader = *d_next_poll;
        *d_next_poll += at_most(longest_without_reader);
        if (!reader_polls)
            d_wake();
    }
}

std::optional<receiver::clock::time_point> receiver::next_poll() const
{
    const auto next = d_next_poll_by_reader.load();
    return next == never ? std::nullopt : std::optional(next);
}

void receiver::poll()
{
    const std::lock_guard<std::mutex> lock(d_mutex);
    // the thread may have polled meanwhile
    if (clock::now() < d_next_poll_by_reader.load())
        return;
    poll_sockets();
    if (d_next_poll_by_reader.load() == never)
        d_poll_is_earlier.notify_one();
}

// Until the sockets are empty, or the window is full, or a flood of packets has taken
// long enough. The number of bytes, and whether the sockets are empty.
std::pair<std::size_t, bool> receiver::read_all()
{
    std::size_t bytes = 0;
    bool is_empty = false;
    d_has_failed = false;
    auto now = clock::now();
    const auto latest = now + longest_poll;
    d_window.reuse_memory();
    d_is_blocked = !deliver(now);
    while (!is_empty && !d_is_blocked && !d_stopping && now < latest) {
        is_empty = true;
        for (auto& from : d_inputs) {
            for (int i = 0; i < calls_in_turn && !d_is_blocked; ++i) {
                d_pending = from.socket->receive(d_buffer.data());
                if (d_pending.error) {
                    note_error(*from.socket);
                    break;
                }
                d_pending_group = from.group;
                bytes += d_pending.bytes;
                is_empty = false;
                d_is_blocked = !deliver(now);
            }
        }
        now = clock::now();
        if (!is_empty) {
            d_last_packet = now;
            publish(now);
        }
    }
    if (d_stop_seen)
        d_read_since_stop += bytes;
    return { bytes, is_empty };
}

void receiver::note_error(const receive_socket& socket)
{
    if (d_pending.error == EAGAIN || d_pending.error == EINTR)
        return;
    d_has_failed = true;
    d_log.add("cannot receive on port ",
              socket.port(),
              ": ",
              std::strerror(d_pending.error),
              "; trying again");
}

// False if there is no room for all of the datagrams that were received, and for packets
// that waited.
bool receiver::deliver(clock::time_point now)
{
    while (d_pending.data) {
        const auto n = std::min(d_pending.datagram, d_pending.bytes);
        if (!d_to.take(d_pending.data, n, d_pending_group, now))
            return false;
        d_pending.data += n;
        d_pending.bytes -= n;
        if (!d_pending.bytes)
            d_pending = {};
    }
    return d_to.place_waiting(now);
}

void receiver::publish(clock::time_point now)
{
    d_window.decide_in_time(now);
    if (d_window.decided() - d_woken_for >= bytes_to_wake ||
        now - d_woken_at >= longest_unwoken)
        wake_reader(now);
}

void receiver::wake_reader(clock::time_point now)
{
    d_woken_at = now;
    if (d_woken_for == d_window.decided())
        return;
    d_woken_for = d_window.decided();
    d_wake();
}

void receiver::wait_for_packets()
{
    for (std::size_t i = 0; i < d_inputs.size(); ++i)
        if (!d_waits[i]) {
            d_inputs[i].socket->async_wait([this, i] { d_waits[i] = 0; });
            d_waits[i] = 1;
        }
    clock::duration longest = longest_wait;
    if (d_window.is_waiting())
        longest = std::min<clock::duration>(
            longest,
            std::max<clock::duration>(d_plan.max_delay / 16,
                                      std::chrono::milliseconds(1)));
    const auto now = clock::now();
    if (d_stop_seen)
        longest = std::min(longest, *d_stop_seen + d_plan.max_delay - now);
    if (d_plan.timeout.count())
        longest = std::min(longest, d_last_packet + d_plan.timeout - now);
    d_io.run_one_for(std::max(longest, clock::duration()));
}

bool receiver::end_is_due(clock::time_point now)
{
    if (d_plan.end_on_stop && d_to.has_stopped() && !d_stop_seen)
        d_stop_seen = now;
    // packets may be on their way on other sockets, or by other paths
    if (d_stop_seen && now - *d_stop_seen >= d_plan.max_delay &&
        (!d_is_blocked || has_read_rest()))
        return true;
    return d_plan.timeout.count() && now - d_last_packet >= d_plan.timeout;
}

// What the sockets held when the stream ended, though more packets keep coming.
bool receiver::has_read_rest() const
{
    std::size_t most = 0;
    for (const auto& each : d_inputs)
        most += each.socket->kernel_buffer_bytes();
    return d_read_since_stop >= most;
}

void receiver::end()
{
    while (!d_window.decide_all() && !d_stopping) {
        d_wake();
        std::this_thread::sleep_for(wait_for_room);
    }
    d_to.end_run();
    d_has_ended.store(true, std::memory_order_release);
    d_wake();
}

} // namespace gr::spead
