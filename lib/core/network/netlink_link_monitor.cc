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
constexpr std::chrono::milliseconds settling_time{ 100 };
// A removed address may come back. Another one replaces it only after this time.
constexpr std::chrono::milliseconds address_timeout{ 500 };

bool is_link_local(const boost::asio::ip::address& address)
{
    return address.is_v6() && address.to_v6().is_link_local();
}

} // namespace

netlink_link_monitor::netlink_link_monitor(
    const std::vector<rtnetlink::endpoint>& destinations, socket_owner& owner)
    : d_owner(owner)
{
    for (const auto& destination : destinations)
        d_routes.push_back({ destination });
    update_origin();
}

void netlink_link_monitor::update_origin()
{
    const auto& current = d_owner.current_socket();
    d_origin.source = current.socket.local_endpoint();
    d_origin.interface = current.interface;
    d_source_interface = interface_with(d_origin.source.address());
}

send_result netlink_link_monitor::check(const message* messages, std::size_t n) noexcept
{
    const auto now = clock::now();
    if (now >= d_next_poll)
        poll(now);
    if (d_has_no_errors)
        return { n, 0 };
    std::size_t i = 0;
    while (i < n && !d_routes[messages[i].destination].error)
        ++i;
    return { i, i ? 0 : d_routes[messages->destination].error };
}

void netlink_link_monitor::poll(clock::time_point now)
{
    bool has_changed = d_kernel.take_changes();
    // a route that comes back is not always reported
    has_changed = has_changed || (d_is_route_missing && now >= d_next_read);
    if (now - d_last_poll > resolve_timeout) { // after a pause, try all routes again
        for (auto& entry : d_routes)
            entry = { entry.destination };
        has_changed = true;
    }
    if (has_changed) {
        read_routes(now);
        if (d_is_route_missing && replace_socket(now))
            read_routes(now);
    }
    if (has_changed || !d_has_no_errors) {
        d_has_no_errors = true;
        for (auto& entry : d_routes) {
            update_error(entry, now, has_changed);
            d_has_no_errors = d_has_no_errors && !entry.error;
        }
    }
    d_last_poll = now;
    const auto pause =
        std::max<clock::duration>(poll_interval, (poll_share - 1) * (clock::now() - now));
    d_next_poll = d_is_route_missing ? now : now + pause;
}

void netlink_link_monitor::read_routes(clock::time_point now)
{
    const bool was_missing = std::exchange(d_is_route_missing, false);
    for (auto& entry : d_routes) {
        entry.route = d_kernel.find_route(entry.destination, d_origin);
        if (entry.route)
            entry.link = d_kernel.find_link(entry.route->interface);
        else
            d_is_route_missing = true;
        const bool was_up = std::exchange(entry.is_up, entry.route && entry.link.carrier);
        if (entry.is_up && !was_up) {
            entry.next_solicit = now + settling_time;
            entry.next_hop_deadline = entry.next_solicit + resolve_timeout;
        }
    }
    if (d_is_route_missing && !was_missing)
        d_missing_since = now;
    d_next_read = now + solicit_interval;
}

void netlink_link_monitor::update_error(monitored_route& entry,
                                        clock::time_point now,
                                        bool has_changed)
{
    if (entry.route && entry.link.carrier && entry.link.resolves_neighbours &&
        entry.route->has_source && entry.route->next_hop) {
        if (has_changed || (entry.next_hop_deadline && now >= entry.next_solicit))
            resolve_next_hop(entry, now);
    } else {
        entry.next_hop_deadline.reset();
    }
    entry.error = 0;
    if (entry.next_hop_deadline)
        entry.error =
            now < *entry.next_hop_deadline ? transport::error_retry_later : EHOSTUNREACH;
    else if (entry.route && !entry.link.carrier)
        entry.error = ENETDOWN;
    else if (entry.route && !entry.route->has_source)
        entry.error = EADDRNOTAVAIL;
}

void netlink_link_monitor::resolve_next_hop(monitored_route& entry, clock::time_point now)
{
    const auto read_state = [&] {
        return d_kernel.neighbour_state(entry.route->interface, *entry.route->next_hop);
    };
    auto state = read_state();
    if (state == NUD_NONE || state == NUD_FAILED) {
        if (entry.next_hop_deadline && now < entry.next_solicit)
            return;
        // the kernel now creates an entry, if it needs one
        d_owner.solicit(static_cast<std::size_t>(&entry - d_routes.data()),
                        entry.next_hop_deadline && now >= *entry.next_hop_deadline);
        state = read_state();
    }
    entry.next_solicit = now + solicit_interval;
    if (state != NUD_INCOMPLETE && state != NUD_FAILED)
        entry.next_hop_deadline.reset();
    else if (!entry.next_hop_deadline)
        entry.next_hop_deadline = now + resolve_timeout;
}

// Replaces the socket: an interface that was deleted and created again has another index,
// and the source address of a connected socket may be gone. True if the socket was
// replaced.
bool netlink_link_monitor::replace_socket(clock::time_point now)
{
    try {
        auto candidate = d_owner.open_socket();
        if (!is_better(candidate, now - d_missing_since) ||
            !d_owner.replace_socket(std::move(candidate)))
            return false;
        update_origin();
        return true;
    } catch (const std::exception&) {
        return false; // try again later
    }
}

// Whether it is better than the current socket, which has had no route for this time.
bool netlink_link_monitor::is_better(const bound_socket& candidate,
                                     clock::duration time_without_route) const
{
    const bool has_other_interface = candidate.interface != d_origin.interface;
    const auto source = candidate.socket.local_endpoint().address();
    const auto current = d_origin.source.address();
    if (source == current)
        return has_other_interface;
    // while an interface comes up, the kernel may offer an unsuitable address
    if (is_link_local(source) != is_link_local(current) ||
        interface_with(source) != d_source_interface)
        return false;
    return has_other_interface || time_without_route >= address_timeout;
}

} // namespace gr::spead
