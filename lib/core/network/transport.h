/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TRANSPORT_H
#define INCLUDED_SPEAD_CORE_TRANSPORT_H

#include "protocol/wire.h"

#include <sys/uio.h>
#include <boost/asio/ip/udp.hpp>

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gr::spead {

//! Consecutive packets to one destination. They have the same size, but the last one may
//! be shorter. They may consist of several pieces; the array of these needs to be valid
//! only during send().
struct message {
    const iovec* pieces;
    std::size_t n_pieces; //!< up to transport::max_pieces
    std::size_t bytes;    //!< total of all pieces
    std::size_t packet_bytes;
    std::uint64_t position;        //!< ring_cursor::count of its first packet
    std::uint16_t destination = 0; //!< index in the list of destinations
    std::uint16_t ring_index = 0;  //!< of its ring, in the list of rings

    bool segmented() const { return bytes > packet_bytes; }
};

struct send_result {
    std::size_t sent; //!< number of messages sent
    //! errno of the first message that was not sent. 0 if all were sent, or if the error
    //! seems to belong to an earlier message: then the caller must send the rest again.
    int error;
};

//! ICMP errors received in response to earlier messages.
struct icmp_errors {
    std::size_t count = 0;
    std::bitset<256> causes; //!< errno values of these errors
};

/*!
 * \brief Where packets go: a socket or a capture. The sender sends messages and learns
 * about errors.
 */
class transport
{
public:
    static constexpr std::size_t max_messages = 64; //!< per send()
    static constexpr std::size_t max_segments = 64; //!< packets per message
    static constexpr std::size_t max_pieces = max_segments;
    //! Maximum bytes of a segmented message. With its headers (8 UDP, 40 IPv6, 18
    //! Ethernet with VLAN) it must be shorter than 65536, the usual gso_max_size of a
    //! device. The kernel segments a longer one in software, at a fraction of the speed.
    static constexpr std::size_t max_segmented_bytes = 65535 - 8 - 40 - 18;
    //! The number of packets of this size that fill a message.
    static constexpr std::size_t packets_in_message(std::size_t packet_bytes)
    {
        return std::clamp<std::size_t>(
            max_segmented_bytes / packet_bytes, 1, max_segments);
    }

    //! Not a failure: the next hop is being resolved, or no program reads a named pipe
    //! yet. The message must be retried a little later.
    static constexpr int error_retry_later = EINPROGRESS;

    virtual ~transport() = default;

    //! The addresses of the destinations, in their order.
    virtual const std::vector<boost::asio::ip::udp::endpoint>& addresses() const = 0;
    //! The largest packet that all routes accept, in bytes of UDP payload.
    virtual std::size_t max_packet_bytes() const { return wire::max_datagram_bytes; }
    //! Messages about settings that the system refused.
    virtual std::vector<std::string> warnings() const { return {}; }

    //! Whether messages may have several packets. Packets to different destinations
    //! may then overtake each other.
    virtual bool sends_segmented() const { return true; }
    //! Whether messages are to be sent at the rate, in bytes of UDP payload per second.
    //! If not, the rate sets the times that the transport writes.
    virtual bool needs_pacing() const { return true; }
    //! Any thread may call this. 0: unlimited.
    virtual void set_rate(double /* bytes_per_second */) {}
    //! Whether large messages are sent without a copy. Any thread may call this.
    virtual bool zero_copy_active() const { return false; }

    //! Sends up to max_messages messages; never waits.
    virtual send_result send(const message* messages, std::size_t n) noexcept = 0;

    //! Calls \p handler, on the thread of the sender, when the next send() may succeed.
    virtual void async_wait_writable(std::function<void()> handler) = 0;

    //! Reads the reports of the kernel about earlier messages. Returns the ICMP errors
    //! received since the last call.
    virtual icmp_errors take_reports() noexcept = 0;

    static constexpr std::uint64_t no_position = ~std::uint64_t{ 0 };
    //! The position of the oldest message of a ring whose memory the kernel may still
    //! read, or no_position. The messages of a ring are sent in the order of their
    //! positions.
    virtual std::uint64_t oldest_in_flight(std::size_t /* ring_index */) const noexcept
    {
        return no_position;
    }

    //! Calls \p handler, on the thread of the sender, when take_reports() has work.
    virtual void async_wait_reports(std::function<void()> handler) = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TRANSPORT_H */
