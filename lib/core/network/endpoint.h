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
    std::uint16_t port = 0;
    std::string capture = {}; //!< path; "": not a capture
    std::string filter = {};  //!< of a capture to receive
};

enum class endpoint_use { send, receive };

//! Maximum number of endpoints of a block in all its lists: far more than anyone needs.
constexpr std::size_t max_endpoints = 4096;

/*!
 * \brief Parses a comma-separated list of endpoints.
 *
 * Each is "host:port" or "[IPv6 address]:port". "A.B.C.D+N:port" stands for N+1
 * consecutive IPv4 addresses, from A.B.C.D on. Ports are 0 (receivers only) to 65535.
 * A capture to receive is "FILE" or "FILE?FILTER", where the file exists or has a name
 * like a file. If the file exists, its name may contain commas. A capture to send to is
 * "FILE.pcap" or "FILE.pcap?host:port". Throws parameter_error for \p parameter, with the
 * invalid entry and the reason.
 */
std::vector<endpoint>
parse_endpoints(const std::string& parameter, const std::string& list, endpoint_use use);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ENDPOINT_H */
