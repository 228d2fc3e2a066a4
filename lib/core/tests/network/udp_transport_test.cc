/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/scripted_transport.h"
#include "helpers/stress.h"
#include "network/udp_transport.h"

#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>

using namespace gr::spead;
using boost::asio::ip::udp;

namespace {

constexpr std::size_t packet_bytes = 4160;

class receiver
{
public:
    explicit receiver(const std::string& address)
        : d_socket(d_io, { boost::asio::ip::make_address(address), 0 })
    {
        d_socket.non_blocking(true);
    }
    endpoint address() const
    {
        const auto local = d_socket.local_endpoint();
        return { local.address().to_string(), local.port() };
    }
    void close() { d_socket.close(); }

    // Waits for n datagrams, then returns all that have arrived.
    std::vector<bytes> receive(std::size_t n)
    {
        std::vector<bytes> datagrams;
        for (const auto end = test_deadline();;) {
            bytes datagram(65536);
            boost::system::error_code error;
            const auto size =
                d_socket.receive_from(boost::asio::buffer(datagram), d_from, 0, error);
            if (!error) {
                datagram.resize(size);
                datagrams.push_back(std::move(datagram));
            } else if (datagrams.size() >= n || std::chrono::steady_clock::now() > end) {
                return datagrams;
            }
        }
    }
    void reply(std::size_t datagrams) // to the last sender
    {
        const bytes datagram(1000);
        for (; datagrams; --datagrams)
            d_socket.send_to(boost::asio::buffer(datagram), d_from);
    }

private:
    boost::asio::io_context d_io;
    udp::socket d_socket;
    udp::endpoint d_from;
};

struct network {
    boost::asio::io_context io;
    std::deque<receiver> receivers;
    std::optional<udp_transport> out;

    explicit network(const std::vector<std::string>& addresses)
    {
        std::vector<endpoint> endpoints;
        for (const auto& address : addresses) {
            receivers.emplace_back(address);
            endpoints.push_back(receivers.back().address());
        }
        out.emplace(io, endpoints);
    }
    explicit network(std::size_t receivers)
        : network(std::vector<std::string>(receivers, "127.0.0.1"))
    {
    }
};

// One message per destination. The pieces of different messages alternate in memory.
class message_list
{
public:
    message_list(std::size_t destinations,
                 std::size_t pieces,
                 std::size_t packets_in_a_piece)
        : d_memory(destinations * pieces * packets_in_a_piece * packet_bytes),
          d_pieces(destinations)
    {
        std::mt19937 random(1);
        for (auto& byte : d_memory)
            byte = static_cast<std::uint8_t>(random());
        const std::size_t piece = packets_in_a_piece * packet_bytes;
        for (std::size_t i = 0; i < destinations * pieces; ++i)
            d_pieces[i % destinations].push_back({ &d_memory[i * piece], piece });
        for (auto& message_pieces : d_pieces) {
            message_pieces.back().iov_len -= 1000; // the last packet is shorter
            all.push_back({ message_pieces.data(),
                            pieces,
                            pieces * piece - 1000,
                            packet_bytes,
                            0,
                            static_cast<std::uint16_t>(all.size()) });
        }
    }
    std::vector<message> all;

private:
    bytes d_memory;
    std::vector<std::vector<iovec>> d_pieces;
};

void check_each_destination_gets_its_message(network& n, const message_list& messages)
{
    const auto result = n.out->send(messages.all.data(), messages.all.size());
    BOOST_CHECK_EQUAL(result.sent, messages.all.size());
    BOOST_CHECK_EQUAL(result.error, 0);
    for (std::size_t i = 0; i < messages.all.size(); ++i) {
        const auto expected = packets_of(messages.all[i]);
        BOOST_CHECK(n.receivers[i].receive(expected.size()) == expected);
    }
    BOOST_CHECK_EQUAL(n.out->take_reports().count, 0u);
}

boost::test_tools::assertion_result has_ipv6(boost::unit_test::test_unit_id)
{
    boost::asio::io_context io;
    boost::system::error_code error;
    udp::socket socket(io);
    if (!socket.open(udp::v6(), error))
        socket.bind({ boost::asio::ip::address_v6::loopback(), 0 }, error);
    return !error;
}

} // namespace

BOOST_AUTO_TEST_SUITE(udp_transports)

BOOST_AUTO_TEST_CASE(gathered_packets_arrive_in_order)
{
    for (const std::size_t destinations : { 1, 8 }) { // connected and unconnected socket
        network n(destinations);
        check_each_destination_gets_its_message(n, message_list(destinations, 15, 1));
        check_each_destination_gets_its_message(
            n, message_list(destinations, 1, 1)); // one packet
    }
}

BOOST_AUTO_TEST_CASE(gathered_packets_arrive_over_ipv6,
                     *boost::unit_test::precondition(has_ipv6))
{
    network n({ "::1", "::1", "::1" });
    BOOST_CHECK_GE(n.out->max_packet_bytes(), 1232u);
    check_each_destination_gets_its_message(n, message_list(3, 15, 1));
}

// The kernel reports a copy because the receivers are local.
BOOST_AUTO_TEST_CASE(zero_copy_is_used_until_the_kernel_reports_a_copy)
{
    network n(8);
    BOOST_CHECK(n.out->zero_copy_active());
    check_each_destination_gets_its_message(n, message_list(8, 2, 6));
    BOOST_CHECK_EQUAL(n.out->oldest_in_flight(0), transport::no_position);
    BOOST_CHECK(!n.out->zero_copy_active());
    check_each_destination_gets_its_message(n, message_list(8, 2, 6));
}

BOOST_AUTO_TEST_CASE(icmp_error_does_not_drop_a_message_to_another_destination)
{
    network n(2);
    n.receivers[0].close();
    const message_list messages(2, 1, 1);
    const auto* other = &messages.all[1];
    BOOST_CHECK_EQUAL(n.out->send(messages.all.data(), 1).sent, 1u);
    const auto result = n.out->send(other, 1);
    BOOST_CHECK_EQUAL(result.sent, 0u);
    BOOST_CHECK_EQUAL(result.error, 0);
    BOOST_CHECK_EQUAL(n.out->send(other, 1).sent, 1u);
    BOOST_CHECK(n.receivers[1].receive(1) == packets_of(*other));
    const auto errors = n.out->take_reports();
    BOOST_CHECK_EQUAL(errors.count, 1u);
    BOOST_CHECK_EQUAL(errors.causes.count(), 1u);
    BOOST_CHECK(errors.causes[ECONNREFUSED]);
    BOOST_CHECK(n.out->take_reports().causes.none());
}

BOOST_AUTO_TEST_CASE(incoming_datagrams_do_not_displace_error_reports)
{
    network n(2);
    const message_list messages(2, 1, 1);
    BOOST_REQUIRE_EQUAL(n.out->send(messages.all.data(), 2).sent, 2u);
    n.receivers[0].receive(1);
    n.receivers[0].reply(10000);
    n.receivers[1].close();
    BOOST_REQUIRE_EQUAL(n.out->send(messages.all.data(), 2).sent, 2u);
    BOOST_CHECK_GT(n.out->take_reports().count, 0u);
}

BOOST_AUTO_TEST_SUITE_END()
