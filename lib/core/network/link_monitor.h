/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_LINK_MONITOR_H
#define INCLUDED_SPEAD_CORE_LINK_MONITOR_H

#include "transport.h"

#include <boost/asio/ip/udp.hpp>

namespace gr::spead {

//! A UDP socket, and the index of the interface it is bound to (0 = none).
struct bound_socket {
    boost::asio::ip::udp::socket socket;
    unsigned interface;
};

//! Owns a socket, and replaces it at the request of a link_monitor.
class socket_owner
{
public:
    virtual const bound_socket& current_socket() const = 0;

    //! Opens another socket with the same options. Throws if that fails.
    virtual bound_socket open_socket() = 0;

    //! Makes this the current socket. False if the previous one is still needed.
    virtual bool replace_socket(bound_socket replacement) = 0;

    //! Sends a packet to a destination, given by its index, to make the kernel resolve
    //! the next hop. \p is_unanswered: whether the last attempts failed.
    virtual void solicit(std::size_t destination, bool is_unanswered) = 0;

protected:
    ~socket_owner() = default;
};

/*!
 * \brief Detects messages that cannot leave this host: a send would lose them and report
 * success.
 *
 * This base class lets all messages pass.
 */
class link_monitor
{
public:
    virtual ~link_monitor() = default;

    //! Returns how many messages precede the first one that cannot be sent. If none, also
    //! the error of that one: transport::error_retry_later while its next hop is
    //! being resolved. Call before each send.
    virtual send_result check(const message* /* messages */, std::size_t n) noexcept
    {
        return { n, 0 };
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_LINK_MONITOR_H */
