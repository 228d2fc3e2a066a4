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
 * \brief Tracks the messages in flight with MSG_ZEROCOPY, and decides whether to use it.
 *
 * With MSG_ZEROCOPY, the kernel does not copy a message: the device reads it from the
 * memory of the caller. The kernel numbers such messages from 0. It reports their numbers
 * when it no longer needs them, and whether it had to copy after all (Linux,
 * networking/msg_zerocopy). One report of a copy disables zero copy, which then costs
 * more than it saves.
 */
class zero_copy
{
public:
    //! Resets the numbers, for a new socket. No message may be in flight.
    //! \p is_supported: whether the socket supports zero copy.
    void enable(bool is_supported);
    bool active() const { return d_active; } //!< any thread

    //! Maximum room that a message takes in the send buffer.
    static constexpr std::size_t max_queued_bytes = std::size_t{ 18 } * 4096;

    //! Whether these messages should be sent without a copy.
    bool should_use(const message* messages, std::size_t n) const;

    //! Records that \p n messages were sent without a copy.
    void sent(const message* messages, std::size_t n);

    //! Disables zero copy, after an error that may have used a number: the numbers of
    //! later messages would be uncertain. Messages in flight keep theirs.
    void disable() { d_active = false; }

    //! Records that the kernel no longer needs the messages \p first to \p last. Disables
    //! zero copy if they were copied, or if a number belongs to no message in flight.
    void finished(std::uint32_t first, std::uint32_t last, bool was_copied);

    bool any_in_flight() const { return d_oldest != d_next; }
    //! Whether to read reports now. Reading them after each message would cost too much.
    bool has_many_in_flight() const { return d_next - d_oldest >= report_threshold; }
    //! See transport::oldest_in_flight().
    std::uint64_t oldest_in_flight(std::size_t ring_index) const;

private:
    struct entry {
        std::uint64_t position; // in its ring
        std::uint16_t ring_index;
        bool is_finished;
    };
    static constexpr std::uint32_t report_threshold = 8;
    // Each takes some of the socket's option memory (net.core.optmem_max, 20 KiB by
    // default in older kernels).
    static constexpr std::size_t max_in_flight = 24;
    // size is a power of two, since numbers wrap after 2^32
    using table = std::array<entry, 32>;
    static_assert(max_in_flight <= std::tuple_size_v<table>);

    entry& entry_of(std::uint32_t number)
    {
        return d_messages[number % d_messages.size()];
    }
    const entry& entry_of(std::uint32_t number) const
    {
        return d_messages[number % d_messages.size()];
    }

    table d_messages{};
    std::uint32_t d_oldest = 0; // number of the oldest message in flight
    std::uint32_t d_next = 0;   // number of the next message
    std::atomic<bool> d_active{ false };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ZERO_COPY_H */
