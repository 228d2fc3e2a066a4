/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_BATCH_H
#define INCLUDED_SPEAD_CORE_BATCH_H

#include "network/transport.h"
#include "ring_reader.h"

#include <array>
#include <vector>

namespace gr::spead {

/*!
 * \brief The messages of one send, made of packets in the queues.
 *
 * Packets are collected in the order in which they were published. Those of one queue to
 * one destination make one message, as long as no other queue comes between. Packets that
 * lie together are one piece of it. So messages begin in that order.
 */
class batch
{
public:
    //! As many packets as fit into so many messages. Half a megabyte: more would leave
    //! the cache.
    static constexpr std::size_t full_messages = 8;

    //! From now on the rings of the queues tell it what is published.
    explicit batch(std::vector<ring_reader>& readers);

    //! Whether there is nothing to take.
    bool is_empty() const { return d_order.begin() == d_order.end(); }

    //! Takes up to \p allowance bytes, but one packet at least, in messages of several
    //! packets where \p segmented says so.
    void collect(std::size_t allowance, bool segmented);

    std::size_t size() const { return d_size; }
    const message* messages() const { return d_messages.data(); }
    std::size_t bytes_of(std::size_t messages) const;

    //! The first so many messages were sent.
    void sent(std::size_t messages);
    //! The first message is dropped; says how many packets that are.
    std::size_t drop_first();
    //! The packets of the first message are to go one by one.
    void split();
    //! What is left will not be sent.
    void drop_all();

private:
    struct amount {
        std::size_t bytes;
        std::size_t packets;
    };
    bool collect_entry(const send_order::entry& entry);
    std::size_t message_for(std::size_t index, const packet_info& info);
    amount append(std::size_t number, const send_order::entry& entry);
    static amount run_length(const packet_ring& ring,
                             std::size_t slot,
                             const packet_info& like,
                             amount most);
    bool find_packet(const send_order::entry& entry);
    void remove_finished_entries();
    void mark(const message& which, packet_info::flag outcome);

    static constexpr std::uint32_t closed = ~std::uint32_t{ 0 };
    static constexpr std::size_t none = transport::max_messages;

    std::vector<ring_reader>& d_readers;
    send_order d_order;
    std::vector<ring_cursor> d_taken; // of each queue
    bool d_segmented = true;
    amount d_room{}; // for more

    std::size_t d_size = 0;
    std::array<message, transport::max_messages> d_messages{};
    std::array<std::uint32_t, transport::max_messages> d_keys{}; // queue and destination
    std::array<std::size_t, transport::max_messages> d_packets{};
    std::array<std::uint64_t, transport::max_messages> d_ends{}; // behind the last packet
    std::array<std::array<iovec, transport::max_pieces>, transport::max_messages>
        d_pieces;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_BATCH_H */
