/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ENDPOINT_H
#define INCLUDED_SPEAD_CORE_ENDPOINT_H

#include <cstdint>
#include <string>

namespace gr {
namespace spead {

//! Where heaps go, as written; the host is not looked up yet.
struct endpoint {
    std::string host; //!< address or name, an IPv6 address without its brackets
    std::uint16_t port;
};

/*!
 * \brief Reads "host:port" or "[IPv6 address]:port".
 *
 * Throws std::invalid_argument that says what is wrong with it.
 */
endpoint parse_endpoint(const std::string& text);

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_ENDPOINT_H */
