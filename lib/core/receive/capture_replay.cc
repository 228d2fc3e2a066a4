/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "capture_replay.h"
#include "network/capture_file.h"

#include <algorithm>
#include <thread>

namespace gr::spead {

namespace {

// Packets within this time are read before samples are produced, as from a socket.
constexpr std::chrono::milliseconds max_read{ 1 };
// Limit for one wait, so that the flow graph can stop and a block downstream can end it.
constexpr std::chrono::milliseconds max_wait{ 10 };
// In real time, longer pauses are logged.
constexpr std::chrono::seconds long_pause{ 2 };
// Where each run begins: the time of endless replays would overflow. 0 would be no time.
constexpr packet_reader::clock::time_point begin{ std::chrono::hours(24) };

} // namespace

capture_replay::capture_replay(bool is_realtime,
                               heap_router& router,
                               output_window& window,
                               rate_limited_log& log)
    : packet_reader(router, window, log), d_is_realtime(is_realtime), d_now(begin)
{
}

// When captures are read again at the speed of the recording, their first packet follows
// the last one after the mean interval of the packets.
void capture_replay::start(const source_list& captures, bool is_repeated)
{
    packet_reader::start(captures, is_repeated);
    d_router.forget_runs();
    const auto duration = d_now - begin;
    if (!is_repeated)
        d_replay_delay.reset();
    else if (d_replay_delay)
        *d_replay_delay += duration + duration / std::max<std::int64_t>(d_packets - 1, 1);
    d_now = begin;
    d_packets = 0;
    d_time_offset.reset();
    d_is_repeated = is_repeated;
}

void capture_replay::poll()
{
    if (has_ended())
        return;
    route_pending(d_now);
    const auto read_start = d_now;
    for (bool has_read = false; !waits_for_room(); has_read = true) {
        const auto next = find_next();
        if (awaits_any_pipe()) { // the next packet may come from an empty pipe
            if (!has_read)
                wait_for_captures(sources(), max_wait);
            return;
        }
        if (!next) {
            end_run("all packets of the capture have been read");
            return;
        }
        if (d_is_realtime && is_early(*next))
            return;
        d_now = std::max(d_now, next->time);
        if (d_now - read_start > max_read)
            return; // first, samples of the past are produced
        receive(next->capture);
        ++d_packets;
        route_pending(d_now);
    }
}

// Logs what the captures report, once.
std::optional<capture_replay::next_packet> capture_replay::find_next()
{
    std::optional<std::size_t> next;
    std::chrono::nanoseconds next_time{};
    for (std::size_t i = 0; i < sources().size(); ++i) {
        if (const auto time = sources()[i]->next_capture_time();
            time && (!next || *time < next_time)) {
            next = i;
            next_time = *time;
        }
        if (const auto line = sources()[i]->take_warning();
            !line.empty() && !d_is_repeated)
            d_log.add(line);
    }
    if (!next)
        return std::nullopt;
    if (!d_time_offset)
        d_time_offset = d_now.time_since_epoch() - next_time;
    return next_packet{ *next, clock::time_point(next_time + *d_time_offset) };
}

bool capture_replay::awaits_any_pipe() const
{
    return std::any_of(sources().begin(), sources().end(), [](const auto& capture) {
        return capture->awaits_pipe();
    });
}

// Whether a packet is not due yet. Then waits for it, but no longer than max_wait; the
// caller produces what has arrived meanwhile.
bool capture_replay::is_early(const next_packet& next)
{
    const auto now = clock::now();
    if (!d_replay_delay)
        d_replay_delay = now - next.time;
    const auto due = next.time + *d_replay_delay;
    if (due <= now) {
        d_has_logged_pause = false;
        return false;
    }
    if (due - now > long_pause && !std::exchange(d_has_logged_pause, true))
        d_log.add(sources()[next.capture]->name(),
                  ": no packets for ",
                  std::chrono::duration_cast<std::chrono::seconds>(due - now).count(),
                  " s, at the speed of the recording");
    std::this_thread::sleep_until(std::min<clock::time_point>(due, now + max_wait));
    d_now = std::max(d_now, std::min(clock::now(), due) - *d_replay_delay);
    return true;
}

} // namespace gr::spead
