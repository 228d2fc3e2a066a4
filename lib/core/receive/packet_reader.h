/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_READER_H
#define INCLUDED_SPEAD_CORE_PACKET_READER_H

#include "heap_router.h"
#include "network/datagram_source.h"
#include "support/rate_limited_log.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace gr::spead {

/*!
 * \brief Reads datagrams and passes their packets to the router: socket_reader reads
 * sockets, capture_replay reads captures.
 */
class packet_reader
{
public:
    using clock = std::chrono::steady_clock;
    using source_list = std::vector<std::unique_ptr<datagram_source>>;

    virtual ~packet_reader() = default;

    //! Starts a run. The sources must remain valid until the last call of poll().
    //! \p is_repeated: captures are read again, without a pause.
    virtual void start(const source_list& sources, bool is_repeated);
    //! Waits for packets, for 10 ms at most, then reads them.
    virtual void poll() = 0;
    //! The time in which the delays of a run are measured.
    virtual clock::time_point now() const = 0;
    //! Whether packets wait for room in the window.
    bool waits_for_room() const { return d_waits_for_room; }
    //! Whether the run has ended: nothing follows the samples in the window.
    bool has_ended() const { return d_end_reason; }
    //! Why the run has ended, for the log.
    const char* end_reason() const { return d_end_reason; }

protected:
    packet_reader(heap_router& router, output_window& window, rate_limited_log& log);

    //! Reads datagrams of a source, for route_pending().
    const received_datagrams& receive(std::size_t source);
    //! Passes the datagrams of the last receive() to the router. Sets waits_for_room() if
    //! there is no room for all.
    void route_pending(clock::time_point now);
    //! Ends the run: gives up on all missing samples.
    void end_run(const char* reason);

    const source_list& sources() const { return *d_sources; }

    heap_router& d_router;
    output_window& d_window;
    rate_limited_log& d_log;

private:
    bool is_pending_routed(clock::time_point now);

    const source_list* d_sources = nullptr;
    std::size_t d_source = 0; // index of the source of d_pending
    std::vector<std::byte> d_buffer;
    received_datagrams d_pending; // in d_buffer, not delivered yet
    bool d_waits_for_room = false;
    const char* d_end_reason = nullptr;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_READER_H */
