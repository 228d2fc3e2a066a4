/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_MAKE_PACKER_CONFIGS_H
#define INCLUDED_SPEAD_CORE_MAKE_PACKER_CONFIGS_H

#include "sink_config.h"

#include <boost/asio/ip/udp.hpp>

#include <vector>

namespace gr::spead {

/*!
 * \brief Creates the configuration of the stream of each input.
 *
 * \p addresses: those of all destinations, in the order of the lists.
 * \p path_packet_bytes: the largest packet that all routes accept. Throws parameter_error
 * if that is too small.
 */
std::vector<packer_config>
make_packer_configs(const sink_config& config,
                    const std::vector<boost::asio::ip::udp::endpoint>& addresses,
                    std::size_t path_packet_bytes);

//! The size of the largest packet, in bytes. Throws parameter_error if that exceeds
//! \p path_packet_bytes.
std::size_t packet_limit(const sink_config& config, std::size_t path_packet_bytes);

//! The number of slots in the ring of an input. Throws parameter_error if heaps do not
//! fit.
std::size_t ring_slots(const sink_config& config, const packer_config& stream);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_MAKE_PACKER_CONFIGS_H */
