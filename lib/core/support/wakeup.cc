/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace gr::spead {

namespace {

int make_eventfd()
{
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        throw std::system_error(errno, std::generic_category(), "eventfd");
    return fd;
}

} // namespace

wakeup::wakeup(boost::asio::io_context& io) : d_event(io, make_eventfd()) {}

void wakeup::notify()
{
    // non-blocking; fails only if the event is signalled already
    const std::uint64_t increment = 1;
    [[maybe_unused]] const auto written =
        write(d_event.native_handle(), &increment, sizeof increment);
}

void wakeup::wait(std::chrono::microseconds timeout)
{
    pollfd event{ d_event.native_handle(), POLLIN, 0 };
    const timespec time{ 0, std::chrono::nanoseconds(timeout).count() };
    if (ppoll(&event, 1, &time, nullptr) > 0)
        drain();
}

void wakeup::watch(std::function<void()> handler)
{
    d_handler = std::move(handler);
    async_wait();
}

void wakeup::async_wait()
{
    if (std::exchange(d_is_pending, true))
        return;
    d_event.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [this](const boost::system::error_code& error) {
                           d_is_pending = false;
                           if (error)
                               return;
                           drain();
                           async_wait();
                           d_handler();
                       });
}

void wakeup::drain()
{
    std::uint64_t count;
    [[maybe_unused]] const auto bytes =
        read(d_event.native_handle(), &count, sizeof count);
}

} // namespace gr::spead
