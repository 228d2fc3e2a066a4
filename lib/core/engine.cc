/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "engine.h"
#include "parameter_error.h"

#include <unistd.h>

#include <algorithm>

namespace gr {
namespace spead {

namespace {

// Measured: a quarter of it costs a tenth of the speed, an eighth a third.
constexpr std::size_t default_buffer_bytes = 8 << 20;

// At a pace half of it will do, and stays in the cache.
constexpr std::size_t default_paced_bytes = 4 << 20;

// Seconds that a packer may take to wake up, on a busy machine.
constexpr double time_to_wake = 1e-3;

// A ring is touched when it is made: more could cost the process its life.
std::size_t half_of_memory()
{
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 2 *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::string range(std::uint64_t from, std::uint64_t to)
{
    return std::to_string(from) + " to " + std::to_string(to);
}

} // namespace

engine::engine(const engine_options& options,
               std::function<void()> space,
               trouble_log::output log)
    : d_stop_timeout(options.stop_timeout),
      d_burst_bytes(static_cast<double>(options.sending.burst_bytes)),
      d_limits_queue(options.when_full == full_policy::block),
      d_paced_bytes(static_cast<double>(options.buffer_bytes ? options.buffer_bytes
                                                             : default_paced_bytes)),
      d_on_space(std::move(space)),
      d_io(1),
      d_transport(d_io, options.destinations.at(0), options.socket)
{
    auto plan = make_plan(options);
    d_ring = std::make_unique<packet_ring>(ring_slots(options, plan),
                                           plan.regular.packet_bytes());
    d_packer = std::make_unique<heap_packer>(
        std::move(plan), *d_ring, d_packed, [this] { d_sender->wake(); });
    d_sender = std::make_unique<sender>(
        d_io,
        *d_ring,
        d_transport,
        d_sent,
        options.sending,
        [this] {
            {
                const std::lock_guard<std::mutex> lock(d_mutex);
            }
            d_space.notify_all();
            d_on_space();
        },
        log);
    limit_queue();
    warn_of_slow_tails(options, log);
    for (const auto& warning : d_transport.warnings())
        log(warning);
}

engine::~engine() { stop(); }

std::size_t engine::packet_limit(const engine_options& options) const
{
    const std::size_t possible = d_transport.max_packet_bytes();
    const auto data = data_contents(options.items,
                                    options.flavour,
                                    options.descriptors == descriptor_policy::first_heap);
    const auto stop = stop_contents(options.flavour);
    const std::size_t smallest =
        std::max(data.header_bytes() + 8,
                 options.send_stop ? stop.header_bytes() + stop.prefix.size() : 0);
    std::size_t asked = options.max_packet_bytes;
    // what Ethernet takes over IPv4 is a little more than what it takes over IPv6
    if (asked == engine_options().max_packet_bytes)
        asked = std::min(asked, possible);
    if (asked > possible || (asked && asked < smallest) || possible < smallest)
        throw parameter_error(
            "max_packet_size",
            std::to_string(asked),
            range(smallest, possible) +
                " (from the size of the items to the MTU of this path), "
                "or 0 for the most that the path takes");
    return asked ? asked : possible;
}

stream_plan engine::make_plan(const engine_options& options) const
{
    const std::size_t limit = packet_limit(options);
    const bool pad = options.pad_packets;
    auto regular = heap_layout::even(data_contents(options.items, options.flavour, false),
                                     options.heap_samples,
                                     limit,
                                     pad);

    std::optional<heap_layout> first;
    if (options.descriptors == descriptor_policy::first_heap) {
        auto contents = data_contents(options.items, options.flavour, true);
        // packets of the same size as all others fit the ring best
        const std::size_t packet = regular.packet_bytes();
        const std::size_t header = contents.header_bytes();
        if (regular.packets() > 1 && packet >= header + 16)
            first.emplace(std::move(contents),
                          options.heap_samples,
                          (packet - header) / 8 * 8,
                          pad);
        else
            first =
                heap_layout::even(std::move(contents), options.heap_samples, limit, pad);
    }
    std::optional<heap_layout> stop;
    if (options.send_stop)
        stop = heap_layout::even(stop_contents(options.flavour), 0, limit, pad);

    return { std::move(regular),     std::move(first),     std::move(stop),
             options.heap_id_start,  options.heap_id_step, options.timestamp_start,
             options.timestamp_step, options.when_full,    options.tail };
}

std::size_t engine::ring_slots(const engine_options& options,
                               const stream_plan& plan) const
{
    const std::size_t packet = plan.regular.packet_bytes();
    const std::size_t fewest = heap_packer::min_slots(plan);
    const std::size_t most = half_of_memory() / packet;
    if (fewest > most)
        throw parameter_error("heap_samples",
                              std::to_string(options.heap_samples),
                              "with when_full=\"drop\" what fits twice into half of "
                              "the memory, " +
                                  std::to_string(half_of_memory()) + " bytes");
    std::size_t slots = std::max(default_buffer_bytes / packet, fewest);
    if (options.buffer_bytes) {
        slots = options.buffer_bytes / packet;
        if (slots < fewest || slots > most)
            throw parameter_error("buffer_size",
                                  std::to_string(options.buffer_bytes),
                                  range(fewest * packet, most * packet) + ", or 0");
    }
    // a header stays in its slot if each heap begins at the same slots again
    const std::uint64_t rest = slots % plan.regular.packets();
    if (slots - rest >= std::max<std::uint64_t>(fewest, slots - slots / 4))
        slots -= rest;
    if (!heap_packer::can_end_anywhere(plan, slots))
        throw parameter_error(
            "max_packet_size",
            std::to_string(options.max_packet_bytes),
            "8 bytes more, for the end of the samples in a heap that is "
            "larger than an eighth of buffer_size (or tail=\"pad\")");
    return slots;
}

// A paced queue must not be longer than what stop() has time to send.
void engine::limit_queue()
{
    const double rate = d_sender->rate();
    if (!d_limits_queue || rate == 0)
        return d_ring->set_limit(d_ring->slots());
    const auto slots = [this](double bytes) {
        const double wanted = bytes / static_cast<double>(d_ring->slot_bytes());
        const auto most = static_cast<double>(d_ring->slots());
        return static_cast<std::size_t>(std::min(wanted, most));
    };
    // what may leave at a time twice at least, or the pace would suffer
    const double bytes =
        std::max(std::min(d_paced_bytes, rate * d_stop_timeout / 2),
                 2 * pacer::bucket(
                         d_burst_bytes, static_cast<double>(d_ring->slot_bytes()), rate));
    const std::size_t limit = std::max(slots(bytes), d_packer->min_slots_in_use());
    // the packer has time as long as there is something to send: waking up costs more
    // than packing
    const std::size_t refill = slots(rate * time_to_wake);
    d_ring->set_limit(limit, std::clamp(refill, limit / 4, limit - limit / 4));
}

void engine::warn_of_slow_tails(const engine_options& options,
                                const trouble_log::output& log) const
{
    const double seconds =
        options.sending.rate > 0
            ? static_cast<double>(options.heap_samples) / options.sending.rate
            : 0;
    if (options.tail != tail_policy::drop && seconds > options.stop_timeout)
        log("an unfinished heap at the end of the stream may take " +
            std::to_string(seconds) + " s at this rate, and is dropped after a " +
            "stop_timeout of " + std::to_string(options.stop_timeout) + " s");
}

void engine::start()
{
    stop(); // if it was not stopped
    d_packer->start_stream();
    d_sender->start();
    d_started = true;
}

std::size_t engine::write(const std::int8_t* samples, std::size_t n)
{
    return d_packer->write(samples, n);
}

bool engine::space_since(std::uint64_t mark) const
{
    return d_ring->released() != mark && d_ring->has_space();
}

bool engine::wait_for_space(std::uint64_t mark, sender::clock::time_point deadline)
{
    std::unique_lock<std::mutex> lock(d_mutex);
    while (!space_since(mark)) {
        announce_wait();
        if (space_since(mark))
            break;
        if (d_space.wait_until(lock, deadline) == std::cv_status::timeout)
            break;
    }
    d_ring->packer_waits.withdraw();
    return space_since(mark);
}

bool engine::end_stream(sender::clock::time_point deadline)
{
    for (;;) {
        const auto mark = progress();
        if (d_packer->end_stream())
            return true;
        if (!wait_for_space(mark, deadline))
            return false;
    }
}

void engine::stop() noexcept
{
    if (!d_started)
        return;
    d_started = false;
    const auto half = std::chrono::duration_cast<sender::clock::duration>(
        std::chrono::duration<double>(d_stop_timeout / 2));
    const auto half_time = sender::clock::now() + half;
    const auto deadline = half_time + half;
    try {
        // a large heap may take too long to fill: the other half is for what is queued,
        // and for the end of the stream
        if (!end_stream(half_time))
            d_packer->give_up_tail();
        if (!end_stream(deadline))
            d_packer->abandon();
    } catch (...) {
        d_packer->abandon(); // no memory for the tail
    }
    d_sender->finish(deadline);
}

void engine::set_rate(double bytes_per_second)
{
    d_sender->set_rate(bytes_per_second);
    limit_queue();
}

} // namespace spead
} // namespace gr
