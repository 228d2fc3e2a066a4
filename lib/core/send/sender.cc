/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "sender.h"
#include "support/thread_setup.h"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gr::spead {

namespace {

// Wake-ups may be delayed by this much.
constexpr std::chrono::milliseconds max_brief_sleep{ 2 };
// Yield to other handlers of the io_context (the stats timer) after this long.
constexpr std::chrono::milliseconds max_uninterrupted_time{ 10 };

std::vector<ring_reader> make_readers(const std::vector<packet_ring*>& rings,
                                      sender_counters& counters)
{
    std::vector<ring_reader> readers;
    readers.reserve(rings.size());
    for (auto* ring : rings)
        readers.emplace_back(*ring, counters);
    return readers;
}

// Disable GSO after this many consecutive segmented sends fail where single packets do
// not.
constexpr unsigned max_gso_refusals = 3;

} // namespace

sender::sender(boost::asio::io_context& io,
               const std::vector<packet_ring*>& rings,
               transport& output,
               sender_counters& counters,
               const sender_config& config,
               std::function<void()> on_space,
               rate_limited_log& log)
    : d_io(io),
      d_transport(output),
      d_counters(counters),
      d_on_space(std::move(on_space)),
      d_log(log),
      d_outages(log),
      d_cpu(config.cpu),
      d_timer(io),
      d_wakeup(io),
      d_rate(config.rate),
      d_pacer(config.burst_bytes, rings.front()->slot_bytes()),
      d_readers(make_readers(rings, counters)),
      d_batch(d_readers)
{
    d_gso = output.sends_segmented();
    output.set_rate(config.rate);
}

sender::~sender() { finish(clock::now()); }

void sender::start()
{
    reset_run();
    d_end = {};
    d_thread = start_thread([this] { run(); });
}

void sender::finish(clock::time_point deadline)
{
    if (d_thread.joinable()) {
        close();
        d_end.get_future().wait_until(deadline);
        abort();
        d_thread.join();
    }
    drop_rest();
}

void sender::run()
{
    const auto warning = prepare_thread("spead-send", d_cpu);
    if (!warning.empty())
        d_log.add(warning);
    start_sending();
    d_io.run();
    d_end.set_value();
}

void sender::reset_run()
{
    process_reports(); // those that the previous run did not wait for
    release();
    d_closing = false;
    d_is_finished = false;
    d_expects_refusal = false;
    d_ignores_refusal = false;
    for (auto& reader : d_readers)
        reader.start_run();
    d_failures = {};
    d_gso_suspected = false;
    d_io.restart();
}

void sender::start_sending()
{
    apply_rate();
    d_wakeup.watch([this] { send_queued(); });
    send_queued();
}

void sender::drop_rest()
{
    const auto lost_before = d_counters.packets_dropped.get();
    process_reports();
    d_batch.drop_all();
    release();
    if (const auto lost = d_counters.packets_dropped.get() - lost_before)
        d_log.add("not everything could be sent before the end: ",
                  lost,
                  " packets were dropped");
    d_outages.end(clock::now());
}

void sender::close()
{
    d_closing = true;
    wake();
}

void sender::abort()
{
    d_is_finished = true;
    wake();
}

void sender::wake() { d_wakeup.notify(); }

void sender::set_rate(double bytes_per_second)
{
    d_rate = bytes_per_second;
    d_transport.set_rate(bytes_per_second);
    wake();
}

void sender::apply_rate()
{
    d_pacer_rate = pacing_rate();
    d_pacer.set_rate(d_pacer_rate, clock::now());
    // without pacing, the thread would preempt the packer: 3 to 8 % less throughput
    set_short_time_slices(!d_pacer.unlimited());
}

// Sends until the rings are empty or the thread must wait.
void sender::send_queued()
{
    const auto yield_time = clock::now() + max_uninterrupted_time;
    while (!d_is_finished.load(std::memory_order_relaxed)) {
        const auto begin = clock::now();
        if (begin >= yield_time) {
            yield();
            return;
        }
        if (d_pacer_rate != pacing_rate())
            apply_rate();
        if (d_batch.is_empty()) {
            if (prepare_sleep())
                return;
            continue;
        }
        std::size_t allowance = static_cast<std::size_t>(-1);
        if (!d_pacer.unlimited()) {
            const auto now = clock::now();
            const std::size_t waiting = queued_bytes();
            allowance = d_pacer.allowance(waiting, now);
            if (!allowance) {
                if (sleep_briefly_until(d_pacer.next_send_time(waiting, now), now))
                    continue;
                return;
            }
        }
        d_batch.collect(allowance, gso());
        const std::size_t n = d_batch.size();
        if (!n) {
            d_batch.sent(0); // no packets, only markers
            release();
            continue;
        }
        if (d_expects_refusal && !d_ignores_refusal) {
            process_reports(); // on earlier packets
            d_ignores_refusal = true;
        }
        const auto result = d_transport.send(d_batch.messages(), n);
        // the next send does not always report the error that cut this one short
        if (result.sent < n)
            process_reports();
        if (result.sent)
            record_sent(result.sent, begin);
        if (result.error && !handle_error(result.error))
            return;
    }
    d_io.stop();
}

void sender::yield()
{
    if (std::exchange(d_yield_pending, true))
        return;
    boost::asio::post(d_io, [this] {
        d_yield_pending = false;
        send_queued();
    });
}

// Prepares to wait for a wake-up. Returns false if there is still work to do.
bool sender::prepare_sleep()
{
    if (d_coalescing.is_worthwhile(published_bytes(), clock::now()) &&
        !much_in_flight() && wait_for_more_packets())
        return false;
    for (auto& reader : d_readers)
        reader.ring().sender_sleeps.announce();
    if (!d_batch.is_empty() || d_closing || d_is_finished) {
        for (auto& reader : d_readers)
            reader.ring().sender_sleeps.withdraw();
        if (d_closing && d_batch.is_empty())
            d_is_finished = true; // everything is sent
        return false;
    }
    // the packer may wait for the slots in flight
    if (release_reported())
        async_wait_reports();
    return true;
}

// Waits until packets have been coalesced. Returns false if none have arrived.
bool sender::wait_for_more_packets()
{
    for (const auto& reader : d_readers) {
        auto& ring = reader.ring();
        const auto slots =
            std::min(coalescing::max_bytes / ring.slot_bytes(), ring.limit() / 8);
        ring.sender_sleeps.announce(reader.position().count + slots);
    }
    d_wakeup.wait(coalescing::max_time);
    for (const auto& reader : d_readers)
        reader.ring().sender_sleeps.withdraw();
    return !d_batch.is_empty();
}

// Releases the slots that the kernel has read. Returns true if others are in flight.
bool sender::release_reported()
{
    if (!anything_in_flight())
        return false;
    process_reports();
    release();
    return anything_in_flight();
}

// Sleeps through a short wait, at half the cost of an interruptible timer. For a longer
// wait, starts the timer and returns false.
bool sender::sleep_briefly_until(clock::time_point time, clock::time_point now)
{
    // the packer may be waiting for these slots
    if (much_in_flight())
        release_reported();
    if (time - now > max_brief_sleep) {
        async_wait_until(time);
        return false;
    }
    std::this_thread::sleep_until(time);
    return true;
}

void sender::async_wait_until(clock::time_point time)
{
    d_timer.expires_at(time);
    const auto on_expiry = [this](const boost::system::error_code& error) {
        if (!error)
            send_queued();
    };
    d_timer.async_wait(on_expiry);
}

void sender::async_wait_writable()
{
    if (d_writable_pending)
        return;
    d_transport.async_wait_writable([this] {
        d_writable_pending = false;
        send_queued();
    });
    d_writable_pending = true;
}

void sender::async_wait_reports()
{
    if (d_reports_pending)
        return;
    d_transport.async_wait_reports([this] {
        d_reports_pending = false;
        send_queued();
    });
    d_reports_pending = true;
}

// Outcomes of messages: sent, retried or dropped.

std::size_t sender::queued_bytes() const
{
    std::size_t bytes = 0;
    for (const auto& reader : d_readers)
        bytes += reader.queued_bytes();
    return bytes;
}

std::uint64_t sender::published_bytes() const
{
    std::uint64_t bytes = 0;
    for (const auto& reader : d_readers)
        bytes += reader.ring().published() * reader.ring().slot_bytes();
    return bytes;
}

bool sender::anything_in_flight() const
{
    for (std::size_t i = 0; i < d_readers.size(); ++i)
        if (d_transport.oldest_in_flight(i) != transport::no_position)
            return true;
    return false;
}

// Whether so many slots are in flight that a packer may be waiting for them.
bool sender::much_in_flight() const
{
    for (std::size_t i = 0; i < d_readers.size(); ++i) {
        const auto oldest = d_transport.oldest_in_flight(i);
        if (oldest != transport::no_position &&
            d_readers[i].position().count - oldest > d_readers[i].ring().limit() / 8)
            return true;
    }
    return false;
}

// Releases the slots that neither the sender nor the kernel reads any more.
void sender::release()
{
    bool has_waiting_packer = false;
    for (std::size_t i = 0; i < d_readers.size(); ++i)
        has_waiting_packer =
            d_readers[i].release(d_transport.oldest_in_flight(i)) || has_waiting_packer;
    if (has_waiting_packer)
        d_on_space();
}

void sender::record_sent(std::size_t n, clock::time_point send_begin)
{
    if (!d_pacer.unlimited())
        d_pacer.sent(d_batch.bytes_of(n), clock::now());
    if (d_batch.messages()->segmented())
        d_gso_refusals = 0;
    else if (d_gso_suspected)
        count_gso_refusal();
    d_batch.sent(n);
    release();
    d_failures = {};
    d_outages.succeeded(send_begin);
}

void sender::process_reports()
{
    const auto errors = d_transport.take_reports();
    d_counters.icmp_errors.add(errors.count);
    if (errors.causes.none())
        return;
    for (std::size_t cause = 0; cause < errors.causes.size(); ++cause)
        if (errors.causes[cause])
            log_failure(static_cast<int>(cause), 0);
}

// Handles an error of the first message. Returns false if the thread must wait.
//
// The message stays in its ring until it is sent or dropped, and the next collect()
// builds it again. So nothing needs to be kept for a retry, and messages to a destination
// stay in order.
bool sender::handle_error(int error)
{
    using action = retry_decision::action;
    if (error != EINTR && error != transport::error_retry_later)
        d_counters.errors.add(error);
    const auto now = clock::now();
    const auto decision =
        decide_retry(error, d_batch.messages()->segmented(), d_failures, now);
    d_failures = decision.failures;
    if (decision.is_failure)
        log_failure(error, 0);
    switch (decision.next_action) {
    case action::retry:
        return true;
    case action::wait:
        async_wait_until(now + decision.delay);
        return false;
    case action::await_writable:
        async_wait_writable();
        return false;
    case action::split: // to learn whether the segmentation was refused
        d_batch.split();
        d_gso_suspected = true;
        return true;
    case action::drop:
        break;
    }
    drop_message(error);
    return true;
}

void sender::drop_message(int error)
{
    // lost bytes count against the rate: an outage must not drain a paced ring at once
    d_pacer.sent(d_batch.bytes_of(1), clock::now());
    const auto packets = d_batch.drop_first();
    release();
    d_gso_suspected = false;
    log_failure(error, packets);
}

void sender::log_failure(int error, std::uint64_t packets)
{
    if (packets || error != ECONNREFUSED || !d_ignores_refusal)
        d_outages.failed(error, packets, clock::now());
}

// Counts a segmented send that failed where single packets were sent.
void sender::count_gso_refusal()
{
    d_gso_suspected = false;
    d_counters.gso_refused.add(1);
    if (++d_gso_refusals < max_gso_refusals)
        return;
    d_gso = false;
    d_log.add("the kernel refuses segmented sends (gso): packets are sent one by one");
}

} // namespace gr::spead
