/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// A network that does what the test says, errno by errno.

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

//! What is in pieces, one after the other.
inline bytes content(const iovec* pieces, std::size_t n)
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
    const auto all = content(m.pieces, m.n_pieces);
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
    //! What becomes of the next sends: messages that go, then an error or 0.
    struct step {
        std::size_t messages;
        int error;
    };

    boost::asio::io_context& io;
    std::deque<step> script;          // then everything goes
    int refuse_segmented = 0;         // this error for each segmented message
    std::size_t refusals_left = 1000; // so often
    std::vector<bytes> datagrams;     // what went
    std::vector<std::size_t> runs;    // packets in each message that went
    gr::spead::icmp_errors icmp_errors;
    std::size_t sends = 0;
    std::size_t writable_waits = 0;

    //! What goes is held, as if it were not copied, until it is reported.
    bool holds = false;
    struct reading {
        std::uint64_t position;
        std::size_t queue;
        std::vector<iovec> pieces;
        bytes at_first;
        bytes now() const { return content(pieces.data(), pieces.size()); }
    };
    std::deque<reading> held;
    std::size_t reported = 0; // of those, not taken yet
    std::size_t spoilt = 0;   // written over while they were held
    std::function<void()> on_reports;

    explicit scripted_transport(boost::asio::io_context& context) : io(context) {}

    gr::spead::send_result send(const gr::spead::message* messages,
                                std::size_t n) noexcept override
    {
        ++sends;
        step now{ n, 0 };
        if (!script.empty()) {
            now = script.front();
            script.pop_front();
        }
        for (std::size_t i = 0; i < std::min(n, now.messages); ++i) {
            if (messages[i].segmented() && refuse_segmented && refusals_left) {
                if (i == 0)
                    --refusals_left;
                return { i, i ? 0 : refuse_segmented };
            }
            take(messages[i]);
            if (holds)
                hold(messages[i]);
        }
        // the error of a message behind others is lost, as with sendmmsg
        if (now.messages >= n)
            return { n, 0 };
        return now.messages ? gr::spead::send_result{ now.messages, 0 }
                            : gr::spead::send_result{ 0, now.error };
    }

    void async_wait_writable(std::function<void()> handler) override
    {
        ++writable_waits;
        boost::asio::post(io, std::move(handler));
    }

    gr::spead::icmp_errors take_reports() noexcept override
    {
        for (; reported && !held.empty(); --reported) {
            spoilt += held.front().now() != held.front().at_first;
            held.pop_front();
        }
        return std::exchange(icmp_errors, {});
    }

    std::uint64_t in_flight_from(std::size_t queue) const noexcept override
    {
        const auto oldest = std::find_if(held.begin(), held.end(), [&](const auto& one) {
            return one.queue == queue;
        });
        return oldest == held.end() ? no_position : oldest->position;
    }

    void async_wait_reports(std::function<void()> handler) override
    {
        on_reports = std::move(handler);
        if (reported)
            report(0);
    }

    //! On the thread of the sender: so many more of the oldest have been read.
    void report(std::size_t messages)
    {
        reported = std::min(held.size(), reported + messages);
        if (on_reports)
            boost::asio::post(io, std::exchange(on_reports, nullptr));
    }

private:
    void hold(const gr::spead::message& m)
    {
        held.push_back({ m.position, m.queue, { m.pieces, m.pieces + m.n_pieces }, {} });
        held.back().at_first = held.back().now();
    }
    void take(const gr::spead::message& m)
    {
        auto packets = packets_of(m);
        runs.push_back(packets.size());
        std::move(packets.begin(), packets.end(), std::back_inserter(datagrams));
    }
};

#endif /* INCLUDED_SPEAD_CORE_TESTS_SCRIPTED_TRANSPORT_H */
