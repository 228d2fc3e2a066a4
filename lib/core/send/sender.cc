/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sender.h"
#include "support/thread_setup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>
#include <algorithm>
#include <cerrno>
#include <utility>

namespace gr::spead {

namespace {

// Nothing that the thread is told meanwhile is in a hurry.
constexpr std::chrono::milliseconds longest_nap{ 2 };

// To wake a thread up costs more than to send 64 KiB. Where small pieces come at this
// rate, the thread lets them gather, as network cards moderate interrupts: so many bytes,
// or for so long.
constexpr double gather_rate = 128e6; // bytes per second
constexpr std::size_t gather_bytes = 128 << 10;
constexpr std::chrono::microseconds gather_time{ 500 };
// How often it looks whether that is so.
constexpr std::chrono::milliseconds look_time{ 10 };

std::vector<lane> make_lanes(const std::vector<packet_ring*>& rings,
                             sender_counters& counters)
{
    std::vector<lane> lanes;
    for (auto* ring : rings)
        lanes.emplace_back(*ring, counters);
    return lanes;
}

int make_eventfd()
{
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        throw std::system_error(errno, std::generic_category(), "spead.sink: eventfd");
    return fd;
}

} // namespace

sender::sender(boost::asio::io_context& io,
               const std::vector<packet_ring*>& rings,
               transport& out,
               sender_counters& counters,
               const sink_options& options,
               std::function<void()> space,
               log_lines& log)
    : d_io(io),
      d_transport(out),
      d_counters(counters),
      d_cpu(static_cast<int>(options.affinity)),
      d_on_space(std::move(space)),
      d_log(log),
      d_timer_memory(std::make_shared<handler_memory>()),
      d_wakeup_memory(std::make_shared<handler_memory>()),
      d_timer(io),
      d_wakeup(io, make_eventfd()),
      d_rate(options.rate),
      d_gso(options.gso),
      d_pacer(static_cast<std::size_t>(options.burst_size), rings.front()->slot_bytes()),
      d_lanes(make_lanes(rings, counters)),
      d_batch(d_lanes)
{
}

sender::~sender() { finish(clock::now()); }

void sender::start()
{
    d_closing = false;
    d_abort = false;
    for (auto& one : d_lanes)
        one.start_stream();
    d_trouble = {};
    d_refusal_open = false;
    d_io.restart();
    d_running = true;
    try {
        d_thread = std::thread(&sender::run, this);
    } catch (...) {
        d_running = false;
        throw;
    }
}

void sender::finish(clock::time_point deadline)
{
    if (d_thread.joinable()) {
        d_closing = true;
        wake();
        {
            std::unique_lock<std::mutex> lock(d_mutex);
            d_ended.wait_until(lock, deadline, [this] { return !d_running; });
        }
        d_abort = true;
        wake();
        d_thread.join();
    }
    const auto lost_before = d_counters.packets_dropped.get();
    d_batch.drop_all();
    release();
    if (const auto lost = d_counters.packets_dropped.get() - lost_before)
        d_log.warn("stopped before everything was sent: " + std::to_string(lost) +
                   " packets were lost");
    d_log.end();
}

void sender::wake() noexcept
{
    // non-blocking; it can only fail when it is signalled already
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written =
        write(d_wakeup.native_handle(), &one, sizeof one);
}

void sender::set_rate(double bytes_per_second)
{
    d_rate = bytes_per_second;
    wake();
}

void sender::run()
{
    const auto warning = prepare_sender_thread(d_cpu);
    if (!warning.empty())
        d_log.warn(warning);
    d_transport.start_stream();
    apply_rate();
    // memory may have run out for a moment; without this thread the flow graph would hang
    while (!run_to_end())
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::lock_guard<std::mutex> lock(d_mutex);
    d_running = false;
    d_ended.notify_all();
}

bool sender::run_to_end() noexcept
{
    try {
        watch_wakeup();
        pump();
        d_io.run();
        return true;
    } catch (...) {
        // it may have been the attempt to; to wait twice does no harm
        d_watching = d_writable_pending = d_reports_pending = false;
        return false;
    }
}

void sender::watch_wakeup()
{
    // still waiting after a stop and a start
    if (std::exchange(d_watching, true))
        return;
    const auto woken = [this](const boost::system::error_code& error) {
        d_watching = false;
        if (error)
            return;
        take_wakeup();
        watch_wakeup();
        pump();
    };
    d_wakeup.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        handler_in(d_wakeup_memory, woken));
}

void sender::take_wakeup()
{
    std::uint64_t count;
    [[maybe_unused]] const auto got =
        read(d_wakeup.native_handle(), &count, sizeof count);
}

void sender::apply_rate()
{
    d_pacer_rate = d_rate;
    d_pacer.set_rate(d_pacer_rate, clock::now());
    // unpaced it would take the CPU from the packer, and cost 3 to 8 % of the throughput
    ask_for_prompt_scheduling(!d_pacer.unlimited());
}

// Sends until there is nothing to do or something to wait for.
void sender::pump()
{
    while (!d_abort.load(std::memory_order_relaxed)) {
        if (d_pacer_rate != d_rate)
            apply_rate();
        if (d_batch.nothing_left()) {
            if (sleep())
                return;
            continue;
        }
        std::size_t allowance = static_cast<std::size_t>(-1);
        if (!d_pacer.unlimited()) {
            const auto now = clock::now();
            const std::size_t waiting = queued_bytes();
            allowance = d_pacer.allowance(waiting, now);
            if (!allowance) {
                if (nap_until(d_pacer.next(waiting, now), now))
                    continue;
                return;
            }
        }
        d_batch.collect(allowance, gso());
        const std::size_t n = d_batch.size();
        if (!n) {
            d_batch.sent(0); // no packets, only ends of heaps
            release();
            continue;
        }
        const auto result = d_transport.send(d_batch.messages(), n);
        // the error that cut a send short is not always reported by the next one
        if (result.sent < n)
            take_reports();
        if (result.sent)
            messages_sent(result.sent);
        if (result.error && !message_failed(result.error))
            return;
    }
    d_io.stop();
}

// False if there is something to do after all.
bool sender::sleep()
{
    if (small_pieces_come_fast() && !much_held() && gather())
        return false;
    for (auto& one : d_lanes)
        one.ring().sender_sleeps.announce();
    if (!d_batch.nothing_left() || d_closing || d_abort) {
        for (auto& one : d_lanes)
            one.ring().sender_sleeps.withdraw();
        if (d_closing && d_batch.nothing_left())
            d_abort = true; // everything is sent
        return false;
    }
    // the packer may come to wait for it
    if (release_reported())
        wait_reports();
    return true;
}

// Judged by what was published, and how often the thread slept, since the last look.
bool sender::small_pieces_come_fast()
{
    const auto now = clock::now();
    ++d_look.sleeps;
    if (const std::chrono::duration<double> time = now - d_look.time; time >= look_time) {
        const auto end = published_bytes();
        const auto bytes = static_cast<double>(end - d_look.bytes);
        d_gathers = bytes >= gather_rate * time.count() &&
                    bytes < 2.0 * gather_bytes * static_cast<double>(d_look.sleeps);
        d_look = { now, end, 0 };
    }
    return d_gathers;
}

// Waits until packets have gathered. False if none have come.
bool sender::gather()
{
    for (const auto& one : d_lanes) {
        auto& ring = one.ring();
        const auto slots = std::min(gather_bytes / ring.slot_bytes(), ring.limit() / 8);
        ring.sender_sleeps.announce(one.tail().count + slots);
    }
    pollfd news{ d_wakeup.native_handle(), POLLIN, 0 };
    const timespec time{ 0, std::chrono::nanoseconds(gather_time).count() };
    if (ppoll(&news, 1, &time, nullptr) > 0)
        take_wakeup();
    for (const auto& one : d_lanes)
        one.ring().sender_sleeps.withdraw();
    return !d_batch.nothing_left();
}

// Gives back what the kernel has read meanwhile. True if there is more to come.
bool sender::release_reported()
{
    if (!anything_held())
        return false;
    take_reports();
    release();
    return anything_held();
}

// A short wait is slept through: that takes half the time of a timer that can be
// interrupted. False if it is not short.
bool sender::nap_until(clock::time_point time, clock::time_point now)
{
    // the packer may be waiting for it
    if (much_held())
        release_reported();
    if (time - now > longest_nap) {
        wait_until(time);
        return false;
    }
    std::this_thread::sleep_until(time);
    return true;
}

void sender::wait_until(clock::time_point time)
{
    d_timer.expires_at(time);
    const auto expired = [this](const boost::system::error_code& error) {
        if (!error)
            pump();
    };
    d_timer.async_wait(handler_in(d_timer_memory, expired));
}

void sender::wait_writable()
{
    if (std::exchange(d_writable_pending, true))
        return;
    d_transport.async_wait_writable([this] {
        d_writable_pending = false;
        pump();
    });
}

void sender::wait_reports()
{
    if (std::exchange(d_reports_pending, true))
        return;
    d_transport.async_wait_reports([this] {
        d_reports_pending = false;
        pump();
    });
}

} // namespace gr::spead
