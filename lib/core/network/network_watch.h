/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_NETWORK_WATCH_H
#define INCLUDED_SPEAD_CORE_NETWORK_WATCH_H

#include "rtnetlink.h"
#include "transport.h"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace gr::spead {

/*!
 * \brief Whether packets to the destinations can leave this host, as far as a send does
 * not tell.
 *
 * The kernel reports success for what it drops because the interface has no carrier, or
 * because too much waits for the address of the next hop (ARP, neighbour discovery).
 * Where there is no route, the send fails, and nothing is said here.
 */
class network_watch
{
public:
    using clock = std::chrono::steady_clock;
    using endpoint = rtnetlink::endpoint;

    //! Throws std::system_error where the system refuses. \p solicit sends something to a
    //! destination, given by its number, to make the kernel look for the next hop.
    network_watch(boost::asio::io_context& io,
                  const std::vector<endpoint>& destinations,
                  std::function<void(std::size_t)> solicit);

    //! The next look() is at everything anew, for packets of this socket.
    void begin(const rtnetlink::origin& from);

    //! Looks for changes. To be called before each send: the kernel is asked at most once
    //! a millisecond, unless a route is missing. True if routes were looked for again.
    bool look(clock::time_point now);

    //! Nothing stands in the way: the usual case, to be tested cheaply.
    bool clear() const { return d_clear; }
    //! What stands in the way to a destination, as an errno: ENETDOWN without a carrier,
    //! EADDRNOTAVAIL without an address to send from, transport::not_yet while the next
    //! hop is looked for, EHOSTUNREACH if it does not answer. 0 if nothing does.
    int obstacle(std::size_t destination) const { return d_paths[destination].obstacle; }
    //! Whether a destination has no route, or none from the address of the socket.
    bool route_missing() const { return d_route_missing; }

    //! Whether a next hop is awaited; calls \p handler when it is time to look() again.
    bool awaits_next_hop() const { return d_awaits; }
    void async_wait(std::function<void()> handler);

private:
    struct path {
        endpoint to;
        std::optional<rtnetlink::route> route{};
        rtnetlink::link link{};
        bool asks = true; // about the neighbour, at the next opportunity
        enum { found, awaited, unreachable } next_hop = found;
        clock::time_point give_up{};   // when it is awaited
        clock::time_point ask_again{}; // when it is not found
        int obstacle = 0;
    };
    static int obstacle_of(const path& one);

    void hear(const rtnetlink::change& news, clock::time_point now);
    static void come_back(path& one, clock::time_point now);
    void find_routes(clock::time_point now);
    void find_next_hop(path& one, clock::time_point now);
    void ask_for_next_hop(path& one, clock::time_point now);
    void find_obstacles(clock::time_point now);

    const std::function<void(std::size_t)> d_solicit;
    rtnetlink d_kernel;
    boost::asio::steady_timer d_timer;
    std::vector<path> d_paths;
    rtnetlink::origin d_from;
    bool d_changed = false;
    bool d_clear = true;
    bool d_route_missing = false;
    bool d_awaits = false;
    bool d_waiting = false;
    clock::time_point d_last_look{};
    clock::time_point d_next_look{};
    clock::time_point d_find_again{}; // a route that is missing
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_NETWORK_WATCH_H */
