/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Rings that several queues take packets from.

#ifndef INCLUDED_SPEAD_CORE_TESTS_RINGS_H
#define INCLUDED_SPEAD_CORE_TESTS_RINGS_H

#include "scripted_transport.h"
#include "send/batch.h"

#include <cstring>
#include <memory>
#include <vector>

constexpr std::size_t packet_bytes = 1000;

// Rings of packets that carry their queue, destination and number.
struct rings {
    gr::spead::sender_counters counters;
    std::vector<std::unique_ptr<gr::spead::packet_ring>> memory;
    std::vector<gr::spead::ring_reader> readers;
    std::vector<gr::spead::ring_cursor> heads;
    std::vector<std::uint32_t> next;
    std::unique_ptr<gr::spead::batch> out;

    explicit rings(std::size_t n, std::size_t slots = 4096)
    {
        for (std::size_t i = 0; i < n; ++i) {
            memory.push_back(
                std::make_unique<gr::spead::packet_ring>(slots, packet_bytes));
            readers.emplace_back(*memory.back(), counters);
        }
        heads.resize(n);
        next.resize(n);
        out = std::make_unique<gr::spead::batch>(readers);
    }

    // one that is the last of its heap has this many samples
    void put(std::size_t to_queue,
             std::size_t destination,
             std::size_t size = packet_bytes,
             std::uint64_t samples = 0)
    {
        auto& ring = *memory[to_queue];
        auto& at = heads[to_queue];
        std::uint32_t words[] = { static_cast<std::uint32_t>(to_queue),
                                  static_cast<std::uint32_t>(destination),
                                  next[to_queue]++ };
        std::memcpy(ring.data(at.slot), words, sizeof words);
        ring.info(at.slot) = { static_cast<std::uint32_t>(size),
                               static_cast<std::uint16_t>(
                                   samples ? gr::spead::packet_info::heap_end |
                                                 gr::spead::packet_info::data
                                           : 0),
                               static_cast<std::uint16_t>(destination),
                               samples };
        ring.advance_packet(at);
        ring.publish(at.count);
    }

    struct stamp {
        std::uint32_t queue, destination, number;
    };
    static stamp stamp_of(const bytes& datagram)
    {
        stamp s;
        std::memcpy(&s, datagram.data(), sizeof s);
        return s;
    }
    std::vector<stamp> content(std::size_t number) const
    {
        std::vector<stamp> all;
        for (const auto& datagram : packets_of(out->messages()[number]))
            all.push_back(stamp_of(datagram));
        return all;
    }
    std::size_t packets_in_batch() const
    {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < out->size(); ++i)
            sum += packets_of(out->messages()[i]).size();
        return sum;
    }
};

constexpr auto unlimited = static_cast<std::size_t>(-1);

#endif /* INCLUDED_SPEAD_CORE_TESTS_RINGS_H */
