/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_NETLINK_LINK_MONITOR_H
#define INCLUDED_SPEAD_CORE_NETLINK_LINK_MONITOR_H

#include "link_monitor.h"
#include "rtnetlink.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief Monitors routes, links and next hops through rtnetlink.
 *
 * The kernel reports success for packets that it drops because the interface has no
 * carrier, or because too many wait for the address of the next hop (ARP, neighbour
 * discovery). Without a route, the send itself fails. The monitor then replaces the
 * socket if a new one gets another interface index or a suitable other source address.
 */
class netlink_link_monitor : public link_monitor
{
public:
    //! Throws std::runtime_error if rtnetlink is not available. \p owner must outlive
    //! the monitor.
    netlink_link_monitor(const std::vector<rtnetlink::endpoint>& destinations,
                         socket_owner& owner);

    //! Errors: ENETDOWN without a carrier, EADDRNOTAVAIL without a source address,
    //! EHOSTUNREACH if the next hop does not answer.
    send_result check(const message* messages, std::size_t n) noexcept override;

private:
    using clock = std::chrono::steady_clock;
    struct monitored_route {
        rtnetlink::endpoint destination;
        std::optional<rtnetlink::route> route{};
        rtnetlink::link link{};
        bool is_up = true; // route and carrier, when last read
        std::optional<clock::time_point> next_hop_deadline{}; // timeout for the next hop
        clock::time_point next_solicit{}; // next attempt to resolve the next hop
        int error = 0;
    };

    void poll(clock::time_point now);
    void read_routes(clock::time_point now);
    void update_error(monitored_route& entry, clock::time_point now, bool has_changed);
    void resolve_next_hop(monitored_route& entry, clock::time_point now);
    void update_origin();
    bool replace_socket(clock::time_point now);
    bool is_better(const bound_socket& candidate,
                   clock::duration time_without_route) const;

    socket_owner& d_owner;
    rtnetlink d_kernel;
    std::vector<monitored_route> d_routes;
    rtnetlink::origin d_origin;
    std::string d_source_interface; // interface that has the source address
    bool d_has_no_errors = false;
    bool d_is_route_missing = false;
    clock::time_point d_missing_since{};
    clock::time_point d_next_read{}; // next reading of the routes, if one is missing
    clock::time_point d_last_poll{};
    clock::time_point d_next_poll{};
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_NETLINK_LINK_MONITOR_H */
