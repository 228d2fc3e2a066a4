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

//! An address to send heaps to or to receive them at, as written by the user. The host is
//! not resolved yet.
struct endpoint {
    std::string host; //!< address or name, IPv6 addresses without brackets
    std::uint16_t port;
    bool is_capture = false; //!< the host is a file, perhaps with a filter
};

//! Maximum number of endpoints in a list: far more than anyone needs.
constexpr std::size_t max_endpoints = 4096;

/*!
 * \brief Parses a comma-separated list of endpoints.
 *
 * Each is "host:port", a capture "FILE.pcap" or "FILE.pcapng" with an optional "?FILTER",
 * or "[IPv6 address]:port". "A.B.C.D+N:port" stands for N+1 consecutive IPv4 addresses,
 * from A.B.C.D on. Ports are \p first_port to 65535. Throws parameter_error for \p
 * parameter, with the invalid entry and the reason.
 */
std::vector<endpoint> parse_endpoints(const std::string& parameter,
                                      const std::string& list,
                                      std::uint16_t first_port = 1);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ENDPOINT_H */
