/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_FRAME_DISSECTOR_H
#define INCLUDED_SPEAD_CORE_FRAME_DISSECTOR_H

#include <boost/asio/ip/udp.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace gr::spead {

//! What a captured frame holds.
struct captured_frame {
    enum class content_kind {
        datagram,  //!< a UDP datagram
        truncated, //!< the begin of one: the capture cut the frame
        fragment,  //!< the first IP fragment of one
        other      //!< anything else, also a later fragment
    };
    content_kind content = content_kind::other;
    boost::asio::ip::udp::endpoint source = {}, destination = {};
    const std::byte* payload = nullptr;
    std::size_t bytes = 0; //!< of the payload, as captured
    //! Of other content: the protocol that is not read, such as "EtherType 0x0806".
    //! Empty: none, the frame is cut.
    std::string protocol = {};
};

//! Whether dissect() reads frames of this link type of pcap, such as 1 (Ethernet).
bool is_link_type_supported(int link_type);

/*!
 * \brief Finds the UDP datagram in a frame of Ethernet, of a Linux cooked capture or of
 * raw IP.
 *
 * Skips VLAN tags and IPv6 extension headers. Never reads beyond \p captured, the number
 * of captured bytes, whatever they are. \p length: of the frame on the network.
 */
captured_frame
dissect(int link_type, const std::byte* frame, std::size_t captured, std::size_t length);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_FRAME_DISSECTOR_H */
