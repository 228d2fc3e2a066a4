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
#include "pack/ring_writer.h"
#include "send/sender.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

// Limits the work that an input causes.
constexpr std::size_t max_packets = 500;
constexpr std::size_t stamp_bytes = 4; // the number of the packet, at its start

struct queued_heap {
    std::uint64_t samples;
    bool has_samples; // otherwise it has descriptors
    std::size_t destination;
    std::size_t packets_missing = 0;
    bool has_ended = false;
};

struct queued_packet {
    std::size_t heap;
    std::size_t bytes;
    bool is_sent = false;
};

constexpr std::initializer_list<int> send_errors{ EAGAIN,
                                                  ENOBUFS,
                                                  ENOMEM,
                                                  ECONNREFUSED,
                                                  EINTR,
                                                  ENETUNREACH,
                                                  EPERM,
                                                  EIO,
                                                  EINVAL,
                                                  EMSGSIZE,
                                                  transport::error_retry_later };

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
            d_rings.push_back(std::make_unique<filled_ring>(slots, d_slot_bytes));
            all.push_back(&d_rings.back()->ring);
        }
        d_sender = std::make_unique<stepped_sender>(
            d_io, all, d_network, d_counters, d_config, [] {}, discarding_log());
        set_rate(d_config.rate);
    }

    void run()
    {
        do {
            for (auto& filled : d_rings)
                filled->heap = no_heap;
            d_sender->reset_run();
            d_sender->start_sending();
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
    struct filled_ring {
        filled_ring(std::size_t slots, std::size_t slot_bytes) : ring(slots, slot_bytes)
        {
        }
        packet_ring ring;
        bool must_wake_sender = false;
        ring_writer writer{ ring, [this] { must_wake_sender = true; } };
        std::size_t heap = no_heap;
    };
    static constexpr auto no_heap = static_cast<std::size_t>(-1);

    bool is_done() const { return d_input.empty() || d_packets.size() >= max_packets; }

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
            auto& ring = any_ring().ring;
            ring.set_limit(8 + d_input.up_to(ring.slots() - 8));
            break;
        }
        case 7:
        case 8:
        case 9: {
            const auto messages = d_input.up_to(2);
            const auto error = d_input.one_of(send_errors);
            d_network.script.insert(
                d_network.script.end(), 1 + d_input.up_to(5), { messages, error });
            break;
        }
        default:
            put_packets(any_ring());
        }
        if (d_input.once_in(2))
            poll();
    }

    filled_ring& any_ring() { return *d_rings[d_input.up_to(d_rings.size() - 1)]; }

    void advance_time(std::chrono::nanoseconds time)
    {
        simulated_time::advance(time);
        poll();
    }

    void set_rate(double rate)
    {
        poll(); // the old rate applies until here
        d_sender->set_rate(rate);
        d_rate_change = std::chrono::steady_clock::now();
        d_sent_before_change = d_bytes_sent;
        poll();
    }

    void put_packets(filled_ring& filled)
    {
        const auto destination = d_input.up_to(d_destinations - 1);
        const auto packets = 1 + d_input.up_to(d_input.once_in(4) ? 70 : 6);
        bool is_full = false;
        for (std::size_t i = 0; i < packets && !is_full; ++i) {
            if (filled.heap == no_heap) {
                filled.heap = d_heaps.size();
                d_heaps.push_back({ d_input.up_to(9), !d_input.once_in(8), destination });
            }
            is_full = !put_packet(filled);
        }
        filled.writer.publish();
        if (std::exchange(filled.must_wake_sender, false))
            d_sender->wake();
        if (!is_full)
            return;
        filled.ring.packer_waits.announce();
        // a real packer checks once more before it waits
        if (filled.ring.has_space())
            filled.ring.packer_waits.withdraw();
    }

    // Adds a packet, which usually fills its slot. False if there is no room.
    bool put_packet(filled_ring& filled)
    {
        const auto full = d_slot_bytes;
        const auto choice = d_input.up_to(15);
        const bool is_dropped = choice == 0; // ends the heap without a packet
        const auto bytes = is_dropped   ? 0
                           : choice < 3 ? stamp_bytes + d_input.up_to(full - stamp_bytes)
                           : choice < 4 ? stamp_bytes + d_input.up_to(3 * full)
                                        : full;
        auto& heap = d_heaps[filled.heap];
        const bool is_end = is_dropped || choice % 4 == 3;
        const auto flag = is_dropped ? packet_info::heap_dropped : packet_info::heap_end;
        const int flags = is_end ? flag | (heap.has_samples ? packet_info::data : 0) : 0;
        if (!filled.writer.write({ packet_content(d_packets.size(), bytes),
                                   { static_cast<std::uint32_t>(bytes),
                                     static_cast<std::uint16_t>(flags),
                                     static_cast<std::uint16_t>(heap.destination),
                                     is_end ? heap.samples : 0 } }))
            return false;
        if (bytes)
            d_packets.push_back({ filled.heap, bytes });
        ++heap.packets_missing; // a dropped packet is never sent
        heap.has_ended = is_end;
        if (is_end)
            filled.heap = no_heap;
        return true;
    }

    static std::vector<std::byte> packet_content(std::size_t number, std::size_t n)
    {
        std::vector<std::byte> all(n, static_cast<std::byte>(number));
        const auto stamp = static_cast<std::uint32_t>(number);
        std::copy_n(reinterpret_cast<const std::byte*>(&stamp),
                    std::min(n, stamp_bytes),
                    all.begin());
        return all;
    }

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
        check(d_network.largest_segmented <= transport::max_segmented_bytes,
              "a segmented message has at most max_segmented_bytes");
        check_rate();
        check(d_network.overwritten == 0, "packets in flight are not overwritten");
        for (std::size_t i = 0; i < d_rings.size(); ++i)
            check(d_rings[i]->ring.released() <= d_network.oldest_in_flight(i),
                  "slots of packets in flight are not released");
    }

    void check_rate() const
    {
        const auto rate = d_sender->rate();
        const std::chrono::duration<double> time =
            std::chrono::steady_clock::now() - d_rate_change;
        const auto slot_bytes = static_cast<double>(d_slot_bytes);
        const auto burst = pacer::burst_size(
            static_cast<double>(d_config.burst_bytes), slot_bytes, rate);
        const auto allowed = 2 * burst + (1 + pacer::catch_up) * rate * time.count();
        const auto sent = static_cast<double>(d_bytes_sent - d_sent_before_change);
        // one packet may exceed the burst
        check(rate == 0 || sent <= allowed + 4 * slot_bytes, "the rate is the limit");
    }

    void check_datagram(const bytes& datagram)
    {
        std::uint32_t number = 0;
        check(datagram.size() >= stamp_bytes, "each datagram is a queued packet");
        std::memcpy(&number, datagram.data(), stamp_bytes);
        check(number < d_packets.size(), "each datagram is a queued packet");
        auto& packet = d_packets[number];
        const auto content = packet_content(number, packet.bytes);
        check(datagram.size() == content.size() &&
                  std::memcmp(datagram.data(), content.data(), content.size()) == 0,
              "packets are sent unchanged");
        check(!packet.is_sent, "no packet is sent twice");
        packet.is_sent = true;
        auto& heap = d_heaps[packet.heap];
        --heap.packets_missing;
        auto& next = d_next[heap.destination];
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
        if (d_sender->rate() != 0) // otherwise, no event may wake the sender
            set_rate(0);
        advance_time(20ms); // longer than any retry delay
        check(d_counters.packets_sent.get() + d_counters.packets_dropped.get() ==
                  d_packets.size(),
              "all queued packets are sent without another event");
        d_network.report(d_network.in_flight.size());
        poll();
        for (auto& filled : d_rings) {
            check(filled->ring.released() == filled->ring.published(),
                  "all slots are released");
            check(!filled->ring.packer_waits.is_set(), "a waiting packer is woken");
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
        std::uint64_t sent = 0, lost = 0, heaps_sent = 0, heaps_lost = 0;
        for (const auto& heap : d_heaps)
            if (heap.has_ended) {
                const bool is_sent = heap.packets_missing == 0;
                (is_sent ? sent : lost) += heap.samples;
                (is_sent ? heaps_sent : heaps_lost) += heap.has_samples;
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
    std::vector<std::unique_ptr<filled_ring>> d_rings;
    std::unique_ptr<stepped_sender> d_sender;

    std::vector<queued_heap> d_heaps;
    std::vector<queued_packet> d_packets;      // by number
    std::map<std::size_t, std::size_t> d_next; // lowest allowed number per destination
    std::size_t d_packets_sent = 0;
    std::uint64_t d_bytes_sent = 0;
    std::chrono::steady_clock::time_point d_rate_change;
    std::uint64_t d_sent_before_change = 0; // bytes
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    fuzz_input input(data, size);
    sent_stream(input).run();
    return 0;
}
