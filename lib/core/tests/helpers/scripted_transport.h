/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A transport whose results, errno by errno, the test scripts.

#ifndef INCLUDED_SPEAD_CORE_TESTS_SCRIPTED_TRANSPORT_H
#define INCLUDED_SPEAD_CORE_TESTS_SCRIPTED_TRANSPORT_H

#include "decoder.h"
#include "network/transport.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

//! The concatenated bytes of all pieces.
inline bytes gather(const iovec* pieces, std::size_t n)
{
    bytes all;
    for (const auto* piece = pieces; piece != pieces + n; ++piece) {
        const auto* at = static_cast<const std::uint8_t*>(piece->iov_base);
        all.insert(all.end(), at, at + piece->iov_len);
    }
    return all;
}

//! The packets of a message.
inline std::vector<bytes> packets_of(const gr::spead::message& m)
{
    const auto all = gather(m.pieces, m.n_pieces);
    std::vector<bytes> packets;
    for (auto at = all.begin(); at != all.end();) {
        const auto left = static_cast<std::size_t>(all.end() - at);
        const auto end = at + static_cast<std::ptrdiff_t>(std::min(m.packet_bytes, left));
        packets.emplace_back(at, end);
        at = end;
    }
    return packets;
}

struct scripted_transport : gr::spead::transport {
    //! The outcome of one send().
    struct step {
        std::size_t messages; //!< sent before the error
        int error;            //!< 0: none
    };

    boost::asio::io_context& io;
    std::deque<step> script;          // after its last step, all sends succeed
    int refuse_segmented = 0;         // if not 0, segmented messages fail with this error
    std::size_t refusals_left = 1000; // how many times they fail
    std::vector<bytes> datagrams;     // sent
    std::vector<std::size_t> packets_per_message; // of the messages sent
    std::size_t largest_segmented = 0;            // bytes of a message sent
    gr::spead::icmp_errors icmp_errors;
    std::size_t send_calls = 0;
    std::size_t writable_waits = 0;

    //! Keeps sent messages in flight until report(), like zero-copy sends.
    bool keeps_in_flight = false;
    struct in_flight_message {
        std::uint64_t position;
        std::size_t ring_index;
        std::vector<iovec> pieces;
        bytes sent_content;
        bytes current_content() const { return gather(pieces.data(), pieces.size()); }
    };
    std::deque<in_flight_message> in_flight;
    std::vector<boost::asio::ip::udp::endpoint> destinations; // none
    std::size_t unread_reports = 0;                           // of messages in flight
    std::size_t overwritten = 0; // messages changed while in flight
    std::function<void()> report_handler;

    explicit scripted_transport(boost::asio::io_context& context) : io(context) {}

    const std::vector<boost::asio::ip::udp::endpoint>& addresses() const override
    {
        return destinations;
    }
    gr::spead::send_result send(const gr::spead::message* messages,
                                std::size_t n) noexcept override
    {
        ++send_calls;
        step outcome{ n, 0 };
        if (!script.empty()) {
            outcome = script.front();
            script.pop_front();
        }
        for (std::size_t i = 0; i < std::min(n, outcome.messages); ++i) {
            if (messages[i].segmented() && refuse_segmented && refusals_left) {
                if (i == 0)
                    --refusals_left;
                return { i, i ? 0 : refuse_segmented };
            }
            record_sent(messages[i]);
            if (keeps_in_flight)
                keep_in_flight(messages[i]);
        }
        // like sendmmsg, loses the error if an earlier message was sent
        if (outcome.messages >= n)
            return { n, 0 };
        return outcome.messages ? gr::spead::send_result{ outcome.messages, 0 }
                                : gr::spead::send_result{ 0, outcome.error };
    }

    void async_wait_writable(std::function<void()> handler) override
    {
        ++writable_waits;
        boost::asio::post(io, std::move(handler));
    }

    gr::spead::icmp_errors take_reports() noexcept override
    {
        for (; unread_reports && !in_flight.empty(); --unread_reports) {
            const auto& oldest = in_flight.front();
            overwritten += oldest.current_content() != oldest.sent_content;
            in_flight.pop_front();
        }
        return std::exchange(icmp_errors, {});
    }

    std::uint64_t oldest_in_flight(std::size_t ring_index) const noexcept override
    {
        const auto oldest =
            std::find_if(in_flight.begin(), in_flight.end(), [&](const auto& message) {
                return message.ring_index == ring_index;
            });
        return oldest == in_flight.end() ? no_position : oldest->position;
    }

    void async_wait_reports(std::function<void()> handler) override
    {
        report_handler = std::move(handler);
        if (unread_reports)
            report(0);
    }

    //! Reports completion of the oldest messages. Call it on the sender thread.
    void report(std::size_t messages)
    {
        unread_reports = std::min(in_flight.size(), unread_reports + messages);
        if (report_handler)
            boost::asio::post(io, std::exchange(report_handler, nullptr));
    }

private:
    void keep_in_flight(const gr::spead::message& m)
    {
        in_flight.push_back(
            { m.position, m.ring_index, { m.pieces, m.pieces + m.n_pieces }, {} });
        in_flight.back().sent_content = in_flight.back().current_content();
    }
    void record_sent(const gr::spead::message& m)
    {
        if (m.segmented())
            largest_segmented = std::max(largest_segmented, m.bytes);
        auto packets = packets_of(m);
        packets_per_message.push_back(packets.size());
        std::move(packets.begin(), packets.end(), std::back_inserter(datagrams));
    }
};

#endif /* INCLUDED_SPEAD_CORE_TESTS_SCRIPTED_TRANSPORT_H */
