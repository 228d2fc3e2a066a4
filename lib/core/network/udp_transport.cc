/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Sending, and what the kernel reports about it.

#include "udp_transport.h"

#include <linux/errqueue.h>
#include <netinet/udp.h>

#include <cerrno>
#include <cstring>
#include <utility>

// Linux 4.18; older C libraries do not name it
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

namespace gr::spead {

namespace {

// What the kernel finds out before it gives a message a number: a full socket, or what is
// known of the way there.
bool fails_without_a_number(int error)
{
    return error == EAGAIN || error == EINTR || error == ECONNREFUSED ||
           error == ENETUNREACH || error == EHOSTUNREACH || error == ENODEV;
}

} // namespace

void udp_transport::prepare(const message* messages, std::size_t n) noexcept
{
    for (std::size_t i = 0; i < n; ++i) {
        auto& header = d_headers[i].msg_hdr;
        if (!connected()) {
            auto& to = d_remotes[messages[i].destination];
            header.msg_name = to.data();
            header.msg_namelen = static_cast<socklen_t>(to.size());
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
    const int sent = sendmmsg(
        d_socket.native_handle(), d_headers.data(), static_cast<unsigned>(n), flags);
    return sent < 0 ? send_result{ 0, errno }
                    : send_result{ static_cast<std::size_t>(sent), 0 };
}

void udp_transport::start_stream() noexcept
{
    if (!d_watch)
        return;
    begin_to_watch();
    look();
}

void udp_transport::begin_to_watch() noexcept
{
    boost::system::error_code ignored;
    d_watch->begin({ d_socket.local_endpoint(ignored),
                     d_interface,
                     static_cast<int>(d_options.dscp) << 2 });
}

void udp_transport::look() noexcept
{
    const auto now = network_watch::clock::now();
    try {
        if (!d_watch || !d_watch->look(now))
            return;
        if (!std::exchange(d_missing, d_watch->route_missing()))
            d_missing_since = now;
        if (d_missing && (connected() || d_interface) && reopen(now)) {
            d_watch->look(now);
            d_missing = d_watch->route_missing();
        }
    } catch (const std::exception&) {
        // no memory; the next look will tell
    }
}

// How many of these messages, from the first one on, nothing stands in the way of.
std::size_t udp_transport::unobstructed(const message* messages, std::size_t n) const
{
    std::size_t i = 0;
    while (i < n && !d_watch->obstacle(messages[i].destination))
        ++i;
    return i;
}

// An ICMP error makes the next send fail, whatever its destination. With several it says
// nothing about that message: not twice in a row, since some errors come again at once.
send_result udp_transport::send(const message* messages, std::size_t n) noexcept
{
    look();
    if (d_watch && !d_watch->clear()) {
        n = unobstructed(messages, n);
        if (!n)
            return { 0, d_watch->obstacle(messages->destination) };
    }
    const auto before = d_icmp_errors.count;
    const auto result = send_now(messages, n);
    if (connected() || !result.error || d_excused) {
        d_excused = false;
        return result;
    }
    while (read_report()) {
    }
    d_excused = d_icmp_errors.count != before;
    return d_excused ? send_result{ 0, 0 } : result;
}

send_result udp_transport::send_now(const message* messages, std::size_t n) noexcept
{
    prepare(messages, n);
    if (!d_zero_copy.suits(messages, n)) {
        while (d_zero_copy.holds_many() && read_report()) {
        }
        return send_prepared(n, 0);
    }
    const auto result = send_prepared(n, MSG_ZEROCOPY);
    const bool all = result.sent == n;
    d_zero_copy.sent(messages, result.sent, all);
    while ((d_zero_copy.holds_many() || !all) && read_report()) {
    }
    // why a message behind others failed will be known when it is the first
    if (result.error && !fails_without_a_number(result.error))
        d_zero_copy.failure_not_reported();
    // the kernel would lock no more memory for us, or has no room for reports
    if (result.error == ENOBUFS && !d_zero_copy.active())
        return send_prepared(n, 0);
    return result;
}

void udp_transport::async_wait_writable(std::function<void()> handler)
{
    if (d_watch && d_watch->awaits_next_hop())
        d_watch->async_wait(std::move(handler));
    else
        async_wait(udp::socket::wait_write, std::move(handler));
}

void udp_transport::async_wait_reports(std::function<void()> handler)
{
    // An error for whose report the receive buffer had no room, full of what nobody reads
    // here, would end each wait at once until it is fetched.
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(d_socket.native_handle(), SOL_SOCKET, SO_ERROR, &error, &size);
    async_wait(udp::socket::wait_error, std::move(handler));
}

void udp_transport::async_wait(udp::socket::wait_type event,
                               std::function<void()> handler)
{
    // with an error, too: the socket is another one now
    auto ready = [handler = std::move(handler)](const auto&) { handler(); };
    d_socket.async_wait(event, handler_in(d_wait_memory, std::move(ready)));
}

// Left in their queue, they would make the socket seem ready for ever.
icmp_errors udp_transport::take_reports() noexcept
{
    while (read_report()) {
    }
    return std::exchange(d_icmp_errors, {});
}

// False if there is none.
bool udp_transport::read_report() noexcept
{
    alignas(cmsghdr) std::array<unsigned char, 512> control;
    msghdr header{};
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    if (recvmsg(d_socket.native_handle(), &header, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return false;
    for (auto* c = CMSG_FIRSTHDR(&header); c; c = CMSG_NXTHDR(&header, c)) {
        if (!(c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) &&
            !(c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
            continue;
        sock_extended_err report;
        std::memcpy(&report, CMSG_DATA(c), sizeof report);
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

} // namespace gr::spead
