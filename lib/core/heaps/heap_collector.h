/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_HEAP_COLLECTOR_H
#define INCLUDED_SPEAD_CORE_HEAP_COLLECTOR_H

#include "receive/missing_ranges.h"
#include "receive/receive_counters.h"
#include "received_heap.h"
#include "support/counter.h"

#include <unordered_set>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gr::spead {

//! The counters of a heap_collector, as numbers of any type.
template <typename number>
struct heap_counters {
    number heaps_received{};   //!< complete ones, without ends of streams
    number heaps_incomplete{}; //!< given up
    number streams_ended{};    //!< end-of-stream heaps, without repetitions
    number packets_received{};
    number packets_duplicate{};
    number bytes_received{}; //!< UDP payload of packets_received

    //! Calls visit(name, member) for each, in order.
    template <typename visitor>
    static void for_each(visitor&& visit)
    {
        using counters = heap_counters;
        visit("heaps_received", &counters::heaps_received);
        visit("heaps_incomplete", &counters::heaps_incomplete);
        visit("streams_ended", &counters::streams_ended);
        visit("packets_received", &counters::packets_received);
        visit("packets_duplicate", &counters::packets_duplicate);
        visit("bytes_received", &counters::bytes_received);
    }
};

//! Where a datagram comes from.
struct heap_origin {
    std::uint64_t sender;
    std::size_t endpoint; //!< index
};

/*!
 * \brief Puts the packets of heaps together, in any order, and gives complete heaps.
 *
 * Its memory is bounded, whatever arrives: by the heaps of a sender, the senders, and the
 * bytes of all heaps. Older heaps make room for newer ones. A heap is also given up if
 * none of its packets has arrived for a while, and if a packet of it arrives again with
 * another content: the sender has restarted.
 *
 * Any thread may read the counters.
 */
class heap_collector
{
public:
    struct limits {
        std::size_t senders = 64;
        std::size_t heaps = 16;                       //!< incomplete ones, of a sender
        std::size_t bytes = std::size_t{ 256 } << 20; //!< of all incomplete heaps
        std::size_t pointers = 16384;                 //!< of a heap
        std::size_t missing_ranges = 1024;            //!< of a heap
        std::chrono::nanoseconds silence = std::chrono::seconds(5); //!< in a heap
        //! A sender repeats no heap counter within this time or this number of heaps: if
        //! packets of it arrive again, they are duplicates.
        std::chrono::nanoseconds memory = std::chrono::seconds(1);
        std::size_t remembered_heaps = 64;
    };

    heap_collector() = default;
    explicit heap_collector(const limits& given) : d_limits(given) {}

    struct result {
        packet_error error;
        std::optional<received_heap> heap = std::nullopt; //!< has become complete
    };
    //! \p now must not decrease.
    result add(const std::byte* datagram,
               std::size_t bytes,
               const heap_origin& origin,
               std::chrono::nanoseconds now);
    //! Counts a datagram that cannot be added.
    void reject(packet_error error) { d_rejects.add(error); }
    //! Gives up heaps of which nothing has arrived for too long.
    void expire(std::chrono::nanoseconds now);
    //! Gives up all incomplete heaps.
    void clear();

    heap_counters<std::uint64_t> counts() const;
    const reject_counters& rejects() const { return d_rejects; }
    //! Bytes of the heaps that are incomplete, and of their item pointers.
    std::size_t bytes() const { return d_bytes; }

private:
    struct open_heap {
        received_heap heap;
        std::size_t bytes; // of memory
        missing_ranges missing;
        // each with the payload offset of its packet
        std::vector<std::pair<std::uint64_t, std::uint64_t>> pointers;
        std::unordered_set<std::uint64_t> known_pointers;
        std::chrono::nanoseconds latest; // packet
    };
    struct finished_heap {
        std::uint64_t counter;
        std::uint64_t bytes;
        std::chrono::nanoseconds time;
    };
    struct sender_state {
        std::list<open_heap> heaps; // the oldest first
        std::size_t bytes = 0;      // of them
        std::deque<finished_heap> finished;
        std::chrono::nanoseconds latest{}; // packet
    };
    using sender_map = std::map<std::pair<std::uint64_t, std::size_t>, sender_state>;

    using heap_iterator = std::list<open_heap>::iterator;

    sender_state& sender_of(const heap_origin& origin, std::chrono::nanoseconds now);
    bool is_finished(const sender_state& sender,
                     const packet_view& packet,
                     std::chrono::nanoseconds now) const;
    heap_iterator begin_heap(sender_state& sender, const packet_view& packet);
    void place_payload(open_heap& heap, const packet_view& packet);
    bool add_pointers(sender_state& sender, open_heap& heap, const packet_view& packet);
    static received_heap completed(open_heap& heap);
    result finish(sender_state& sender,
                  const heap_origin& origin,
                  received_heap heap,
                  std::chrono::nanoseconds now);
    heap_iterator give_up(sender_state& sender, heap_iterator heap);
    heap_iterator remove(sender_state& sender, heap_iterator heap);
    void make_room(std::size_t bytes);

    limits d_limits;
    sender_map d_senders;
    std::size_t d_bytes = 0;
    heap_counters<counter> d_counters;
    reject_counters d_rejects;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_HEAP_COLLECTOR_H */
