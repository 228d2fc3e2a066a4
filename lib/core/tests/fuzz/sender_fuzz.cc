/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// The loop of the sender, between rings that are filled and a network that fails as the
// input says, in a time that only the input and sleeps of the loop move.

#include "fuzz_input.h"
#include "helpers/scripted_transport.h"
#include "helpers/simulated_time.h"
#include "send/sender.h"

#include <cstring>
#include <map>
#include <memory>
#include <vector>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

// An input may not make the sender do more.
constexpr std::size_t max_packets = 500;
constexpr std::size_t stamp_bytes = 4; // the number of a packet, in front of its content

struct queued_heap {
    std::uint64_t samples = 0;
    bool has_samples = false; // or is one of descriptors
    bool is_ended = false;
    bool is_whole = true;
};

struct queued_packet {
    std::size_t heap;
    std::size_t bytes;
    std::size_t destination;
    bool has_left = false;
};

// Has a thread, which would be too slow to start for each input.
rate_limited_log& no_log()
{
    static rate_limited_log log([](const std::string&) {});
    return log;
}

sink_options choose_options(fuzz_input& input)
{
    sink_options is;
    input.once_in(4); // the corpus has a choice here
    is.rate = input.one_of({ 0.0, 1e6, 1.0, 1e308 });
    is.burst_size = input.one_of<std::int64_t>({ 1, 4000, 65536, 1 << 30 });
    return is;
}

// Runs without a thread of its own.
class stepped_sender : public sender
{
public:
    using sender::abort;
    using sender::begin;
    using sender::begin_run;
    using sender::close;
    using sender::drop_rest;
    using sender::sender;
};

class sent_stream
{
public:
    explicit sent_stream(fuzz_input& input)
        : d_input(input),
          d_options(choose_options(input)),
          d_max_bytes(input.once_in(8) ? 9000 : input.one_of({ 40, 100, 100, 1000 })),
          d_destinations(1 + input.up_to(8))
    {
        std::vector<packet_ring*> all;
        for (auto n = 1 + input.up_to(2); n; --n) {
            const auto slots = 8 + input.up_to(56);
            d_queues.push_back(std::make_unique<queue>(slots, d_max_bytes));
            all.push_back(&d_queues.back()->ring);
        }
        d_sender = std::make_unique<stepped_sender>(
            d_io, all, d_network, d_counters, d_options, [] {}, no_log());
        set_rate(d_options.rate);
    }

    void run()
    {
        do {
            start();
            while (!is_done() && !d_input.once_in(50))
                step();
            if (d_input.once_in(3))
                stop_in_time();
            else
                stop_at_once();
            check_balance();
        } while (!is_done());
    }

private:
    struct queue {
        queue(std::size_t slots, std::size_t slot_bytes) : ring(slots, slot_bytes) {}
        packet_ring ring;
        ring_cursor head;
        std::size_t heap = no_heap;
        std::size_t destination = 0; // of this heap
    };
    static constexpr auto no_heap = static_cast<std::size_t>(-1);

    bool is_done() const { return d_input.empty() || d_packets.size() >= max_packets; }

    void start()
    {
        for (auto& one : d_queues)
            one->heap = no_heap;
        d_sender->begin_run();
        d_sender->begin();
    }

    void step()
    {
        switch (d_input.up_to(15)) {
        case 0:
            pass(d_input.one_of<std::chrono::nanoseconds>(
                { 100us, 1us, 3ms, 10ms, 300ms, 2s, 1h }));
            break;
        case 1:
            set_rate(d_input.one_of({ 0.0, 1e6, 3e7, 1.0, 1e308 }));
            break;
        case 2:
            d_network.keeps_in_flight = d_input.once_in(2);
            break;
        case 3:
            d_network.report(d_input.up_to(5));
            break;
        case 4:
            d_network.refuse_segmented =
                d_input.one_of({ 0, EIO, EINVAL, EOPNOTSUPP, EMSGSIZE });
            d_network.refusals_left = d_input.up_to(7);
            break;
        case 5:
            d_network.icmp_errors.count += 1;
            d_network.icmp_errors.causes[d_input.byte()] = true;
            break;
        case 6: {
            auto& ring = any_queue().ring;
            ring.set_limit(8 + d_input.up_to(ring.slots() - 8));
            break;
        }
        case 7:
        case 8:
        case 9:
            fail();
            break;
        default:
            put_some(any_queue());
        }
        if (d_input.once_in(2))
            poll();
    }

    queue& any_queue() { return *d_queues[d_input.up_to(d_queues.size() - 1)]; }

    void fail()
    {
        const scripted_transport::step next{ d_input.up_to(2),
                                             d_input.one_of(
                                                 { EAGAIN,
                                                   ENOBUFS,
                                                   ENOMEM,
                                                   ECONNREFUSED,
                                                   EINTR,
                                                   ENETUNREACH,
                                                   EPERM,
                                                   EIO,
                                                   EINVAL,
                                                   EMSGSIZE,
                                                   transport::error_next_hop_pending }) };
        d_network.script.insert(d_network.script.end(), 1 + d_input.up_to(5), next);
    }

    void pass(std::chrono::nanoseconds time)
    {
        simulated_time::advance(time);
        poll();
    }

    void set_rate(double rate)
    {
        d_sender->set_rate(rate);
        poll();
    }

    //! \name The other end of the rings
    //! \{

    void put_some(queue& to)
    {
        const auto destination = d_input.up_to(d_destinations - 1);
        const auto packets = 1 + d_input.up_to(d_input.once_in(4) ? 70 : 6);
        bool is_full = false;
        for (std::size_t i = 0; i < packets && !is_full; ++i) {
            if (to.heap == no_heap)
                begin_heap(to, destination);
            is_full = !put_packet(to);
        }
        if (to.ring.published() != to.head.count) {
            to.ring.publish(to.head.count);
            if (to.ring.sender_sleeps.claim(to.head.count))
                d_sender->wake();
        }
        if (!is_full)
            return;
        to.ring.packer_waits.announce();
        // it looks once more before it waits
        if (to.ring.has_space())
            to.ring.packer_waits.withdraw();
    }

    void begin_heap(queue& to, std::size_t destination)
    {
        to.heap = d_heaps.size();
        to.destination = destination;
        d_heaps.push_back({ d_input.up_to(9), !d_input.once_in(8) });
    }

    // Usually one that fills a slot; false if there is no room.
    bool put_packet(queue& to)
    {
        const auto full = d_max_bytes;
        const auto choice = d_input.up_to(15);
        const bool is_dropped = choice == 0; // no packet, the heap ends
        const auto bytes = is_dropped   ? 0
                           : choice < 3 ? stamp_bytes + d_input.up_to(full - stamp_bytes)
                           : choice < 4 ? stamp_bytes + d_input.up_to(3 * full)
                                        : full;
        const bool is_end = is_dropped || choice % 4 == 3;
        if (!claim(to, bytes))
            return false;
        auto& heap = d_heaps[to.heap];
        const auto flag = is_dropped ? packet_info::heap_dropped : packet_info::heap_end;
        const int flags = is_end ? flag | (heap.has_samples ? packet_info::data : 0) : 0;
        to.ring.info(to.head.slot) = { static_cast<std::uint32_t>(bytes),
                                       static_cast<std::uint16_t>(flags),
                                       static_cast<std::uint16_t>(to.destination),
                                       is_end ? heap.samples : 0 };
        if (bytes) {
            const auto all = content(d_packets.size(), bytes);
            std::memcpy(to.ring.data(to.head.slot), all.data(), bytes);
            d_packets.push_back({ to.heap, bytes, to.destination });
        }
        to.ring.advance_packet(to.head);
        heap.is_ended = is_end;
        heap.is_whole = heap.is_whole && !is_dropped;
        if (is_end)
            to.heap = no_heap;
        return true;
    }

    static bool claim(queue& to, std::size_t bytes)
    {
        auto& ring = to.ring;
        const auto wanted = ring.slots_for(bytes);
        const bool wraps = to.head.slot + wanted > ring.slots();
        const auto skipped = wraps ? ring.slots() - to.head.slot : 0;
        if (to.head.count + skipped + wanted > ring.released() + ring.limit())
            return false;
        if (wraps) {
            ring.info(to.head.slot) = { 0, packet_info::wrap, 0, 0 };
            ring.advance(to.head, skipped);
        }
        return true;
    }

    static bytes content(std::size_t number, std::size_t n)
    {
        bytes all(n, static_cast<std::uint8_t>(number));
        const auto stamp = static_cast<std::uint32_t>(number);
        std::memcpy(all.data(), &stamp, stamp_bytes);
        return all;
    }

    //! \}

    // All handlers that can run by now, and what has left.
    void poll()
    {
        while (d_io.poll())
            ;
        for (const auto& datagram : d_network.datagrams)
            check_datagram(datagram);
        d_network.datagrams.clear();
        for (const auto packets : d_network.packets_per_message)
            check(packets <= (transport::max_segments),
                  "a message has no more packets than it may");
        d_network.packets_per_message.clear();
        check(d_network.overwritten == 0, "packets in flight are not written over");
        for (std::size_t i = 0; i < d_queues.size(); ++i)
            check(d_queues[i]->ring.released() <= d_network.in_flight_from(i),
                  "slots of packets in flight are not given back");
    }

    void check_datagram(const bytes& datagram)
    {
        std::uint32_t number = 0;
        check(datagram.size() >= stamp_bytes, "a datagram is a packet");
        std::memcpy(&number, datagram.data(), stamp_bytes);
        check(number < d_packets.size(), "a datagram is a packet");
        auto& packet = d_packets[number];
        check(datagram == content(number, packet.bytes), "a packet leaves as it is");
        check(!packet.has_left, "no packet leaves twice");
        packet.has_left = true;
        auto& next = d_next[packet.destination];
        check(number >= next, "packets to a destination leave in their order");
        next = number + 1;
        d_bytes += packet.bytes;
        ++d_left;
    }

    void stop_in_time()
    {
        d_network.script.clear();
        d_network.refuse_segmented = 0;
        d_network.keeps_in_flight = false;
        set_rate(0);
        pass(20ms); // longer than any wait for a retry
        check(d_counters.packets_sent.get() + d_counters.packets_dropped.get() ==
                  d_packets.size(),
              "all that is queued leaves without another event");
        d_network.report(d_network.in_flight.size());
        poll();
        for (auto& one : d_queues) {
            check(one->ring.released() == one->ring.published(), "slots are given back");
            check(!one->ring.packer_waits.is_set(), "a packer that waits is woken");
        }
        d_sender->close();
        poll();
        check(d_io.stopped(), "the loop ends when all has been sent");
        d_sender->drop_rest();
    }

    void stop_at_once()
    {
        if (d_input.once_in(2)) {
            d_sender->close();
            poll();
        }
        d_sender->abort();
        poll();
        check(d_io.stopped(), "the loop ends");
        d_sender->drop_rest();
    }

    void check_balance()
    {
        const auto& c = d_counters;
        check(c.packets_sent.get() == d_left, "packets that have left are counted");
        check(c.packets_sent.get() + c.packets_dropped.get() == d_packets.size(),
              "so are those that are lost");
        check(c.bytes_sent.get() == d_bytes, "and bytes");
        auto heaps = d_heaps;
        for (const auto& packet : d_packets)
            heaps[packet.heap].is_whole = heaps[packet.heap].is_whole && packet.has_left;
        std::uint64_t sent = 0, lost = 0, heaps_sent = 0, heaps_lost = 0;
        for (const auto& heap : heaps) {
            if (!heap.is_ended)
                continue;
            (heap.is_whole ? sent : lost) += heap.samples;
            (heap.is_whole ? heaps_sent : heaps_lost) += heap.has_samples;
        }
        check(c.samples_sent.get() == sent, "samples of whole heaps are sent");
        check(c.samples_dropped.get() == lost, "the others are dropped");
        check(c.heaps_sent.get() == heaps_sent, "whole heaps are sent");
        check(c.heaps_dropped.get() == heaps_lost, "heaps with a loss are dropped");
    }

    fuzz_input& d_input;
    const sink_options d_options;
    const std::size_t d_max_bytes; // of a slot
    const std::size_t d_destinations;
    boost::asio::io_context d_io{ 1 };
    scripted_transport d_network{ d_io };
    sender_counters d_counters;
    std::vector<std::unique_ptr<queue>> d_queues;
    std::unique_ptr<stepped_sender> d_sender;

    std::vector<queued_heap> d_heaps;
    std::vector<queued_packet> d_packets;      // by their numbers
    std::map<std::size_t, std::size_t> d_next; // number of a packet to each destination
    std::size_t d_left = 0;
    std::uint64_t d_bytes = 0;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    sent_stream(input).run();
    return 0;
}
