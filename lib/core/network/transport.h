/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TRANSPORT_H
#define INCLUDED_SPEAD_CORE_TRANSPORT_H

#include <sys/uio.h>

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace gr::spead {

//! Packets to one destination, one after the other: all of one size, the last one at
//! most. They may lie in several pieces, whose array only needs to last as long as the
//! send().
struct message {
    const iovec* pieces;
    std::size_t n_pieces; //!< up to transport::max_pieces
    std::size_t bytes;    //!< of all pieces
    std::size_t packet_bytes;
    std::uint64_t position; //!< of its first packet: slots before it, since the beginning
    std::uint16_t destination = 0; //!< its number in the list of destinations
    std::uint16_t queue = 0;       //!< the number of the ring that it lies in

    bool segmented() const { return bytes > packet_bytes; }
};

struct send_result {
    std::size_t sent; //!< number of messages sent
    //! errno of the first message; 0 if that was sent, or if the error seems to be that
    //! of an earlier message: then it is to be sent again
    int error;
};

//! ICMP errors that came back for earlier messages.
struct icmp_errors {
    std::size_t count = 0;
    std::bitset<256> causes; //!< the errno of each
};

/*!
 * \brief Sends messages for the sender, which knows no sockets, and returns the errors.
 */
class transport
{
public:
    static constexpr std::size_t max_messages = 64; //!< in one send()
    static constexpr std::size_t max_segments = 64; //!< packets in a message
    static constexpr std::size_t max_pieces = max_segments;
    //! Bytes of a segmented message. With its headers (8 UDP, 40 IPv6, 18 Ethernet with
    //! VLAN) it must be shorter than 65536, what a device segments as a rule (its
    //! gso_max_size): the kernel cuts a longer one itself, at a fraction of the speed.
    static constexpr std::size_t max_segmented_bytes = 65535 - 8 - 40 - 18;
    //! How many packets of one size fill a message.
    static constexpr std::size_t packets_in_message(std::size_t packet_bytes)
    {
        return std::clamp<std::size_t>(
            max_segmented_bytes / packet_bytes, 1, max_segments);
    }

    //! The error of a message that has not failed, and is to be sent again after a
    //! moment.
    static constexpr int not_yet = EINPROGRESS;

    virtual ~transport() = default;

    //! Sends up to max_messages messages; never waits.
    virtual send_result send(const message* messages, std::size_t n) noexcept = 0;

    //! Calls \p handler, on the thread of the sender, when the next send() may succeed.
    virtual void async_wait_writable(std::function<void()> handler) = 0;

    //! Reads what the kernel has to report about earlier messages, and returns the ICMP
    //! errors that have come in since the last call.
    virtual icmp_errors take_reports() noexcept = 0;

    static constexpr std::uint64_t nothing = ~std::uint64_t{ 0 };
    //! The position in a queue of the oldest message whose memory is still read, or
    //! nothing. Messages of a queue are sent in the order of their positions.
    virtual std::uint64_t in_flight_from(std::size_t /* queue */) const noexcept
    {
        return nothing;
    }

    //! Calls \p handler, on the thread of the sender, when there are reports to take.
    virtual void async_wait_reports(std::function<void()> handler) = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TRANSPORT_H */
