/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_BATCH_H
#define INCLUDED_SPEAD_CORE_BATCH_H

#include "lane.h"
#include "transport.h"

#include <array>
#include <vector>

namespace gr {
namespace spead {

/*!
 * \brief Messages that leave in one send: made of what lies in the lanes, whose packets
 * go to several destinations.
 *
 * Lanes take turns of a message each, so that none is more than that ahead. Within a lane
 * packets are taken in their order; those to one destination make one message, whose
 * pieces are what lies together. So, in each lane, messages begin in the order of the
 * ring.
 */
class batch
{
public:
    //! Half a megabyte: more would leave the cache.
    static constexpr std::size_t max_turns = 8;

    explicit batch(std::vector<lane>& lanes);

    //! Takes up to \p allowance bytes, but one packet at least, beginning with the lane
    //! whose turn it is, in messages of several packets where \p segmented says so.
    void collect(std::size_t allowance, bool segmented);

    std::size_t size() const { return d_size; }
    const message* messages() const { return d_messages.data(); }
    std::size_t bytes_of(std::size_t messages) const;

    //! The first so many messages were sent.
    void sent(std::size_t messages);
    //! The first message is given up.
    void lost();
    //! The packets of the first message are to go one by one.
    void split();

private:
    struct amount {
        std::size_t bytes;
        std::size_t packets;
    };
    // what the lane may still take before it is the next one's turn
    struct turn {
        std::size_t lane;
        amount left;
    };
    static turn turn_of(std::size_t lane)
    {
        return { lane, { transport::max_segmented_bytes, transport::max_segments } };
    }
    bool take_turn();
    std::size_t message_for(std::size_t index, const packet_info& info);
    amount append(std::size_t number, std::size_t index, amount most);
    static amount run_length(const packet_ring& ring,
                             std::size_t slot,
                             const packet_info& like,
                             amount most);
    bool find_packet(std::size_t index);
    void mark(const message& which, packet_info::flag fate);

    // what has been taken of a lane so far
    struct taking {
        ring_cursor at;
        std::uint64_t end;
    };
    static constexpr std::uint32_t closed = ~std::uint32_t{ 0 };
    static constexpr std::size_t none = transport::max_messages;

    std::vector<lane>& d_lanes;
    std::vector<taking> d_taking;
    turn d_turn = turn_of(0); // the first one
    turn d_next = d_turn;     // the first one of the next batch, if all goes
    bool d_full = false;
    bool d_segmented = true;
    std::size_t d_room = 0; // bytes

    std::size_t d_size = 0;
    std::array<message, transport::max_messages> d_messages{};
    std::array<std::uint32_t, transport::max_messages> d_keys{}; // lane and destination
    std::array<std::size_t, transport::max_messages> d_packets{};
    std::array<std::uint64_t, transport::max_messages> d_ends{}; // behind the last packet
    std::array<std::array<iovec, transport::max_pieces>, transport::max_messages>
        d_pieces;
};

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_CORE_BATCH_H */
