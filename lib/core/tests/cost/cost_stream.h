/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A stream for cost measurements.

#ifndef INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H

#include "helpers/packing.h"
#include "helpers/stress.h"
#include "sink_engine.h"

#include <boost/asio/ip/udp.hpp>

#include <cstdlib>

//! A destination: a local socket that nobody reads, so the kernel drops datagrams once
//! its buffer is full. SPEAD_COST_DESTINATION overrides it, for example to send without a
//! copy through a network device.
class unread_socket
{
public:
    std::string destination() const
    {
        return is_local()
                   ? "127.0.0.1:" + std::to_string(d_socket.local_endpoint().port())
                   : d_override;
    }
    bool is_local() const { return !d_override; }

private:
    const char* const d_override = std::getenv("SPEAD_COST_DESTINATION");
    boost::asio::io_context d_io;
    boost::asio::ip::udp::socket d_socket{
        d_io, { boost::asio::ip::address_v4::loopback(), 0 }
    };
};

//! Writes \p total samples, \p chunk at a time. False if a wait for room times out.
inline bool write_samples(gr::spead::sink_engine& stream,
                          const std::vector<std::int8_t>& samples,
                          std::size_t total,
                          std::size_t chunk)
{
    for (std::size_t written = 0; written < total;) {
        const auto n = std::min({ chunk, samples.size(), total - written });
        const auto accepted = stream.write(0, raw(samples.data()), n);
        written += accepted;
        if (!accepted && !stream.wait_for_space(test_deadline()))
            return false;
    }
    return true;
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H */
