/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ENDPOINT_H
#define INCLUDED_SPEAD_CORE_ENDPOINT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::spead {

//! Where heaps go to or come from, as written; the host is not looked up yet.
struct endpoint {
    std::string host; //!< address or name, an IPv6 address without its brackets
    std::uint16_t port;
};

//! How many endpoints a list may have: far more than anyone needs.
constexpr std::size_t max_endpoints = 4096;

/*!
 * \brief Reads a comma-separated list of endpoints, in their order.
 *
 * Each is "host:port" or "[IPv6 address]:port". "A.B.C.D+N:port" stands for N+1
 * consecutive IPv4 addresses, from A.B.C.D on. Throws parameter_error about \p parameter
 * that names the entry and says what is wrong with it. Ports are \p first_port to 65535.
 */
std::vector<endpoint> parse_endpoints(const std::string& parameter,
                                      const std::string& list,
                                      std::uint16_t first_port = 1);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ENDPOINT_H */
