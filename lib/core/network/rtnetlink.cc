/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "rtnetlink.h"

#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <system_error>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gr::spead {

namespace {

[[noreturn]] void fail()
{
    throw std::system_error(errno, std::generic_category(), "rtnetlink");
}

int open_for_changes()
{
    const int fd =
        socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        fail();
    sockaddr_nl groups{};
    groups.nl_family = AF_NETLINK;
    groups.nl_groups = RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE |
                       RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (bind(fd, reinterpret_cast<const sockaddr*>(&groups), sizeof groups) != 0) {
        const int error = errno;
        close(fd);
        errno = error;
        fail();
    }
    return fd;
}

unsigned char family_of(const rtnetlink::address& of)
{
    return of.is_v4() ? AF_INET : AF_INET6;
}

void put(nlmsghdr* request, std::uint16_t attribute, const rtnetlink::address& value)
{
    if (value.is_v4()) {
        const auto bytes = value.to_v4().to_bytes();
        mnl_attr_put(request, attribute, bytes.size(), bytes.data());
    } else {
        const auto bytes = value.to_v6().to_bytes();
        mnl_attr_put(request, attribute, bytes.size(), bytes.data());
    }
}

rtnetlink::address to_address(const void* data, std::size_t bytes)
{
    boost::asio::ip::address_v4::bytes_type v4{};
    boost::asio::ip::address_v6::bytes_type v6{};
    if (bytes == v4.size()) {
        std::memcpy(v4.data(), data, v4.size());
        return boost::asio::ip::address_v4(v4);
    }
    std::memcpy(v6.data(), data, std::min(bytes, v6.size()));
    return boost::asio::ip::address_v6(v6);
}

rtnetlink::address to_address(const nlattr* attribute)
{
    return to_address(mnl_attr_get_payload(attribute),
                      mnl_attr_get_payload_len(attribute));
}

// The first attribute of a kind, if there is one.
const nlattr* find(const nlmsghdr* in, std::size_t header, std::uint16_t kind)
{
    struct search {
        std::uint16_t kind;
        const nlattr* found;
    } what{ kind, nullptr };
    const auto look = [](const nlattr* at, void* data) {
        auto& wanted = *static_cast<search*>(data);
        if (mnl_attr_get_type(at) != wanted.kind)
            return MNL_CB_OK;
        wanted.found = at;
        return MNL_CB_STOP;
    };
    mnl_attr_parse(in, static_cast<unsigned>(header), look, &what);
    return what.found;
}

bool has_carrier(const ifinfomsg& link)
{
    return (link.ifi_flags & IFF_UP) && (link.ifi_flags & IFF_LOWER_UP);
}

rtnetlink::change to_change(const nlmsghdr* news)
{
    rtnetlink::change what{ rtnetlink::change::routes, 0, false, {} };
    if (news->nlmsg_type == RTM_NEWLINK || news->nlmsg_type == RTM_DELLINK) {
        const auto& link = *static_cast<ifinfomsg*>(mnl_nlmsg_get_payload(news));
        what.what = rtnetlink::change::link;
        what.interface = static_cast<unsigned>(link.ifi_index);
        what.usable = news->nlmsg_type == RTM_NEWLINK && has_carrier(link);
    } else if (news->nlmsg_type == RTM_NEWNEIGH || news->nlmsg_type == RTM_DELNEIGH) {
        const auto& neighbour = *static_cast<ndmsg*>(mnl_nlmsg_get_payload(news));
        what.what = rtnetlink::change::neighbour;
        what.interface = static_cast<unsigned>(neighbour.ndm_ifindex);
        what.usable =
            news->nlmsg_type == RTM_NEWNEIGH && rtnetlink::is_known(neighbour.ndm_state);
        if (const auto* at = find(news, sizeof neighbour, NDA_DST))
            what.next_hop = to_address(at);
    }
    return what;
}

} // namespace

rtnetlink::rtnetlink(boost::asio::io_context& io)
    : d_questions(mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC)),
      d_changes(io, open_for_changes())
{
    if (!d_questions || mnl_socket_bind(d_questions.get(), 0, MNL_SOCKET_AUTOPID) < 0)
        fail();
}

nlmsghdr* rtnetlink::new_request(std::uint16_t type)
{
    auto* request = mnl_nlmsg_put_header(d_buffer.data());
    request->nlmsg_type = type;
    request->nlmsg_flags = NLM_F_REQUEST;
    request->nlmsg_seq = ++d_sequence;
    return request;
}

// The kernel has answered when the request is sent. What it answers stays in the buffer;
// nothing if it knows of no such thing.
template <typename message>
const message* rtnetlink::ask(nlmsghdr* request)
{
    const message* answer = nullptr;
    const auto take = [](const nlmsghdr* got, void* to) {
        *static_cast<const message**>(to) =
            static_cast<const message*>(mnl_nlmsg_get_payload(got));
        return MNL_CB_OK;
    };
    const auto* socket = d_questions.get();
    if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
        return nullptr;
    const auto bytes = mnl_socket_recvfrom(socket, d_buffer.data(), d_buffer.size());
    if (bytes < 0 || mnl_cb_run(d_buffer.data(),
                                static_cast<std::size_t>(bytes),
                                d_sequence,
                                mnl_socket_get_portid(socket),
                                take,
                                static_cast<void*>(&answer)) < 0)
        return nullptr;
    return answer;
}

std::optional<rtnetlink::route> rtnetlink::find_route(const endpoint& to,
                                                      const origin& by)
{
    const auto& from = by.from;
    auto interface = by.interface;
    auto* request = new_request(RTM_GETROUTE);
    auto* header =
        static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(rtmsg)));
    const auto bits = static_cast<unsigned char>(to.address().is_v4() ? 32 : 128);
    header->rtm_family = family_of(to.address());
    header->rtm_dst_len = bits;
    header->rtm_tos = static_cast<unsigned char>(by.type_of_service);
    put(request, RTA_DST, to.address());
    // with both, IPv6 takes the interface for a wish
    if (!from.address().is_unspecified() && !(interface && to.address().is_v6())) {
        header->rtm_src_len = bits;
        put(request, RTA_SRC, from.address());
    }
    if (!interface && to.address().is_v6())
        interface = static_cast<unsigned>(to.address().to_v6().scope_id());
    if (interface)
        mnl_attr_put_u32(request, RTA_OIF, interface);
    // of several next hops the one that the packets take
    mnl_attr_put_u8(request, RTA_IP_PROTO, IPPROTO_UDP);
    mnl_attr_put_u16(request, RTA_DPORT, htons(to.port()));
    if (from.port())
        mnl_attr_put_u16(request, RTA_SPORT, htons(from.port()));

    const auto* answer = ask<rtmsg>(request);
    const auto* reply = reinterpret_cast<const nlmsghdr*>(d_buffer.data());
    const auto* out = answer ? find(reply, sizeof *answer, RTA_OIF) : nullptr;
    if (!out)
        return {};
    const bool has_source =
        !from.address().is_unspecified() || find(reply, sizeof *answer, RTA_PREFSRC);
    route found{ mnl_attr_get_u32(out), {}, has_source };
    if (answer->rtm_type != RTN_UNICAST || to.address().is_multicast())
        return found;
    // without a scope, as in the news of neighbours
    found.next_hop = to.address();
    if (to.address().is_v6())
        found.next_hop = boost::asio::ip::address_v6(to.address().to_v6().to_bytes());
    if (const auto* gateway = find(reply, sizeof *answer, RTA_GATEWAY)) {
        found.next_hop = to_address(gateway);
    } else if (const auto* via = find(reply, sizeof *answer, RTA_VIA)) {
        // a gateway of the other IP version
        const auto* data = static_cast<const char*>(mnl_attr_get_payload(via));
        constexpr auto family = sizeof(rtvia::rtvia_family);
        found.next_hop =
            to_address(data + family, mnl_attr_get_payload_len(via) - family);
    }
    return found;
}

rtnetlink::link rtnetlink::find_link(unsigned interface)
{
    auto* request = new_request(RTM_GETLINK);
    auto* header =
        static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg)));
    header->ifi_index = static_cast<int>(interface);
    const auto* answer = ask<ifinfomsg>(request);
    if (!answer)
        return { true, false }; // sends will tell
    return { has_carrier(*answer), !(answer->ifi_flags & IFF_NOARP) };
}

bool rtnetlink::is_known(std::uint16_t neighbour_state)
{
    constexpr auto usable =
        NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;
    return neighbour_state & usable;
}

std::uint16_t rtnetlink::neighbour_state(unsigned interface, const address& next_hop)
{
    auto* request = new_request(RTM_GETNEIGH);
    auto* header =
        static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ndmsg)));
    header->ndm_family = family_of(next_hop);
    header->ndm_ifindex = static_cast<int>(interface);
    put(request, NDA_DST, next_hop);
    const auto* answer = ask<ndmsg>(request);
    return answer ? answer->ndm_state : NUD_NONE;
}

void rtnetlink::read_changes(const std::function<void(const change&)>& heard)
{
    const auto tell = [](const nlmsghdr* news, void* data) {
        (*static_cast<const std::function<void(const change&)>*>(data))(to_change(news));
        return MNL_CB_OK;
    };
    for (;;) {
        const auto bytes =
            recv(d_changes.native_handle(), d_buffer.data(), d_buffer.size(), 0);
        if (bytes < 0) {
            if (errno == ENOBUFS) // there was no room for more
                heard({ change::anything, 0, false, {} });
            return;
        }
        mnl_cb_run(d_buffer.data(),
                   static_cast<std::size_t>(bytes),
                   0,
                   0,
                   tell,
                   const_cast<std::function<void(const change&)>*>(&heard));
    }
}

} // namespace gr::spead
