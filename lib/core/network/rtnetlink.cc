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

#include <system_error>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gr::spead {

namespace {

unsigned char family_of(const rtnetlink::address& address)
{
    return address.is_v4() ? AF_INET : AF_INET6;
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

// The first attribute of a kind after a header of this size; nullptr if there is none.
const nlattr* find(const nlmsghdr* message, std::size_t header_bytes, std::uint16_t kind)
{
    const auto* end = static_cast<const char*>(mnl_nlmsg_get_payload_tail(message));
    const auto* attribute =
        static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(message, header_bytes));
    while (mnl_attr_ok(
        attribute, static_cast<int>(end - reinterpret_cast<const char*>(attribute)))) {
        if (mnl_attr_get_type(attribute) == kind)
            return attribute;
        attribute = mnl_attr_next(attribute);
    }
    return nullptr;
}

} // namespace

rtnetlink::rtnetlink()
    : d_requests(open(0)),
      d_changes(open(RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE |
                     RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR))
{
}

rtnetlink::socket_ptr rtnetlink::open(unsigned groups)
{
    socket_ptr opened(mnl_socket_open2(NETLINK_ROUTE, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!opened || mnl_socket_bind(opened.get(), groups, MNL_SOCKET_AUTOPID) < 0)
        throw std::system_error(errno, std::generic_category(), "rtnetlink");
    return opened;
}

nlmsghdr* rtnetlink::new_request(std::uint16_t type)
{
    auto* request = mnl_nlmsg_put_header(d_buffer.data());
    request->nlmsg_type = type;
    request->nlmsg_flags = NLM_F_REQUEST;
    request->nlmsg_seq = ++d_sequence;
    return request;
}

// Sends a request. The kernel answers before the send returns. The answer stays in
// d_buffer; nullptr if the kernel knows no such object.
const nlmsghdr* rtnetlink::send_request(nlmsghdr* request)
{
    const auto* socket = d_requests.get();
    if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
        return nullptr;
    const auto bytes = mnl_socket_recvfrom(socket, d_buffer.data(), d_buffer.size());
    const auto* answer = reinterpret_cast<const nlmsghdr*>(d_buffer.data());
    const bool is_valid = bytes > 0 && mnl_nlmsg_ok(answer, static_cast<int>(bytes)) &&
                          mnl_nlmsg_seq_ok(answer, d_sequence) &&
                          answer->nlmsg_type != NLMSG_ERROR;
    return is_valid ? answer : nullptr;
}

std::optional<rtnetlink::route> rtnetlink::find_route(const endpoint& destination,
                                                      const origin& sending_socket)
{
    const auto& source = sending_socket.source;
    auto interface = sending_socket.interface;
    auto* request = new_request(RTM_GETROUTE);
    auto* header =
        static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(rtmsg)));
    const auto bits =
        static_cast<unsigned char>(destination.address().is_v4() ? 32 : 128);
    header->rtm_family = family_of(destination.address());
    header->rtm_dst_len = bits;
    put(request, RTA_DST, destination.address());
    // with both, IPv6 treats the interface as a mere preference
    if (!source.address().is_unspecified() &&
        !(interface && destination.address().is_v6())) {
        header->rtm_src_len = bits;
        put(request, RTA_SRC, source.address());
    }
    if (!interface && destination.address().is_v6())
        interface = static_cast<unsigned>(destination.address().to_v6().scope_id());
    if (interface)
        mnl_attr_put_u32(request, RTA_OIF, interface);
    // if there are several next hops, select the one of these packets
    mnl_attr_put_u8(request, RTA_IP_PROTO, IPPROTO_UDP);
    mnl_attr_put_u16(request, RTA_DPORT, htons(destination.port()));
    if (source.port())
        mnl_attr_put_u16(request, RTA_SPORT, htons(source.port()));

    const auto* answer = send_request(request);
    const auto* out_interface = answer ? find(answer, sizeof(rtmsg), RTA_OIF) : nullptr;
    if (!out_interface)
        return {};
    const bool has_source =
        !source.address().is_unspecified() || find(answer, sizeof(rtmsg), RTA_PREFSRC);
    route result{ mnl_attr_get_u32(out_interface), {}, has_source };
    if (static_cast<rtmsg*>(mnl_nlmsg_get_payload(answer))->rtm_type != RTN_UNICAST ||
        destination.address().is_multicast())
        return result;
    // without a scope, as in the neighbour table
    result.next_hop = destination.address();
    if (destination.address().is_v6())
        result.next_hop =
            boost::asio::ip::address_v6(destination.address().to_v6().to_bytes());
    if (const auto* gateway = find(answer, sizeof(rtmsg), RTA_GATEWAY)) {
        result.next_hop = to_address(gateway);
    } else if (const auto* via = find(answer, sizeof(rtmsg), RTA_VIA)) {
        // a gateway of the other IP version
        const auto* data = static_cast<const char*>(mnl_attr_get_payload(via));
        constexpr auto family_bytes = sizeof(rtvia::rtvia_family);
        result.next_hop =
            to_address(data + family_bytes, mnl_attr_get_payload_len(via) - family_bytes);
    }
    return result;
}

rtnetlink::link rtnetlink::find_link(unsigned interface)
{
    auto* request = new_request(RTM_GETLINK);
    auto* header =
        static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ifinfomsg)));
    header->ifi_index = static_cast<int>(interface);
    const auto* answer = send_request(request);
    if (!answer)
        return { true, false }; // unknown: sends will report errors
    const auto flags = static_cast<ifinfomsg*>(mnl_nlmsg_get_payload(answer))->ifi_flags;
    return { (flags & IFF_UP) && (flags & IFF_LOWER_UP), !(flags & IFF_NOARP) };
}

std::uint16_t rtnetlink::neighbour_state(unsigned interface, const address& next_hop)
{
    auto* request = new_request(RTM_GETNEIGH);
    auto* header =
        static_cast<ndmsg*>(mnl_nlmsg_put_extra_header(request, sizeof(ndmsg)));
    header->ndm_family = family_of(next_hop);
    header->ndm_ifindex = static_cast<int>(interface);
    put(request, NDA_DST, next_hop);
    const auto* answer = send_request(request);
    return answer ? static_cast<ndmsg*>(mnl_nlmsg_get_payload(answer))->ndm_state
                  : NUD_NONE;
}

bool rtnetlink::take_changes()
{
    bool has_changed = false;
    while (mnl_socket_recvfrom(d_changes.get(), d_buffer.data(), d_buffer.size()) >= 0)
        has_changed = true;
    return has_changed || errno == ENOBUFS; // ENOBUFS: notifications were lost
}

} // namespace gr::spead
