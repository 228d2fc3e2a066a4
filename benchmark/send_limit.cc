/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Measures the upper limit for senders on this machine: one thread sends prebuilt
// packets, as many per call as the kernel accepts. The kernel copies them; a sender with
// MSG_ZEROCOPY can be faster.

#include "network/transport.h"
#include "number.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <system_error>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

namespace {

using gr::spead::transport; // for its kernel limits

constexpr std::size_t arena_bytes = 1 << 20;

[[noreturn]] void fail(const char* call)
{
    throw std::system_error(errno, std::generic_category(), call);
}

int connected_socket(const char* host, const char* port)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host, port, &hints, &found))
        throw std::runtime_error(std::string(host) + ": " + gai_strerror(error));
    const int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen))
        fail("connect");
    freeaddrinfo(found);
    return fd;
}

double measure(int fd, int packet, double seconds)
{
    const auto bytes = static_cast<std::size_t>(packet);
    const std::size_t packets = std::clamp<std::size_t>(
        transport::max_segmented_bytes / bytes, 1, transport::max_segments);
    if (packets > 1 && setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &packet, sizeof packet))
        fail("UDP_SEGMENT");

    std::vector<char> arena(arena_bytes, 1);
    std::array<iovec, transport::max_messages> pieces{};
    std::array<mmsghdr, transport::max_messages> batch{};
    for (std::size_t i = 0; i < batch.size(); ++i) {
        pieces[i].iov_len = packets * bytes;
        batch[i].msg_hdr.msg_iov = &pieces[i];
        batch[i].msg_hdr.msg_iovlen = 1;
    }

    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    std::size_t offset = 0;
    double sent = 0;
    for (;;) {
        for (int call = 0; call < 64; ++call) {
            for (auto& piece : pieces) {
                if (offset + piece.iov_len > arena.size())
                    offset = 0;
                piece.iov_base = &arena[offset];
                offset += piece.iov_len;
            }
            const int n = sendmmsg(fd, batch.data(), batch.size(), 0);
            // ECONNREFUSED reports an ICMP error of an earlier packet; nothing was sent.
            if (n < 0 && errno != ECONNREFUSED)
                fail("sendmmsg");
            sent += std::max(n, 0) * static_cast<double>(packets * bytes);
        }
        const std::chrono::duration<double> elapsed = clock::now() - start;
        if (elapsed.count() >= seconds)
            return sent / elapsed.count();
    }
}

int usage(const char* name)
{
    std::fprintf(
        stderr,
        "Usage: %s [-p packet-size] [-s seconds] host port\n"
        "Sends prebuilt packets as fast as possible, with a copy in the kernel, and\n"
        "prints the speed in MB/s of UDP payload.\n",
        name);
    return 2;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        int packet = 1472;
        double seconds = 1;
        for (int option; (option = getopt(argc, argv, "p:s:")) != -1;) {
            if (option == 'p')
                packet = number("-p", optarg, 1, 65507);
            else if (option == 's')
                seconds = number("-s", optarg, 0.001, 86400.0);
            else
                return usage(argv[0]);
        }
        if (argc - optind != 2)
            return usage(argv[0]);
        const int fd = connected_socket(argv[optind], argv[optind + 1]);
        std::printf("%.2f MB/s\n", measure(fd, packet, seconds) / 1e6);
        close(fd);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
        return 1;
    }
}
