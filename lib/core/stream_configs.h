/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_CONFIGS_H
#define INCLUDED_SPEAD_CORE_STREAM_CONFIGS_H

#include "sink_checks.h"

#include <boost/asio/ip/udp.hpp>

#include <vector>

namespace gr::spead {

/*!
 * \brief What each input sends.
 *
 * \p endpoints: one list for each input, or one for all. \p addresses: those of all
 * lists, one list after the other. \p possible_packet_bytes is what all paths take;
 * throws parameter_error where that does not do.
 */
std::vector<stream_config>
make_stream_configs(const sink_options& options,
                    const std::vector<std::vector<endpoint>>& endpoints,
                    const std::vector<boost::asio::ip::udp::endpoint>& addresses,
                    std::size_t possible_packet_bytes);

//! How many slots the ring of an input has; throws parameter_error where that cannot be.
std::size_t ring_slots(const sink_options& options, const stream_config& config);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_CONFIGS_H */
