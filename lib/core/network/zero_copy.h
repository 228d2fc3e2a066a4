/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ZERO_COPY_H
#define INCLUDED_SPEAD_CORE_ZERO_COPY_H

#include "transport.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace gr::spead {

/*!
 * \brief Which messages are in flight with MSG_ZEROCOPY, and whether to use it.
 *
 * Sent with MSG_ZEROCOPY, a message is not copied: the device reads it where it lies. The
 * kernel numbers such messages from 0 and reports their numbers when it has done with
 * them, and whether it had to copy after all (Linux, networking/msg_zerocopy). After
 * one report of a copy it is not used any more: it would cost more than it saves.
 */
class zero_copy
{
public:
    //! A new socket, whose numbers begin at 0, while none is in flight; \p possible is
    //! whether it can.
    void enable(bool possible);
    bool active() const { return d_active; } //!< from any thread

    //! What a message takes of the send buffer, at most.
    static constexpr std::size_t most_queued_bytes = std::size_t{ 18 } * 4096;

    //! Whether these messages should be sent without a copy.
    bool suits(const message* messages, std::size_t n) const;

    //! \p n messages went without a copy.
    void sent(const message* messages, std::size_t n);

    //! A message failed and may have used a number: the numbers of later messages would
    //! be uncertain. Those in flight keep theirs.
    void stop() { d_active = false; }

    //! The kernel has done with the messages of these numbers. Stops if a
    //! number belongs to no message in flight.
    void finished(std::uint32_t first, std::uint32_t last, bool copied);

    bool any_in_flight() const { return d_oldest != d_next; }
    //! Whether it is time to look for reports: for each message it would cost too much.
    bool has_many_in_flight() const { return d_next - d_oldest >= many; }
    //! See transport::in_flight_from().
    std::uint64_t in_flight_from(std::size_t queue) const;

private:
    struct entry {
        std::uint64_t position; // in the ring of the queue
        std::uint16_t queue;
        bool finished;
    };
    static constexpr std::uint32_t many = 8;
    // Each costs some of what a socket may use for reports: 20 KiB before Linux 6.7.
    static constexpr std::size_t max_in_flight = 24;
    // a power of two, for numbers that start anew after 2^32
    using table = std::array<entry, 32>;
    static_assert(max_in_flight <= std::tuple_size_v<table>);

    entry& at(std::uint32_t number) { return d_messages[number % d_messages.size()]; }
    const entry& at(std::uint32_t number) const
    {
        return d_messages[number % d_messages.size()];
    }

    table d_messages{};
    std::uint32_t d_oldest = 0; // the first one in flight
    std::uint32_t d_next = 0;   // the number of the next message
    std::atomic<bool> d_active{ false };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ZERO_COPY_H */
