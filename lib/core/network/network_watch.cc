/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network_watch.h"

#include <linux/neighbour.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gr::spead {

namespace {

// Each look is a system call.
constexpr std::chrono::milliseconds look_interval{ 1 };
// Heaps wait this long for the next hop, then they are dropped. The kernel asks for it
// once a second: if its first question is lost, as it is where a switch or the other end
// is not ready yet, the answer to the second one comes in time.
constexpr std::chrono::milliseconds patience{ 1500 };
// The kernel ceases to ask after three questions; it asks again when there is a packet.
constexpr std::chrono::milliseconds ask_interval{ 500 };
// After an outage the other end may not be ready to answer yet, and a question that is
// lost is repeated only after a second.
constexpr std::chrono::milliseconds time_to_settle{ 100 };

} // namespace

network_watch::network_watch(boost::asio::io_context& io,
                             const std::vector<endpoint>& destinations,
                             std::function<void(std::size_t)> solicit)
    : d_solicit(std::move(solicit)), d_kernel(io), d_timer(io)
{
    for (const auto& to : destinations)
        d_paths.push_back({ to });
}

void network_watch::begin(const rtnetlink::origin& from)
{
    d_from = from;
    for (auto& one : d_paths)
        one = { one.to };
    d_changed = true;
    d_next_look = {};
}

bool network_watch::look(clock::time_point now)
{
    if (now < d_next_look)
        return false;
    d_kernel.read_changes(
        [this, now](const rtnetlink::change& news) { hear(news, now); });
    // a route that comes back is not always told of
    const bool changed =
        std::exchange(d_changed, false) || (d_route_missing && now >= d_find_again);
    if (changed) {
        find_routes(now);
        d_find_again = now + ask_interval;
    }
    if (changed || !d_clear)
        find_obstacles(now);
    d_last_look = now;
    d_next_look = now + (d_route_missing ? clock::duration::zero()
                                         : clock::duration(look_interval));
    return changed;
}

void network_watch::hear(const rtnetlink::change& news, clock::time_point now)
{
    for (auto& one : d_paths) {
        const bool concerned = one.route && one.route->interface == news.interface;
        switch (news.what) {
        case rtnetlink::change::link:
            if (one.route && !concerned)
                continue;
            if (news.usable && !one.link.carrier)
                come_back(one, now);
            one.link.carrier = news.usable;
            break;
        case rtnetlink::change::neighbour:
            if (!concerned || one.route->next_hop != news.next_hop)
                continue;
            one.asks = !news.usable;
            if (news.usable)
                one.next_hop = path::found;
            break;
        case rtnetlink::change::anything:
            one.route.reset();
            break;
        case rtnetlink::change::routes:
            break;
        }
        d_changed = true;
    }
}

// After an outage. If the kernel has forgotten the next hop, it is to look for it a
// little later.
void network_watch::come_back(path& one, clock::time_point now)
{
    one.asks = true;
    one.next_hop = path::awaited;
    one.ask_again = now + time_to_settle;
    one.give_up = one.ask_again + patience;
}

void network_watch::find_routes(clock::time_point now)
{
    const bool was_missing = std::exchange(d_route_missing, false);
    for (auto& one : d_paths) {
        const auto before = std::exchange(one.route, d_kernel.find_route(one.to, d_from));
        if (!one.route) {
            d_route_missing = true;
            continue;
        }
        const bool same_interface = before && before->interface == one.route->interface;
        if (!same_interface)
            one.link = d_kernel.find_link(one.route->interface);
        if (!before && was_missing)
            come_back(one, now);
        else if (!same_interface || before->next_hop != one.route->next_hop)
            one.asks = true;
    }
}

void network_watch::find_obstacles(clock::time_point now)
{
    // after a pause it is worth another try
    const bool paused = now - d_last_look > patience;
    d_awaits = false;
    d_clear = true;
    for (auto& one : d_paths) {
        if (paused && one.next_hop == path::unreachable) {
            one.next_hop = path::found;
            one.asks = true;
        }
        find_next_hop(one, now);
        d_awaits = d_awaits || one.next_hop == path::awaited;
        one.obstacle = obstacle_of(one);
        d_clear = d_clear && !one.obstacle;
    }
    if (d_waiting && !d_awaits)
        d_kernel.changes().cancel();
}

void network_watch::find_next_hop(path& one, clock::time_point now)
{
    if (!one.route || !one.link.carrier || !one.link.resolves || !one.route->next_hop) {
        one.next_hop = path::found;
        return;
    }
    if (one.next_hop != path::found && now >= one.ask_again)
        one.asks = true;
    if (std::exchange(one.asks, false))
        ask_for_next_hop(one, now);
    if (one.next_hop == path::awaited && now >= one.give_up)
        one.next_hop = path::unreachable;
}

void network_watch::ask_for_next_hop(path& one, clock::time_point now)
{
    const auto state = [&] {
        return d_kernel.neighbour_state(one.route->interface, *one.route->next_hop);
    };
    auto known = state();
    if (known == NUD_NONE || known == NUD_FAILED) {
        if (one.next_hop != path::found && now < one.ask_again)
            return;
        // now the kernel makes an entry, if it needs one
        d_solicit(static_cast<std::size_t>(&one - d_paths.data()));
        known = state();
    }
    one.ask_again = now + ask_interval;
    if (known != NUD_INCOMPLETE && known != NUD_FAILED) {
        one.next_hop = path::found;
    } else if (one.next_hop == path::found) {
        one.next_hop = path::awaited;
        one.give_up = now + patience;
    }
}

int network_watch::obstacle_of(const path& one)
{
    if (!one.route)
        return 0;
    if (!one.link.carrier)
        return ENETDOWN;
    if (!one.route->has_source)
        return EADDRNOTAVAIL;
    return one.next_hop == path::awaited       ? transport::not_yet
           : one.next_hop == path::unreachable ? EHOSTUNREACH
                                               : 0;
}

void network_watch::async_wait(std::function<void()> handler)
{
    auto until = clock::time_point::max();
    for (const auto& one : d_paths)
        if (one.next_hop == path::awaited)
            until = std::min({ until, one.give_up, one.ask_again });
    d_waiting = true;
    d_timer.expires_at(until);
    d_timer.async_wait([this](const boost::system::error_code& error) {
        if (!error)
            d_kernel.changes().cancel();
    });
    const auto ready = [this, handler = std::move(handler)](const auto&) {
        d_waiting = false;
        d_timer.cancel();
        d_next_look = {};
        handler();
    };
    d_kernel.changes().async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                  ready);
}

} // namespace gr::spead
