/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_receiver.h"
#include "receive/no_output_reason.h"

#include <utility>

namespace gr::spead {

namespace {

// How often incomplete heaps are looked at.
constexpr std::chrono::milliseconds check_interval{ 100 };

} // namespace

heap_receiver::heap_receiver(const std::string& endpoints,
                             const std::string& interface,
                             rate_limited_log::output log)
    : d_reader(endpoints, interface), d_log(std::move(log))
{
}

std::vector<received_heap> heap_receiver::receive(std::chrono::milliseconds timeout)
{
    std::vector<received_heap> heaps;
    // without packets, the clock of sockets goes on, that of captures does not
    auto now = d_reader.is_capture() ? std::chrono::nanoseconds{}
                                     : clock::now().time_since_epoch();
    d_reader.read(timeout, [&](const auto& datagram) {
        now = datagram.time;
        if (datagram.fault != packet_error::none) {
            d_collector.reject(datagram.fault);
            return log_rejection(datagram.fault, datagram);
        }
        auto result = d_collector.add(datagram.data,
                                      datagram.bytes,
                                      { datagram.sender, datagram.endpoint },
                                      datagram.time);
        if (result.error != packet_error::none)
            log_rejection(result.error, datagram);
        if (result.heap)
            heaps.push_back(std::move(*result.heap));
    });
    if (now >= d_next_check) {
        d_next_check = now + check_interval;
        d_collector.expire(now);
    }
    for (const auto& line : d_reader.take_warnings())
        d_log.add(line);
    log_losses(clock::now());
    d_log.write();
    return heaps;
}

void heap_receiver::end_run()
{
    d_collector.clear();
    d_next_loss_line = {};
    log_losses(clock::now());
    d_log.flush();
}

void heap_receiver::log_rejection(packet_error error,
                                  const endpoint_reader::datagram& datagram)
{
    if (error == packet_error::heap_size)
        return d_log.add("heaps of more than ", max_heap_bytes, " bytes are rejected");
    if (error == packet_error::contradiction)
        return d_log.add(
            "packets are rejected: heap lengths contradict each other; check "
            "the sender");
    packet_view packet;
    if (error == packet_error::missing_item &&
        parse_packet(datagram.data, datagram.bytes, packet) == packet_error::none)
        return d_log.add(
            "packets are rejected: without a heap length (item 0x2), nothing "
            "tells whether a heap is complete");
    no_output_reason reason;
    reason.note_rejected(error, datagram.data, datagram.bytes);
    d_log.add(reason.text());
}

// Adds one line for all losses since the last one.
void heap_receiver::log_losses(clock::time_point now)
{
    if (now < d_next_loss_line)
        return;
    const auto incomplete = d_collector.counts().heaps_incomplete;
    const auto dropped = d_reader.dropped();
    const auto new_incomplete =
        incomplete - std::exchange(d_logged_incomplete, incomplete);
    const auto new_dropped = dropped - std::exchange(d_logged_dropped, dropped);
    if (!new_incomplete && !new_dropped)
        return;
    d_next_loss_line = now + std::chrono::seconds(1);
    d_log.add(new_incomplete,
              " heaps were incomplete, ",
              new_dropped,
              " datagrams were dropped by the socket, whose buffer was full");
}

} // namespace gr::spead
