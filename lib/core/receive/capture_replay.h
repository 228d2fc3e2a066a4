/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_CAPTURE_REPLAY_H
#define INCLUDED_SPEAD_CORE_CAPTURE_REPLAY_H

#include "packet_reader.h"

#include <optional>

namespace gr::spead {

/*!
 * \brief Reads captures in the order of time until their end.
 *
 * Its time is that of the packets. It reads as socket_reader does: time passes in the
 * window before the packet after a pause is judged.
 */
class capture_replay : public packet_reader
{
public:
    //! \p is_realtime: at the speed of the recording.
    capture_replay(bool is_realtime,
                   heap_router& router,
                   output_window& window,
                   rate_limited_log& log);

    void start(const source_list& captures, bool is_repeated) override;
    void poll() override;
    clock::time_point now() const override { return d_now; }

private:
    struct next_packet {
        std::size_t capture;
        clock::time_point time;
    };
    std::optional<next_packet> find_next();
    bool awaits_any_pipe() const;
    bool is_early(const next_packet& next);

    const bool d_is_realtime;
    clock::time_point d_now;
    std::optional<clock::duration>
        d_time_offset;          // of d_now from the time of the captures
    std::int64_t d_packets = 0; // of this run
    bool d_is_repeated = false;
    std::optional<clock::duration> d_replay_delay; // of real time after that of a capture
    bool d_has_logged_pause = false;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_CAPTURE_REPLAY_H */
