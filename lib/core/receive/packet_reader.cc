/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packet_reader.h"

#include <algorithm>

namespace gr::spead {

packet_reader::packet_reader(heap_router& router,
                             output_window& window,
                             rate_limited_log& log)
    : d_router(router),
      d_window(window),
      d_log(log),
      d_buffer(datagram_source::batch_buffer_bytes)
{
}

void packet_reader::start(const source_list& sources, bool /* is_repeated */)
{
    d_sources = &sources;
    d_pending = {};
    d_waits_for_room = false;
    d_end_reason = nullptr;
    d_router.start_run();
}

const received_datagrams& packet_reader::receive(std::size_t source)
{
    d_source = source;
    d_pending = sources()[source]->receive(d_buffer.data());
    return d_pending;
}

void packet_reader::route_pending(clock::time_point now)
{
    d_waits_for_room = !is_pending_routed(now);
}

bool packet_reader::is_pending_routed(clock::time_point now)
{
    if (d_pending.fault != packet_error::none) {
        d_router.reject(d_pending.fault);
        d_pending = {};
    }
    if (!d_router.resume(now))
        return false;
    while (d_pending.data && !d_router.waits_for_room()) {
        const auto n = std::min(d_pending.datagram_bytes, d_pending.bytes);
        d_router.add_datagram({ d_pending.data, n, d_source, d_pending.sender }, now);
        d_pending.bytes -= n;
        d_pending.data = d_pending.bytes ? d_pending.data + n : nullptr;
    }
    return !d_router.waits_for_room();
}

void packet_reader::end_run(const char* reason)
{
    d_end_reason = reason;
    d_window.flush(d_router.stream_end());
}

} // namespace gr::spead
