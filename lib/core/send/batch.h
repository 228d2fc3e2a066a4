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
 * \brief The messages of one send, built from packets in the rings.
 *
 * Collects packets in the order of publication. Packets of one ring to one destination
 * form one message, unless packets of another ring were published in between. Therefore
 * messages begin in the order of publication. Contiguous packets form one piece of a
 * message.
 */
class batch
{
public:
    //! The maximum size of a batch, in full messages: half a megabyte. A larger batch
    //! would exceed the CPU cache.
    static constexpr std::size_t full_messages = 8;

    //! Makes the rings of \p readers record their order of publication in the batch.
    explicit batch(std::vector<ring_reader>& readers);

    //! Whether the rings hold neither packets nor markers.
    bool is_empty() const { return d_order.begin() == d_order.end(); }

    //! Collects up to \p allowance bytes, or one larger packet. Collects nothing if the
    //! rings hold only markers. \p segmented: a message may have several packets.
    void collect(std::size_t allowance, bool segmented);

    std::size_t size() const { return d_size; }
    const message* messages() const { return d_messages.data(); }
    std::size_t bytes_of(std::size_t messages) const;

    //! Records that the first \p messages were sent.
    void sent(std::size_t messages);
    //! Drops the first message. Returns its number of packets.
    std::size_t drop_first();
    //! Makes the next collect() put each packet of the first message into its own
    //! message.
    void split();
    //! Drops all packets that were not sent.
    void drop_all();

private:
    struct amount {
        std::size_t bytes;
        std::size_t packets;
    };
    bool collect_entry(const send_order::entry& entry);
    std::size_t message_for(std::size_t ring_index, const packet_info& info);
    amount append(std::size_t number, const send_order::entry& entry);
    static amount run_length(const packet_ring& ring,
                             std::size_t slot,
                             const packet_info& reference,
                             amount room);
    bool find_packet(const send_order::entry& entry);
    void remove_finished_entries();
    void mark(const message& finished, packet_info::flag outcome);

    static constexpr std::uint32_t closed_key = ~std::uint32_t{ 0 };
    static constexpr std::size_t no_message = transport::max_messages;

    std::vector<ring_reader>& d_readers;
    send_order d_order;
    std::vector<ring_cursor> d_collected_end; // by ring: the end of the collected packets
    bool d_segmented = true;
    amount d_room{}; // left in this batch

    std::size_t d_size = 0;
    std::array<message, transport::max_messages> d_messages{};
    struct message_state {
        std::uint32_t key = closed_key; // ring and destination, or closed
        std::uint32_t packets = 0;
        std::uint64_t end = 0; // cursor count after the last packet
    };
    std::array<message_state, transport::max_messages> d_states{};
    std::array<std::array<iovec, transport::max_pieces>, transport::max_messages>
        d_pieces;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_BATCH_H */
