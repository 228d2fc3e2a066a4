/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "open_files.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::spead {

void check_open_files(std::size_t needed)
{
    std::vector<int> files;
    files.reserve(needed);
    while (files.size() < needed) {
        const int file = eventfd(0, EFD_CLOEXEC);
        if (file < 0)
            break;
        files.push_back(file);
    }
    const int error = errno;
    for (const int file : files)
        close(file);
    if (files.size() < needed)
        throw std::runtime_error(
            "no socket: fewer than " + std::to_string(needed) +
            " file descriptors are left (" + std::strerror(error) + ")" +
            (error == EMFILE ? "; raise their limit (ulimit -n)" : ""));
}

} // namespace gr::spead
