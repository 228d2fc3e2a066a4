/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Streams whose cost is looked at: through an engine, and through its parts with a
// network in between that counts.

#ifndef INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H

#include "helpers/packing.h"
#include "helpers/stress.h"
#include "sink_engine.h"

#include <boost/asio/ip/udp.hpp>

#include <cstdlib>

//! A socket on this host that nobody reads: what its buffer cannot hold is dropped there.
//! Or what SPEAD_COST_DESTINATION says, such as a device that needs no copy.
class unread_socket
{
public:
    gr::spead::endpoint address() const
    {
        if (is_here())
            return { "127.0.0.1", d_socket.local_endpoint().port() };
        return gr::spead::parse_endpoints("destinations", elsewhere).at(0);
    }
    std::string destination() const
    {
        return address().host + ":" + std::to_string(address().port);
    }
    bool is_here() const { return !elsewhere; }

private:
    const char* const elsewhere = std::getenv("SPEAD_COST_DESTINATION");
    boost::asio::io_context d_io;
    boost::asio::ip::udp::socket d_socket{
        d_io, { boost::asio::ip::address_v4::loopback(), 0 }
    };
};

//! Counts the sends, which go on to \p way, if there is one.
struct counting_network : gr::spead::transport {
    gr::spead::transport* const way;
    gr::spead::counter sends;

    explicit counting_network(gr::spead::transport* to) : way(to) {}

    gr::spead::send_result send(const gr::spead::message* messages,
                                std::size_t n) noexcept override
    {
        sends.add(1);
        return way ? way->send(messages, n) : gr::spead::send_result{ n, 0 };
    }
    void async_wait_writable(std::function<void()> handler) override
    {
        way->async_wait_writable(std::move(handler));
    }
    gr::spead::icmp_errors take_reports() noexcept override
    {
        return way ? way->take_reports() : gr::spead::icmp_errors();
    }
    std::uint64_t in_flight_from(std::size_t queue) const noexcept override
    {
        return way ? way->in_flight_from(queue) : nothing;
    }
    void async_wait_reports(std::function<void()> handler) override
    {
        way->async_wait_reports(std::move(handler));
    }
};

//! What an engine puts together, open to view.
class open_stream
{
public:
    open_stream(const packing& how,
                const gr::spead::sink_options& options,
                const unread_socket* to = nullptr)
        : d_config(how.config()),
          d_way(to ? std::make_unique<gr::spead::udp_transport>(
                         d_io, std::vector{ to->address() }, gr::spead::sink_options())
                   : nullptr),
          network(d_way.get()),
          ring(how.slots, d_config.regular.packet_bytes()),
          d_packer(d_config,
                   ring,
                   d_packed,
                   [this] {
                       wakes.add(1);
                       d_sender.wake();
                   }),
          d_sender(
              d_io,
              std::vector<gr::spead::packet_ring*>{ &ring },
              network,
              d_sent,
              options,
              [this] {
                  spaces.add(1);
                  space.notify();
              },
              d_log)
    {
    }

    void start()
    {
        d_packer.start_run();
        d_sender.start();
    }
    bool stop()
    {
        const auto deadline = gr::spead::sender::clock::now() + bound;
        const bool ended = end_stream(d_packer);
        d_sender.finish(deadline);
        return ended;
    }
    std::size_t write(const std::int8_t* samples, std::size_t n)
    {
        d_mark = ring.released();
        const auto taken = d_packer.write(raw(samples), n);
        writes.add(1);
        refusals.add(!taken);
        return taken;
    }
    bool wait_for_space() { return ::wait_for_space(space, ring, d_mark); }
    bool sender_sleeps() const
    {
        return ring.sender_sleeps.is_set() && ring.released() == ring.published();
    }
    const gr::spead::sender_counters& sent() const { return d_sent; }

private:
    const gr::spead::stream_config d_config;
    boost::asio::io_context d_io{ 1 };
    const std::unique_ptr<gr::spead::udp_transport> d_way;
    gr::spead::sink_counter_set d_packed;
    gr::spead::sender_counters d_sent;
    gr::spead::rate_limited_log d_log{ [](const auto&) {} };

public:
    gr::spead::ring_wait space;
    gr::spead::counter writes;
    gr::spead::counter refusals; // of a write(), which the writer waits for
    gr::spead::counter wakes;    // of the sender
    gr::spead::counter spaces;   // wake-ups of the writer
    counting_network network;
    gr::spead::packet_ring ring;

private:
    std::uint64_t d_mark = 0; // of the last write()
    gr::spead::input_packer d_packer;
    gr::spead::sender d_sender;
};

//! An engine that has one input.
struct only_input {
    gr::spead::sink_engine& stream;

    std::size_t write(const std::int8_t* samples, std::size_t n)
    {
        return stream.write(0, raw(samples), n);
    }
    bool wait_for_space() { return stream.wait_for_space(in_time()); }
};

//! Hands \p total samples over as a block does, \p chunk at a time, and waits for room;
//! false if a wait was in vain.
template <typename stream>
bool pass(stream& s,
          const std::vector<std::int8_t>& samples,
          std::size_t total,
          std::size_t chunk)
{
    for (std::size_t passed = 0; passed < total;) {
        const auto n = std::min({ chunk, samples.size(), total - passed });
        const auto taken = s.write(samples.data(), n);
        passed += taken;
        if (!taken && !s.wait_for_space())
            return false;
    }
    return true;
}

//! Waits for what nobody signals; false if it does not happen.
template <typename condition>
bool await(condition&& happened)
{
    const auto deadline = std::chrono::steady_clock::now() + bound;
    while (!happened()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::yield();
    }
    return true;
}

#endif /* INCLUDED_SPEAD_CORE_TESTS_COST_STREAM_H */
