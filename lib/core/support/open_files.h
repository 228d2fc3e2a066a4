/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_OPEN_FILES_H
#define INCLUDED_SPEAD_CORE_OPEN_FILES_H

#include <cstddef>

namespace gr::spead {

//! Throws std::runtime_error if fewer files can be opened. Without this check, the errors
//! of Asio and of the C library do not say what to do, or say that a host is not found.
void check_open_files(std::size_t needed);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_OPEN_FILES_H */
