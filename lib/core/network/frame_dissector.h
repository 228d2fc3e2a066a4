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
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

namespace gr::spead {

//! A UDP datagram in a captured frame.
struct captured_datagram {
    boost::asio::ip::udp::endpoint from, to;
    const std::byte* payload = nullptr;
    std::size_t bytes = 0;
};

/*!
 * \brief Finds UDP datagrams in frames of Ethernet, Linux cooked captures or IP.
 *
 * Skips VLAN tags and IPv6 extension headers, reassembles fragments. Never reads beyond a
 * frame, whatever it contains.
 */
class frame_dissector
{
public:
    //! \p link_type is a link type of pcap, such as 1 (Ethernet).
    explicit frame_dissector(int link_type) : d_link_type(link_type) {}

    static bool supports(int link_type);

    //! The datagram of a frame, valid until the next call. nullopt if the frame
    //! contains none, or if fragments are missing.
    std::optional<captured_datagram> dissect(const std::byte* frame, std::size_t bytes);

private:
    struct bytes_left {
        const std::byte* data;
        std::size_t size;
    };
    // Pieces of a datagram that arrived in several IP packets.
    struct fragmented {
        std::vector<std::byte> key; // addresses and identification
        std::vector<std::byte> content;
        std::size_t received = 0;
        std::size_t end = 0; // 0: not known yet
    };

    std::optional<captured_datagram> read_ipv4(bytes_left packet);
    std::optional<captured_datagram> read_ipv6(bytes_left packet);
    std::optional<captured_datagram> read_udp(const boost::asio::ip::address& from,
                                              const boost::asio::ip::address& to,
                                              bytes_left packet) const;
    // Returns the whole content once it is complete.
    std::optional<bytes_left> add_fragment(std::vector<std::byte> key,
                                           std::size_t offset,
                                           bool is_last,
                                           bytes_left piece);

    int d_link_type;
    std::list<fragmented> d_fragmented; // the oldest first
    std::vector<std::byte> d_whole;     // the latest reassembled content
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_FRAME_DISSECTOR_H */
