/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packet_reader.h"

#include <algorithm>

namespace gr::spead {

packet_reader::packet_reader(reassembler& to,
                             output_window& window,
                             rate_limited_log& log)
    : d_reassembler(to),
      d_window(window),
      d_log(log),
      d_buffer(datagram_source::batch_buffer_bytes)
{
}

void packet_reader::start(const sources& from)
{
    d_sources = &from;
    d_pending = {};
    d_is_blocked = false;
    d_end_reason = nullptr;
    d_reassembler.start_run();
}

const received_datagrams& packet_reader::receive(std::size_t source)
{
    d_source = source;
    d_pending = from()[source]->receive(d_buffer.data());
    return d_pending;
}

void packet_reader::deliver(clock::time_point now) { d_is_blocked = !place_all(now); }

bool packet_reader::place_all(clock::time_point now)
{
    if (d_pending.fault != packet_error::none) {
        d_reassembler.reject(d_pending.fault);
        d_pending = {};
    }
    while (d_pending.data) {
        if (d_reassembler.has_deferred_work() && !d_reassembler.resume(now))
            return false;
        const auto n = std::min(d_pending.datagram_bytes, d_pending.bytes);
        if (!d_reassembler.place_packet({ d_pending.data, n, d_source, d_pending.sender },
                                        now))
            return false;
        d_pending.bytes -= n;
        d_pending.data = d_pending.bytes ? d_pending.data + n : nullptr;
    }
    return d_reassembler.resume(now);
}

void packet_reader::end(const char* reason)
{
    d_end_reason = reason;
    d_window.give_up(d_reassembler.end());
}

} // namespace gr::spead
