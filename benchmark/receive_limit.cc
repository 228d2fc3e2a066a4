/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Measures the upper limit for receivers on this machine: one thread receives and
// discards datagrams until killed, as many per call as the kernel returns.

#include "network/receive_socket.h"
#include "number.h"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

using gr::spead::receive_socket;

int main(int argc, char** argv)
try {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s HOST PORT\n", argv[0]);
        return 2;
    }
    boost::asio::io_context io;
    const auto port = static_cast<std::uint16_t>(number("PORT", argv[2], 1, 65535));
    receive_socket socket(io, { argv[1], port }, "");
    std::vector<std::byte> buffer(receive_socket::batch_buffer_bytes);
    for (;;)
        if (socket.receive(buffer.data()).error)
            std::this_thread::sleep_for(std::chrono::microseconds(200));
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
}
