/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RTNETLINK_H
#define INCLUDED_SPEAD_CORE_RTNETLINK_H

#include <libmnl/libmnl.h>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace gr::spead {

/*!
 * \brief Queries the kernel about routes, interfaces and neighbours, and detects changes.
 *
 * Needs no privileges. Calls block only on the kernel's lock of the interfaces (RTNL).
 */
class rtnetlink
{
public:
    using address = boost::asio::ip::address;
    using endpoint = boost::asio::ip::udp::endpoint;

    //! The socket that sends the packets.
    struct origin {
        endpoint source;
        unsigned interface = 0; //!< index of the interface it is bound to, 0 = none
    };
    struct route {
        unsigned interface; //!< index
        //! None for multicast, broadcast and local addresses.
        std::optional<address> next_hop;
        bool has_source; //!< this host has a source address
    };
    struct link {
        bool carrier = false;             //!< the interface is up and has a carrier
        bool resolves_neighbours = false; //!< not set for a tunnel
    };

    //! Throws std::system_error if a system call fails.
    rtnetlink();

    //! Whether anything may have changed since the last call.
    bool take_changes();

    //! Looks up the route of packets. None if there is no route.
    std::optional<route> find_route(const endpoint& destination,
                                    const origin& sending_socket);
    link find_link(unsigned interface);
    //! The state of a neighbour, NUD_... of <linux/neighbour.h>; NUD_NONE if the kernel
    //! has no entry.
    std::uint16_t neighbour_state(unsigned interface, const address& next_hop);

private:
    nlmsghdr* new_request(std::uint16_t type);
    const nlmsghdr* send_request(nlmsghdr* request);

    struct close {
        void operator()(mnl_socket* socket) const { mnl_socket_close(socket); }
    };
    using socket_ptr = std::unique_ptr<mnl_socket, close>;
    static socket_ptr open(unsigned groups);

    socket_ptr d_requests;
    socket_ptr d_changes;
    unsigned d_sequence = 0;
    // the answer about a link may be long
    alignas(nlmsghdr) std::array<char, 32768> d_buffer{};
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RTNETLINK_H */
