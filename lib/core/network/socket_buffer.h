/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SOCKET_BUFFER_H
#define INCLUDED_SPEAD_CORE_SOCKET_BUFFER_H

#include <sys/socket.h>

namespace gr::spead {

//! Requests a socket buffer of this size: by SO_SNDBUF or SO_RCVBUF, and, if that exceeds
//! the limit for users, by SO_SNDBUFFORCE or SO_RCVBUFFORCE. Returns the bytes granted.
inline int set_socket_buffer(int socket, int option, int forced_option, int bytes)
{
    const auto granted = [&] {
        int value = 0;
        socklen_t size = sizeof value;
        getsockopt(socket, SOL_SOCKET, option, &value, &size);
        return value / 2; // the kernel doubles the size for its overhead
    };
    setsockopt(socket, SOL_SOCKET, option, &bytes, sizeof bytes);
    if (granted() < bytes)
        setsockopt(socket, SOL_SOCKET, forced_option, &bytes, sizeof bytes);
    return granted();
}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SOCKET_BUFFER_H */
