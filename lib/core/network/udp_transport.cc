/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "addresses.h"
#include "protocol/wire.h"
#include "socket_buffer.h"
#include "support/parameter_error.h"
#include "udp_transport.h"
#ifdef SPEAD_HAVE_LIBMNL
#include "netlink_link_monitor.h"
#endif

#include <linux/errqueue.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/multicast.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

// Linux 4.18; older C libraries do not name it
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

namespace gr::spead {

namespace {

// Whether the kernel detects this error before it assigns a number to a zero-copy
// message: a full socket, or a problem of the route that it already knows.
bool fails_without_a_number(int error)
{
    return error == EAGAIN || error == EINTR || error == ECONNREFUSED ||
           error == ENETUNREACH || error == EHOSTUNREACH || error == ENODEV;
}

// Room for the messages of one send(), including the overhead of the kernel.
constexpr int send_buffer_bytes = 2 << 20;

std::vector<boost::asio::ip::udp::endpoint>
resolve_all(boost::asio::io_context& io, const std::vector<endpoint>& destinations)
{
    std::vector<boost::asio::ip::udp::endpoint> resolved;
    for (const auto& destination : destinations) {
        resolved.push_back(resolve(io, destination, "destinations"));
        if (resolved.back().protocol() != resolved.front().protocol())
            throw parameter_error("destinations",
                                  to_text(destinations.front()) + " and " +
                                      to_text(destination),
                                  "destinations of one IP version");
    }
    return resolved;
}

} // namespace

void udp_transport::prepare(const message* messages, std::size_t n) noexcept
{
    for (std::size_t i = 0; i < n; ++i) {
        auto& header = d_headers[i].msg_hdr;
        if (!connected()) {
            auto& address = d_addresses[messages[i].destination];
            header.msg_name = address.data();
            header.msg_namelen = static_cast<socklen_t>(address.size());
        }
        // the kernel only reads it
        header.msg_iov = const_cast<iovec*>(messages[i].pieces);
        header.msg_iovlen = messages[i].n_pieces;
        header.msg_control = nullptr;
        header.msg_controllen = 0;
        if (messages[i].segmented()) {
            header.msg_control = &d_segment_sizes[i];
            header.msg_controllen = sizeof d_segment_sizes[i];
            cmsghdr* control = CMSG_FIRSTHDR(&header);
            control->cmsg_level = IPPROTO_UDP;
            control->cmsg_type = UDP_SEGMENT;
            control->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
            const auto size = static_cast<std::uint16_t>(messages[i].packet_bytes);
            std::memcpy(CMSG_DATA(control), &size, sizeof size);
        }
    }
}

send_result udp_transport::send_prepared(std::size_t n, int flags) noexcept
{
    const int sent =
        sendmmsg(native(), d_headers.data(), static_cast<unsigned>(n), flags);
    return sent < 0 ? send_result{ 0, errno }
                    : send_result{ static_cast<std::size_t>(sent), 0 };
}

// An ICMP error makes the next send fail, whatever its destination. With several
// destinations, a failure may therefore belong to another message and is reported as 0.
// This is not done twice in a row, since some errors recur immediately.
send_result udp_transport::send(const message* messages, std::size_t n) noexcept
{
    const auto sendable = d_link->check(messages, n);
    if (!sendable.sent)
        return sendable;
    n = sendable.sent;
    const auto errors_before = d_icmp_errors.count;
    const auto result = send_now(messages, n);
    if (connected() || !result.error || d_error_suppressed) {
        d_error_suppressed = false;
        return result;
    }
    while (read_report()) {
    }
    d_error_suppressed = d_icmp_errors.count != errors_before;
    return d_error_suppressed ? send_result{ 0, 0 } : result;
}

send_result udp_transport::send_now(const message* messages, std::size_t n) noexcept
{
    prepare(messages, n);
    if (!d_zero_copy.should_use(messages, n)) {
        while (d_zero_copy.has_many_in_flight() && read_report()) {
        }
        return send_prepared(n, 0);
    }
    n = messages_with_room(n);
    if (!n)
        return send_prepared(1, 0);
    const auto result = send_prepared(n, MSG_ZEROCOPY);
    d_zero_copy.sent(messages, result.sent);
    if (result.sent < n && !fails_without_a_number(result.error))
        d_zero_copy.disable();
    while ((d_zero_copy.has_many_in_flight() || result.error) && read_report()) {
    }
    // send a copy: the kernel locks no more memory, or has no room for reports
    if (result.error == ENOBUFS)
        return send_prepared(n, 0);
    return result;
}

// The number of messages that the socket has room for. sendmmsg() hides the error of a
// message that follows others, so that must not be EAGAIN.
std::size_t udp_transport::messages_with_room(std::size_t n) noexcept
{
    int queued = 0;
    if (ioctl(native(), SIOCOUTQ, &queued) != 0 || queued >= d_send_buffer)
        return 0;
    const auto room = static_cast<std::size_t>(d_send_buffer - queued);
    return std::min(n, 1 + (room - 1) / zero_copy::max_queued_bytes);
}

void udp_transport::async_wait_writable(std::function<void()> handler)
{
    async_wait(udp::socket::wait_write, std::move(handler));
}

void udp_transport::async_wait_reports(std::function<void()> handler)
{
    // The receive buffer may be full of datagrams, which are never read, and have no room
    // for the report of an error. Such an error ends each wait at once until it is
    // fetched.
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(native(), SOL_SOCKET, SO_ERROR, &error, &size);
    async_wait(udp::socket::wait_error, std::move(handler));
}

void udp_transport::async_wait(udp::socket::wait_type event,
                               std::function<void()> handler)
{
    // also with an error: the socket has been replaced
    auto ready = [handler = std::move(handler)](const auto&) { handler(); };
    d_bound.socket.async_wait(event, std::move(ready));
}

// Reads all reports: the socket would remain ready otherwise.
icmp_errors udp_transport::take_reports() noexcept
{
    while (read_report()) {
    }
    return std::exchange(d_icmp_errors, {});
}

// False if there is no report.
bool udp_transport::read_report() noexcept
{
    alignas(cmsghdr) std::array<unsigned char, 512> control;
    msghdr header{};
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    if (recvmsg(native(), &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return false;
    for (auto* entry = CMSG_FIRSTHDR(&header); entry;
         entry = CMSG_NXTHDR(&header, entry)) {
        if (!(entry->cmsg_level == IPPROTO_IP && entry->cmsg_type == IP_RECVERR) &&
            !(entry->cmsg_level == IPPROTO_IPV6 && entry->cmsg_type == IPV6_RECVERR))
            continue;
        sock_extended_err report;
        std::memcpy(&report, CMSG_DATA(entry), sizeof report);
        if (report.ee_origin == SO_EE_ORIGIN_ICMP ||
            report.ee_origin == SO_EE_ORIGIN_ICMP6) {
            ++d_icmp_errors.count;
            if (report.ee_errno < d_icmp_errors.causes.size())
                d_icmp_errors.causes[report.ee_errno] = true;
        }
        if (report.ee_origin == SO_EE_ORIGIN_ZEROCOPY)
            d_zero_copy.finished(report.ee_info,
                                 report.ee_data,
                                 report.ee_code & SO_EE_CODE_ZEROCOPY_COPIED);
    }
    return true;
}

// Setup of the socket: addresses, options and route

udp_transport::udp_transport(boost::asio::io_context& io,
                             const std::vector<endpoint>& destinations,
                             const std::string& interface,
                             int ttl)
    : d_io(io),
      d_interface(interface),
      d_ttl(ttl),
      d_destinations(destinations),
      d_addresses(resolve_all(io, destinations)),
      d_bound{ udp::socket(io), 0 },
      d_max_packet_bytes(wire::max_datagram_bytes)
{
    for (std::size_t i = 0; i < destinations.size(); ++i) {
        udp::socket probe(io); // looks up the route, sends nothing
        configure(probe);
        connect(probe, i);
        limit_to_path_mtu(probe);
    }
    replace_socket(open_socket());
    monitor_link();
}

// Opens a socket to send packets.
bound_socket udp_transport::open_socket()
{
    bound_socket replacement{ udp::socket(d_io), 0 };
    replacement.interface = configure(replacement.socket);
    if (connected())
        connect(replacement.socket, 0);
    else
        bind_and_refuse_datagrams(replacement.socket);
    set_socket_buffer(
        replacement.socket.native_handle(), SO_SNDBUF, SO_SNDBUFFORCE, send_buffer_bytes);
    replacement.socket.non_blocking(true);
    return replacement;
}

bool udp_transport::replace_socket(bound_socket replacement)
{
    // only the old socket reports when the kernel has read the messages in flight
    while (d_zero_copy.any_in_flight() && read_report()) {
    }
    if (d_zero_copy.any_in_flight())
        return false;
    d_bound = std::move(replacement);
    const int enabled = 1;
    d_zero_copy.enable(
        setsockopt(native(), SOL_SOCKET, SO_ZEROCOPY, &enabled, sizeof enabled) == 0);
    socklen_t size = sizeof d_send_buffer;
    getsockopt(native(), SOL_SOCKET, SO_SNDBUF, &d_send_buffer, &size);
    return true;
}

void udp_transport::monitor_link()
{
    std::string reason = "gr-spead was built without libmnl";
#ifdef SPEAD_HAVE_LIBMNL
    try {
        socket_owner& owner = *this;
        d_link = std::make_unique<netlink_link_monitor>(d_addresses, owner);
        return;
    } catch (const std::runtime_error& error) {
        reason = "rtnetlink is not available: " + std::string(error.what());
    }
#endif
    d_link = std::make_unique<link_monitor>();
    warn("cannot detect a lost link: heaps lost without a carrier or a next hop count as "
         "sent (" +
         reason + ")");
}

// Makes the kernel resolve the next hop, by a packet that no receiver mistakes for data:
// an empty datagram to the discard port. This may fail if a firewall passes only the
// stream, if the interface was renamed, or if the route depends on the port. The fallback
// is an empty datagram to the destination itself.
void udp_transport::solicit(std::size_t destination, bool is_unanswered)
{
    constexpr std::uint16_t discard_port = 9;
    const auto& address = d_addresses[destination];
    boost::system::error_code error;
    try {
        udp::socket socket(d_io);
        configure(socket);
        socket.non_blocking(true);
        socket.send_to(
            boost::asio::const_buffer(), { address.address(), discard_port }, 0, error);
        if (!error && !is_unanswered)
            return;
    } catch (const std::exception&) {
        // no socket available, or no interface of that name
    }
    d_bound.socket.send_to(boost::asio::const_buffer(), address, 0, error);
}

// Sets all options that determine how packets are routed and sent. Returns the index of
// the interface that the socket is bound to, 0 if none.
unsigned udp_transport::configure(udp::socket& socket)
{
    boost::system::error_code error;
    socket.open(d_addresses.front().protocol(), error);
    if (error)
        throw std::runtime_error("destinations: cannot open a socket: " +
                                 error.message());
    const unsigned interface = d_interface.empty() ? 0 : choose_interface(socket);
    if (ipv6()) {
        set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO, "path MTU");
        set_option(socket, IPPROTO_IPV6, IPV6_RECVERR, 1, "error reports");
    } else {
        set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO, "path MTU");
        // without it, packets that this host drops count as sent
        set_option(socket, IPPROTO_IP, IP_RECVERR, 1, "error reports");
    }
    if (any_multicast()) {
        namespace multicast = boost::asio::ip::multicast;
        socket.set_option(multicast::hops(d_ttl), error);
        if (error)
            warn("ttl could not be set: " + error.message());
    }
    return interface;
}

// Throws if there is no route.
void udp_transport::connect(udp::socket& socket, std::size_t destination) const
{
    boost::system::error_code error;
    socket.connect(d_addresses[destination], error);
    if (error)
        throw std::runtime_error(
            "destinations = " + to_text(d_destinations[destination]) +
            ": no route: " + error.message() +
            (error.value() == EACCES ? "; this is a broadcast address, which is not "
                                       "supported, or the route is prohibited"
                                     : ""));
    const auto local = socket.local_endpoint(error);
    if (!error && local.address().is_unspecified())
        throw std::runtime_error(
            "destinations = " + to_text(d_destinations[destination]) +
            ": the interface has no address to send from; set interface, or add an "
            "address");
}

// Lowers d_max_packet_bytes to the path MTU of a connected socket.
void udp_transport::limit_to_path_mtu(udp::socket& socket)
{
    constexpr int udp_header = 8;
    constexpr int ipv4_header = 20;
    constexpr int ipv6_header = 40;
    const int headers = udp_header + (ipv6() ? ipv6_header : ipv4_header);
    int mtu = 0;
    socklen_t size = sizeof mtu;
    const int failed =
        ipv6() ? getsockopt(socket.native_handle(), IPPROTO_IPV6, IPV6_MTU, &mtu, &size)
               : getsockopt(socket.native_handle(), IPPROTO_IP, IP_MTU, &mtu, &size);
    if (!failed && mtu > headers)
        d_max_packet_bytes =
            std::min(d_max_packet_bytes, static_cast<std::size_t>(mtu - headers));
}

void udp_transport::bind(udp::socket& socket,
                         const boost::asio::ip::address& address) const
{
    boost::system::error_code error;
    socket.bind({ address, 0 }, error);
    if (error)
        throw parameter_error("interface",
                              "\"" + d_interface + "\"",
                              "an address of this host (" + error.message() + ")");
}

// Makes packets leave by the interface, given by its name or by an address. An address
// also becomes the source address. Returns the index of the interface.
unsigned udp_transport::choose_interface(udp::socket& socket) const
{
    const auto& interface = d_interface;
    const auto refuse = [&](const std::string& why) {
        throw parameter_error("interface",
                              "\"" + interface + "\"",
                              "the name or an address of an interface of this host (" +
                                  why + ")");
    };
    std::string name = interface;
    boost::system::error_code error;
    const auto address = boost::asio::ip::make_address(interface, error);
    if (!error) {
        if (address.is_v6() != ipv6())
            refuse("not of the same IP version as the destinations");
        name = interface_with(address);
        if (name.empty())
            refuse("no interface has this address");
        bind(socket, address);
    }
    const unsigned index = if_nametoindex(name.c_str());
    if (!index)
        refuse(std::strerror(errno));

    const auto set_or_refuse =
        [&](int level, int option, const void* value, std::size_t bytes) {
            if (setsockopt(socket.native_handle(),
                           level,
                           option,
                           value,
                           static_cast<socklen_t>(bytes)) != 0)
                refuse(std::strerror(errno));
        };
    ip_mreqn by_index{};
    by_index.imr_ifindex = static_cast<int>(index);
    if (any_multicast() && ipv6())
        set_or_refuse(IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index);
    else if (any_multicast())
        set_or_refuse(IPPROTO_IP, IP_MULTICAST_IF, &by_index, sizeof by_index);
    if (any_unicast())
        set_or_refuse(SOL_SOCKET, SO_BINDTODEVICE, name.c_str(), name.size());
    return index;
}

// The source port must be known for route look-ups. An unconnected socket accepts
// datagrams from anybody until its buffer has no room for reports: this filter drops
// them.
void udp_transport::bind_and_refuse_datagrams(udp::socket& socket)
{
    // the socket is bound already, or will be by sending
    boost::system::error_code ignored;
    if (!socket.local_endpoint().port())
        socket.bind({ d_addresses.front().protocol(), 0 }, ignored);
    sock_filter reject_all = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog program{ 1, &reject_all };
    if (setsockopt(socket.native_handle(),
                   SOL_SOCKET,
                   SO_ATTACH_FILTER,
                   &program,
                   sizeof program) != 0)
        warn(std::string(
                 "the filter that discards incoming datagrams could not be set: ") +
             std::strerror(errno));
}

void udp_transport::set_option(
    udp::socket& socket, int level, int name, int value, const std::string& purpose)
{
    if (setsockopt(socket.native_handle(), level, name, &value, sizeof value) != 0)
        warn(purpose + " could not be set: " + std::strerror(errno));
}

// Adds a warning once: each socket that is configured repeats it.
void udp_transport::warn(const std::string& warning)
{
    if (std::find(d_warnings.begin(), d_warnings.end(), warning) == d_warnings.end())
        d_warnings.push_back(warning);
}

bool udp_transport::any_multicast() const
{
    return std::any_of(
        d_addresses.begin(), d_addresses.end(), [](const auto& destination) {
            return destination.address().is_multicast();
        });
}

bool udp_transport::any_unicast() const
{
    return !std::all_of(
        d_addresses.begin(), d_addresses.end(), [](const auto& destination) {
            return destination.address().is_multicast();
        });
}

} // namespace gr::spead
