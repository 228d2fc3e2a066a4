/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A stream into a network that reads packets where they lie, long after it has taken
// them.

#ifndef INCLUDED_SPEAD_CORE_TESTS_IN_FLIGHT_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_IN_FLIGHT_STREAM_H

#include "packing.h"
#include "scripted_transport.h"
#include "send/sender.h"
#include "stress.h"

#include <boost/test/unit_test.hpp>

#include <future>
#include <optional>

struct in_flight_stream {
    static constexpr std::size_t slots = 64;
    static constexpr std::size_t several_rings = 8 * slots * 1400;

    packing p;
    gr::spead::stream_config config = p.config();
    boost::asio::io_context io;
    gr::spead::sink_counter_set packed;
    gr::spead::sender_counters sent;
    gr::spead::rate_limited_log lines{ [](const auto&) {} };
    gr::spead::packet_ring ring{ slots, config.regular.packet_bytes() };
    scripted_transport network{ io };
    gr::spead::input_packer packer{ config, ring, packed, [this] { out->wake(); } };
    gr::spead::ring_wait space;
    const std::vector<std::int8_t> samples = noise(several_rings);
    std::size_t written = 0;
    std::optional<gr::spead::sender> out;

    in_flight_stream() { make_sender({}); }

    void make_sender(const gr::spead::sink_options& options)
    {
        network.holds = true;
        out.emplace(
            io,
            std::vector<gr::spead::packet_ring*>{ &ring },
            network,
            sent,
            options,
            [this] { space.notify(); },
            lines);
    }

    void start()
    {
        packer.start_run();
        out->start();
    }
    void write_what_fits()
    {
        std::size_t taken = 0;
        do {
            taken = packer.write(raw(samples.data() + written), samples.size() - written);
            written += taken;
        } while (taken);
        BOOST_REQUIRE_LT(written, samples.size());
    }
    // in the end the packer waits, and the sender has nothing to do
    void fill()
    {
        write_what_fits();
        until([&] { return done_with() == ring.published(); });
        ring.packer_waits.announce();
    }
    // the rest of the samples, and the end of the stream
    void finish_stream()
    {
        for (bool ended = false; !ended;) {
            const auto mark = ring.released();
            const auto taken =
                packer.write(raw(samples.data() + written), samples.size() - written);
            written += taken;
            ended = written == samples.size() && end_stream(packer);
            if (!taken && !ended)
                BOOST_REQUIRE_MESSAGE(wait_for_space(space, ring, mark),
                                      "a wake-up was lost");
        }
    }
    // all packets take one slot here
    std::uint64_t done_with() const
    {
        return sent.packets_sent.get() + sent.packets_dropped.get();
    }
    // on the thread of the sender, or when it runs again
    template <typename action>
    void post(action&& a)
    {
        boost::asio::post(io, std::forward<action>(a));
    }
    void report(std::size_t messages)
    {
        post([this, messages] { network.report(messages); });
    }
    // as a device that has done with all, whenever there are some
    void report_on_and_on()
    {
        post([this] {
            network.holds = false;
            network.report(network.held.size());
        });
    }
    // what the thread of the sender sees, after what it has to do now
    template <typename question>
    auto ask(question&& q)
    {
        std::promise<decltype(q())> answer;
        auto future = answer.get_future();
        post([&] { answer.set_value(q()); });
        BOOST_REQUIRE(future.wait_for(bound) == std::future_status::ready);
        return future.get();
    }
    template <typename condition>
    static void until(condition&& c)
    {
        const auto end = std::chrono::steady_clock::now() + bound;
        while (!c()) {
            BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::yield();
        }
    }
    bool stop_in_time()
    {
        const auto deadline = gr::spead::sender::clock::now() + bound;
        out->finish(deadline);
        return gr::spead::sender::clock::now() < deadline;
    }
    void check_all_arrived()
    {
        BOOST_CHECK(stop_in_time());
        BOOST_CHECK(network.datagrams == pack(p, samples));
        BOOST_CHECK_EQUAL(network.spoilt, 0u);
        BOOST_CHECK_EQUAL(sent.samples_sent.get(), samples.size());
        BOOST_CHECK_EQUAL(sent.packets_dropped.get(), 0u);
    }
};

#endif /* INCLUDED_SPEAD_CORE_TESTS_IN_FLIGHT_STREAM_H */
