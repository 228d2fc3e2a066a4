/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A stream whose cost is measured.

#ifndef INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H

#include "helpers/packing.h"
#include "helpers/stress.h"
#include "sink_engine.h"

#include <boost/asio/ip/udp.hpp>

#include <cstdlib>

//! A socket on this host that nobody reads; the kernel drops what its buffer cannot hold.
//! Or SPEAD_COST_DESTINATION, such as a device that needs no copy.
class unread_socket
{
public:
    std::string destination() const
    {
        return is_local()
                   ? "127.0.0.1:" + std::to_string(d_socket.local_endpoint().port())
                   : elsewhere;
    }
    bool is_local() const { return !elsewhere; }

private:
    const char* const elsewhere = std::getenv("SPEAD_COST_DESTINATION");
    boost::asio::io_context d_io;
    boost::asio::ip::udp::socket d_socket{
        d_io, { boost::asio::ip::address_v4::loopback(), 0 }
    };
};

//! Writes \p total samples as a block does, \p chunk at a time. False if there was no
//! room for too long.
inline bool write_samples(gr::spead::sink_engine& stream,
                          const std::vector<std::int8_t>& samples,
                          std::size_t total,
                          std::size_t chunk)
{
    for (std::size_t written = 0; written < total;) {
        const auto n = std::min({ chunk, samples.size(), total - written });
        const auto taken = stream.write(0, raw(samples.data()), n);
        written += taken;
        if (!taken && !stream.wait_for_space(test_deadline()))
            return false;
    }
    return true;
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H */
