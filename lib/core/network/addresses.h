/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ADDRESSES_H
#define INCLUDED_SPEAD_CORE_ADDRESSES_H

#include "endpoint.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>

#include <string>

namespace gr::spead {

//! The endpoint as "host:port" or "[IPv6 address]:port", with the quotes.
std::string to_text(const endpoint& endpoint);

//! Resolves the host, to its IPv4 address if it has one. Throws parameter_error for
//! \p parameter.
boost::asio::ip::udp::endpoint resolve(boost::asio::io_context& io,
                                       const endpoint& endpoint,
                                       const std::string& parameter);

//! The name of the interface that has this address, "" if there is none. Throws
//! std::runtime_error if the interfaces cannot be listed.
std::string interface_with(const boost::asio::ip::address& address);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ADDRESSES_H */
