/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "packet_kinds.h"
#include "receive/no_output_reason.h"

#include <boost/container_hash/hash.hpp>

#include <algorithm>

namespace gr::spead {

namespace {

constexpr std::size_t max_kinds = 16;

} // namespace

template <typename function>
void packet_kinds::count(std::uint64_t key,
                         const std::byte* datagram,
                         std::size_t bytes,
                         const function& rejection)
{
    const auto found = std::find(d_keys.begin(), d_keys.end(), key);
    if (found != d_keys.end()) {
        ++d_kinds[static_cast<std::size_t>(found - d_keys.begin())].packets;
    } else if (d_kinds.size() < max_kinds) {
        d_keys.push_back(key);
        d_kinds.push_back({ { datagram, datagram + bytes }, 1, rejection() });
    } else {
        ++d_others;
    }
}

void packet_kinds::add(const packet_view& packet,
                       const std::byte* datagram,
                       std::size_t bytes)
{
    std::size_t key = packet.flavour.heap_address_bits;
    for (std::size_t i = 0; i < packet.items; ++i)
        boost::hash_combine(key, packet.word(i) >> packet.flavour.heap_address_bits);
    count(key, datagram, bytes, [] { return std::string(); });
}

void packet_kinds::add_rejected(packet_error error,
                                const std::byte* datagram,
                                std::size_t bytes)
{
    count(static_cast<std::uint64_t>(error), datagram, bytes, [&] {
        no_output_reason reason;
        reason.note_rejected(error, datagram, bytes);
        return reason.text();
    });
}

} // namespace gr::spead
