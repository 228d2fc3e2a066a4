/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_PACKET_STORE_H
#define INCLUDED_SPEAD_CORE_PACKET_STORE_H

#include "network/datagram_source.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace gr::spead {

/*!
 * \brief The latest packets that an inspector has heard, up to a number of bytes.
 *
 * Packets before the first descriptors make room for later ones. Once only these are
 * left, later packets are dropped: a source needs descriptors before the samples.
 */
class packet_store
{
public:
    struct stored_packet {
        std::vector<std::byte> data;
        std::size_t endpoint; //!< index of the socket
        std::uint64_t sender; //!< not 0
        bool has_descriptors;
        std::chrono::nanoseconds time; //!< of arrival
    };

    explicit packet_store(std::size_t max_bytes = 32 << 20) : d_max_bytes(max_bytes) {}

    void add(stored_packet added);
    //! Whether some packets are not kept.
    bool is_partial() const { return d_is_partial; }

    //! Valid until the next call of add().
    using selection = std::vector<const stored_packet*>;
    selection all() const;
    //! Without those that a sender of descriptors sent before its first ones.
    selection described() const;

private:
    const std::size_t d_max_bytes;
    std::deque<stored_packet> d_packets;
    std::size_t d_bytes = 0;
    bool d_is_partial = false;
};

//! Replays \p packets, which must outlive the sources: one for each of \p endpoints.
std::vector<std::unique_ptr<datagram_source>>
replay(const packet_store::selection& packets, std::size_t endpoints);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_PACKET_STORE_H */
