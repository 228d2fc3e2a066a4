/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "addresses.h"
#include "netlink_link_monitor.h"

#include <linux/neighbour.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

namespace gr::spead {

namespace {

// Each poll is a system call.
constexpr std::chrono::milliseconds poll_interval{ 1 };
// Polling takes at most 1/poll_share of the time, however often the network changes,
// unless a route is missing.
constexpr int poll_share = 10;
// Timeout for resolving the next hop; then heaps are dropped. The kernel sends one
// request per second. If the first one is lost because a switch or the remote end is not
// ready yet, the answer to the second one arrives in time.
constexpr std::chrono::milliseconds resolve_timeout{ 1500 };
// The kernel gives up after three requests, and starts again with the next packet.
constexpr std::chrono::milliseconds solicit_interval{ 500 };
// After an outage the remote end may not be ready to answer yet, and the kernel repeats a
// lost request only after a second.
constexpr std::chrono::milliseconds time_to_settle{ 100 };
// A removed address may come back. Another one replaces it only after this time.
constexpr std::chrono::milliseconds address_timeout{ 500 };

bool link_local(const boost::asio::ip::address& address)
{
    return address.is_v6() && address.to_v6().is_link_local();
}

} // namespace

netlink_link_monitor::netlink_link_monitor(
    const std::vector<rtnetlink::endpoint>& destinations, socket_owner& owner)
    : d_owner(owner)
{
    for (const auto& to : destinations)
        d_routes.push_back({ to });
    update_origin();
}

void netlink_link_monitor::update_origin()
{
    const auto& now = d_owner.current_socket();
    d_origin.from = now.socket.local_endpoint();
    d_origin.interface = now.interface;
    d_source_interface = interface_with(d_origin.from.address());
}

send_result netlink_link_monitor::check(const message* messages, std::size_t n) noexcept
{
    const auto now = clock::now();
    if (now >= d_next_poll)
        poll(now);
    if (d_no_errors)
        return { n, 0 };
    std::size_t i = 0;
    while (i < n && !d_routes[messages[i].destination].error)
        ++i;
    return { i, i ? 0 : d_routes[messages->destination].error };
}

void netlink_link_monitor::poll(clock::time_point now)
{
    bool changed = d_kernel.take_changes();
    // a route that comes back is not always reported
    changed = changed || (d_route_missing && now >= d_read_again);
    if (now - d_last_poll > resolve_timeout) { // after a pause, try all routes again
        for (auto& one : d_routes)
            one = { one.to };
        changed = true;
    }
    if (changed) {
        read_routes(now);
        if (d_route_missing && replace_socket(now))
            read_routes(now);
    }
    if (changed || !d_no_errors) {
        d_no_errors = true;
        for (auto& one : d_routes) {
            update_error(one, now, changed);
            d_no_errors = d_no_errors && !one.error;
        }
    }
    d_last_poll = now;
    const auto rest =
        std::max<clock::duration>(poll_interval, (poll_share - 1) * (clock::now() - now));
    d_next_poll = d_route_missing ? now : now + rest;
}

void netlink_link_monitor::read_routes(clock::time_point now)
{
    const bool was_missing = std::exchange(d_route_missing, false);
    for (auto& one : d_routes) {
        one.route = d_kernel.find_route(one.to, d_origin);
        if (one.route)
            one.link = d_kernel.find_link(one.route->interface);
        else
            d_route_missing = true;
        const bool was_up = std::exchange(one.up, one.route && one.link.carrier);
        if (one.up && !was_up) {
            one.next_solicit = now + time_to_settle;
            one.next_hop_deadline = one.next_solicit + resolve_timeout;
        }
    }
    if (d_route_missing && !was_missing)
        d_missing_since = now;
    d_read_again = now + solicit_interval;
}

void netlink_link_monitor::update_error(monitored_route& one,
                                        clock::time_point now,
                                        bool changed)
{
    if (one.route && one.link.carrier && one.link.resolves_neighbours &&
        one.route->has_source && one.route->next_hop) {
        if (changed || (one.next_hop_deadline && now >= one.next_solicit))
            resolve_next_hop(one, now);
    } else {
        one.next_hop_deadline.reset();
    }
    one.error = 0;
    if (one.next_hop_deadline)
        one.error =
            now < *one.next_hop_deadline ? transport::error_retry_later : EHOSTUNREACH;
    else if (one.route && !one.link.carrier)
        one.error = ENETDOWN;
    else if (one.route && !one.route->has_source)
        one.error = EADDRNOTAVAIL;
}

void netlink_link_monitor::resolve_next_hop(monitored_route& one, clock::time_point now)
{
    const auto state = [&] {
        return d_kernel.neighbour_state(one.route->interface, *one.route->next_hop);
    };
    auto known = state();
    if (known == NUD_NONE || known == NUD_FAILED) {
        if (one.next_hop_deadline && now < one.next_solicit)
            return;
        // the kernel now creates an entry, if it needs one
        d_owner.solicit(static_cast<std::size_t>(&one - d_routes.data()),
                        one.next_hop_deadline && now >= *one.next_hop_deadline);
        known = state();
    }
    one.next_solicit = now + solicit_interval;
    if (known != NUD_INCOMPLETE && known != NUD_FAILED)
        one.next_hop_deadline.reset();
    else if (!one.next_hop_deadline)
        one.next_hop_deadline = now + resolve_timeout;
}

// Replaces the socket: an interface that was deleted and created again has another index,
// and the source address of a connected socket may be gone. True if the socket was
// replaced.
bool netlink_link_monitor::replace_socket(clock::time_point now)
{
    try {
        auto opened = d_owner.open_socket();
        if (!is_better(opened, now - d_missing_since) ||
            !d_owner.replace_socket(std::move(opened)))
            return false;
        update_origin();
        return true;
    } catch (const std::exception&) {
        return false; // try again later
    }
}

// Whether it is better than the current socket, which has had no route for this time.
bool netlink_link_monitor::is_better(const bound_socket& opened,
                                     clock::duration missing) const
{
    const bool other_interface = opened.interface != d_origin.interface;
    const auto source = opened.socket.local_endpoint().address();
    const auto old = d_origin.from.address();
    if (source == old)
        return other_interface;
    // while an interface comes up, the kernel may offer an unsuitable address
    if (link_local(source) != link_local(old) ||
        interface_with(source) != d_source_interface)
        return false;
    return other_interface || missing >= address_timeout;
}

} // namespace gr::spead
