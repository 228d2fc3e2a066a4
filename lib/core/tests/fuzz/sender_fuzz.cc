/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Runs the loop of the sender between rings and a failing transport, on a simulated
// clock. The input chooses the packets, the errors and the time.

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

// Limits the work that an input causes.
constexpr std::size_t max_packets = 500;
constexpr std::size_t stamp_bytes = 4; // the number of the packet, at its start

struct queued_heap {
    std::uint64_t samples = 0;
    bool has_samples = false; // otherwise it has descriptors
    bool has_ended = false;
    bool is_complete = true;
};

struct queued_packet {
    std::size_t heap;
    std::size_t bytes;
    std::size_t destination;
    bool is_sent = false;
};

// Shared, since starting the thread of a log for each input would be too slow.
rate_limited_log& discarding_log()
{
    static rate_limited_log log([](const std::string&) {});
    return log;
}

sender_config choose_config(fuzz_input& input)
{
    sender_config config;
    input.once_in(4); // consumes a byte that the corpus has here
    config.rate = input.one_of({ 0.0, 1e6, 1.0, 1e308 });
    config.burst_bytes = input.one_of<std::size_t>({ 1, 4000, 65536, 1 << 30 });
    return config;
}

// A sender without a thread, driven by the test.
class stepped_sender : public sender
{
public:
    using sender::abort;
    using sender::close;
    using sender::drop_rest;
    using sender::reset_run;
    using sender::sender;
    using sender::start_sending;
};

class sent_stream
{
public:
    explicit sent_stream(fuzz_input& input)
        : d_input(input),
          d_config(choose_config(input)),
          d_slot_bytes(input.once_in(8) ? 9000 : input.one_of({ 40, 100, 100, 1000 })),
          d_destinations(1 + input.up_to(8))
    {
        std::vector<packet_ring*> all;
        for (auto n = 1 + input.up_to(2); n; --n) {
            const auto slots = 8 + input.up_to(56);
            d_queues.push_back(std::make_unique<queue>(slots, d_slot_bytes));
            all.push_back(&d_queues.back()->ring);
        }
        d_sender = std::make_unique<stepped_sender>(
            d_io, all, d_network, d_counters, d_config, [] {}, discarding_log());
        set_rate(d_config.rate);
    }

    void run()
    {
        do {
            start();
            while (!is_done() && !d_input.once_in(50))
                step();
            if (d_input.once_in(3))
                stop_after_sending_all();
            else
                stop_immediately();
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
        for (auto& queue : d_queues)
            queue->heap = no_heap;
        d_sender->reset_run();
        d_sender->start_sending();
    }

    void step()
    {
        switch (d_input.up_to(15)) {
        case 0:
            advance_time(d_input.one_of<std::chrono::nanoseconds>(
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
            script_failures();
            break;
        default:
            put_packets(any_queue());
        }
        if (d_input.once_in(2))
            poll();
    }

    queue& any_queue() { return *d_queues[d_input.up_to(d_queues.size() - 1)]; }

    void script_failures()
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
                                                   transport::error_retry_later }) };
        d_network.script.insert(d_network.script.end(), 1 + d_input.up_to(5), next);
    }

    void advance_time(std::chrono::nanoseconds time)
    {
        simulated_time::advance(time);
        poll();
    }

    void set_rate(double rate)
    {
        d_sender->set_rate(rate);
        poll();
    }

    //! \name The packer's end of the rings
    //! \{

    void put_packets(queue& to)
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
        // a real packer checks once more before it waits
        if (to.ring.has_space())
            to.ring.packer_waits.withdraw();
    }

    void begin_heap(queue& to, std::size_t destination)
    {
        to.heap = d_heaps.size();
        to.destination = destination;
        d_heaps.push_back({ d_input.up_to(9), !d_input.once_in(8) });
    }

    // Adds a packet, which usually fills its slot. False if there is no room.
    bool put_packet(queue& to)
    {
        const auto full = d_slot_bytes;
        const auto choice = d_input.up_to(15);
        const bool is_dropped = choice == 0; // ends the heap without a packet
        const auto bytes = is_dropped   ? 0
                           : choice < 3 ? stamp_bytes + d_input.up_to(full - stamp_bytes)
                           : choice < 4 ? stamp_bytes + d_input.up_to(3 * full)
                                        : full;
        const bool is_end = is_dropped || choice % 4 == 3;
        if (!claim_slots(to, bytes))
            return false;
        auto& heap = d_heaps[to.heap];
        const auto flag = is_dropped ? packet_info::heap_dropped : packet_info::heap_end;
        const int flags = is_end ? flag | (heap.has_samples ? packet_info::data : 0) : 0;
        to.ring.info(to.head.slot) = { static_cast<std::uint32_t>(bytes),
                                       static_cast<std::uint16_t>(flags),
                                       static_cast<std::uint16_t>(to.destination),
                                       is_end ? heap.samples : 0 };
        if (bytes) {
            const auto all = packet_content(d_packets.size(), bytes);
            std::memcpy(to.ring.data(to.head.slot), all.data(), bytes);
            d_packets.push_back({ to.heap, bytes, to.destination });
        }
        to.ring.advance_packet(to.head);
        heap.has_ended = is_end;
        heap.is_complete = heap.is_complete && !is_dropped;
        if (is_end)
            to.heap = no_heap;
        return true;
    }

    static bool claim_slots(queue& to, std::size_t bytes)
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

    static bytes packet_content(std::size_t number, std::size_t n)
    {
        bytes all(n, static_cast<std::uint8_t>(number));
        const auto stamp = static_cast<std::uint32_t>(number);
        std::memcpy(all.data(), &stamp, stamp_bytes);
        return all;
    }

    //! \}

    // Runs all handlers that are ready, and checks the sent packets.
    void poll()
    {
        while (d_io.poll())
            ;
        for (const auto& datagram : d_network.datagrams)
            check_datagram(datagram);
        d_network.datagrams.clear();
        for (const auto packets : d_network.packets_per_message)
            check(packets <= transport::max_segments,
                  "a message has at most max_segments packets");
        d_network.packets_per_message.clear();
        check(d_network.overwritten == 0, "packets in flight are not overwritten");
        for (std::size_t i = 0; i < d_queues.size(); ++i)
            check(d_queues[i]->ring.released() <= d_network.oldest_in_flight(i),
                  "slots of packets in flight are not released");
    }

    void check_datagram(const bytes& datagram)
    {
        std::uint32_t number = 0;
        check(datagram.size() >= stamp_bytes, "each datagram is a queued packet");
        std::memcpy(&number, datagram.data(), stamp_bytes);
        check(number < d_packets.size(), "each datagram is a queued packet");
        auto& packet = d_packets[number];
        check(datagram == packet_content(number, packet.bytes),
              "packets are sent unchanged");
        check(!packet.is_sent, "no packet is sent twice");
        packet.is_sent = true;
        auto& next = d_next[packet.destination];
        check(number >= next, "packets to a destination are sent in order");
        next = number + 1;
        d_bytes_sent += packet.bytes;
        ++d_packets_sent;
    }

    void stop_after_sending_all()
    {
        d_network.script.clear();
        d_network.refuse_segmented = 0;
        d_network.keeps_in_flight = false;
        set_rate(0);
        advance_time(20ms); // longer than any retry delay
        check(d_counters.packets_sent.get() + d_counters.packets_dropped.get() ==
                  d_packets.size(),
              "all queued packets are sent without another event");
        d_network.report(d_network.in_flight.size());
        poll();
        for (auto& queue : d_queues) {
            check(queue->ring.released() == queue->ring.published(),
                  "all slots are released");
            check(!queue->ring.packer_waits.is_set(), "a waiting packer is woken");
        }
        d_sender->close();
        poll();
        check(d_io.stopped(), "the loop ends once everything is sent");
        d_sender->drop_rest();
    }

    void stop_immediately()
    {
        if (d_input.once_in(2)) {
            d_sender->close();
            poll();
        }
        d_sender->abort();
        poll();
        check(d_io.stopped(), "the loop ends after an abort");
        d_sender->drop_rest();
    }

    void check_balance()
    {
        const auto& c = d_counters;
        check(c.packets_sent.get() == d_packets_sent, "sent packets are counted");
        check(c.packets_sent.get() + c.packets_dropped.get() == d_packets.size(),
              "lost packets are counted");
        check(c.bytes_sent.get() == d_bytes_sent, "sent bytes are counted");
        auto heaps = d_heaps;
        for (const auto& packet : d_packets)
            heaps[packet.heap].is_complete =
                heaps[packet.heap].is_complete && packet.is_sent;
        std::uint64_t sent = 0, lost = 0, heaps_sent = 0, heaps_lost = 0;
        for (const auto& heap : heaps) {
            if (!heap.has_ended)
                continue;
            (heap.is_complete ? sent : lost) += heap.samples;
            (heap.is_complete ? heaps_sent : heaps_lost) += heap.has_samples;
        }
        check(c.samples_sent.get() == sent, "samples of complete heaps count as sent");
        check(c.samples_dropped.get() == lost, "all other samples count as dropped");
        check(c.heaps_sent.get() == heaps_sent, "complete heaps count as sent");
        check(c.heaps_dropped.get() == heaps_lost, "incomplete heaps count as dropped");
    }

    fuzz_input& d_input;
    const sender_config d_config;
    const std::size_t d_slot_bytes;
    const std::size_t d_destinations;
    boost::asio::io_context d_io{ 1 };
    scripted_transport d_network{ d_io };
    sender_counters d_counters;
    std::vector<std::unique_ptr<queue>> d_queues;
    std::unique_ptr<stepped_sender> d_sender;

    std::vector<queued_heap> d_heaps;
    std::vector<queued_packet> d_packets;      // by number
    std::map<std::size_t, std::size_t> d_next; // lowest allowed number per destination
    std::size_t d_packets_sent = 0;
    std::uint64_t d_bytes_sent = 0;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    sent_stream(input).run();
    return 0;
}
