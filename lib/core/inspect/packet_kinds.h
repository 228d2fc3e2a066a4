/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_KINDS_H
#define INCLUDED_SPEAD_CORE_PACKET_KINDS_H

#include "protocol/packet_parser.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief The first packet of each kind.
 *
 * Packets with the same items, in the same order, are of one kind. Rejected packets are
 * of one kind for each packet_error.
 */
class packet_kinds
{
public:
    struct kind {
        std::vector<std::byte> first;
        std::uint64_t packets;
        std::string rejection; //!< why they are rejected, with the remedy; or empty
    };

    void add(const packet_view& packet, const std::byte* datagram, std::size_t bytes);
    void add_rejected(packet_error error, const std::byte* datagram, std::size_t bytes);
    //! The first 16 kinds.
    const std::vector<kind>& kinds() const { return d_kinds; }
    //! Packets of further kinds.
    std::uint64_t others() const { return d_others; }

private:
    template <typename function>
    void count(std::uint64_t key,
               const std::byte* datagram,
               std::size_t bytes,
               const function& rejection);

    std::vector<std::uint64_t> d_keys; // of the kinds
    std::vector<kind> d_kinds;
    std::uint64_t d_others = 0;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_KINDS_H */
