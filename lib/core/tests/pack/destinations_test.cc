/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// One socket for several destinations, and real sockets at those.

#include "helpers/scripted_transport.h"
#include "helpers/stress.h"
#include "network/udp_transport.h"
#include "support/parameter_error.h"

#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>

using namespace gr::spead;
using boost::asio::ip::udp;

namespace {

constexpr std::size_t packet_bytes = 4160;

// A socket of this host, at a port of its own.
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
        const auto here = d_socket.local_endpoint();
        return { here.address().to_string(), here.port() };
    }
    void close() { d_socket.close(); }

    // So many datagrams, and what else there is by then.
    std::vector<bytes> received(std::size_t n)
    {
        std::vector<bytes> datagrams;
        const auto end = std::chrono::steady_clock::now() + bound;
        for (;;) {
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
    // To the one whose datagrams were received.
    void reply(std::size_t datagrams)
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
    std::vector<endpoint> endpoints;
    std::optional<udp_transport> out;

    explicit network(const std::vector<std::string>& addresses)
    {
        for (const auto& address : addresses) {
            receivers.emplace_back(address);
            endpoints.push_back(receivers.back().address());
        }
    }
    void connect(const sink_options& options = {})
    {
        out.emplace(io, endpoints, options);
    }
};

std::vector<std::string> addresses_of_this_host(std::size_t n)
{
    std::vector<std::string> addresses;
    for (std::size_t i = 1; i <= n; ++i)
        addresses.push_back("127.0.0." + std::to_string(i));
    return addresses;
}

// Packets for several destinations in turn, and a message to each of them.
class ring
{
public:
    ring(std::size_t destinations, std::size_t pieces, std::size_t packets_in_a_piece)
        : d_memory(destinations * pieces * packets_in_a_piece * packet_bytes),
          d_pieces(destinations)
    {
        std::mt19937 random(1);
        std::generate(d_memory.begin(), d_memory.end(), [&] {
            return static_cast<std::uint8_t>(random());
        });
        const std::size_t piece = packets_in_a_piece * packet_bytes;
        for (std::size_t i = 0; i < destinations * pieces; ++i)
            d_pieces[i % destinations].push_back({ &d_memory[i * piece], piece });
        for (auto& of : d_pieces) {
            of.back().iov_len -= 1000; // the last packet is a shorter one
            messages.push_back({ of.data(),
                                 pieces,
                                 pieces * piece - 1000,
                                 packet_bytes,
                                 0,
                                 static_cast<std::uint16_t>(messages.size()) });
        }
    }
    std::vector<message> messages;

private:
    bytes d_memory;
    std::vector<std::vector<iovec>> d_pieces;
};

// Sends all, however often it takes; false if one failed.
bool send_all(udp_transport& out, const std::vector<message>& messages)
{
    for (std::size_t gone = 0; gone < messages.size();) {
        const auto result = out.send(&messages[gone], messages.size() - gone);
        if (result.error)
            return false;
        gone += result.sent;
    }
    return true;
}

void check_each_receives_its_own(network& n, const ring& r)
{
    const auto result = n.out->send(r.messages.data(), r.messages.size());
    BOOST_CHECK_EQUAL(result.sent, r.messages.size());
    BOOST_CHECK_EQUAL(result.error, 0);
    for (std::size_t i = 0; i < r.messages.size(); ++i) {
        const auto expected = packets_of(r.messages[i]);
        BOOST_CHECK(n.receivers[i].received(expected.size()) == expected);
    }
    BOOST_CHECK_EQUAL(n.out->take_reports().count, 0u);
}

} // namespace

BOOST_AUTO_TEST_SUITE(destinations)

BOOST_AUTO_TEST_CASE(gathered_packets_arrive_in_order_where_they_belong)
{
    for (const std::size_t destinations : { 1, 8 }) { // connected, and not
        network n(addresses_of_this_host(destinations));
        n.connect();
        check_each_receives_its_own(n, ring(destinations, 15, 1));
        check_each_receives_its_own(n, ring(destinations, 1, 1)); // not segmented
    }
}

// On this host the kernel copies what it was asked not to copy, in the end.
BOOST_AUTO_TEST_CASE(large_pieces_may_leave_without_a_copy)
{
    network n(addresses_of_this_host(8));
    n.connect();
    BOOST_CHECK(n.out->zero_copy_active());
    check_each_receives_its_own(n, ring(8, 2, 6));
    BOOST_CHECK_EQUAL(n.out->in_flight_from(0), transport::nothing);
    BOOST_CHECK(!n.out->zero_copy_active());
    check_each_receives_its_own(n, ring(8, 2, 6));
}

// Where IPv6 is switched off there is nothing to try.
boost::test_tools::assertion_result there_is_ipv6(boost::unit_test::test_unit_id)
{
    boost::asio::io_context io;
    boost::system::error_code error;
    boost::asio::ip::udp::socket socket(io);
    if (!socket.open(boost::asio::ip::udp::v6(), error))
        socket.bind({ boost::asio::ip::address_v6::loopback(), 0 }, error);
    return !error;
}

BOOST_AUTO_TEST_CASE(destinations_may_be_on_ipv6,
                     *boost::unit_test::precondition(there_is_ipv6))
{
    network n({ "::1", "::1", "::1" });
    n.connect();
    BOOST_CHECK_GE(n.out->max_packet_bytes(), 1232u);
    check_each_receives_its_own(n, ring(3, 15, 1));
}

BOOST_AUTO_TEST_CASE(one_where_nobody_listens_does_not_hurt_the_others)
{
    constexpr std::size_t rounds = 20;
    for (std::size_t gone = 0; gone < 8; ++gone) {
        network n(addresses_of_this_host(8));
        n.connect();
        n.receivers[gone].close();
        const ring r(8, 2, 1);
        std::vector<std::vector<bytes>> expected(8);
        for (std::size_t round = 0; round < rounds; ++round)
            for (std::size_t i = 0; i < 8; ++i)
                for (auto& packet : packets_of(r.messages[i]))
                    expected[i].push_back(std::move(packet));

        std::size_t errors = 0;
        for (std::size_t round = 0; round < rounds; ++round) {
            BOOST_REQUIRE(send_all(*n.out, r.messages));
            errors += n.out->take_reports().count;
        }
        BOOST_CHECK_GE(errors, rounds);
        for (std::size_t i = 0; i < 8; ++i)
            if (i != gone)
                BOOST_CHECK(n.receivers[i].received(expected[i].size()) == expected[i]);
    }
}

BOOST_AUTO_TEST_CASE(an_error_says_nothing_about_a_message_for_another)
{
    network n(addresses_of_this_host(2));
    n.connect();
    n.receivers[0].close();
    const ring r(2, 1, 1);
    BOOST_CHECK_EQUAL(n.out->send(&r.messages[0], 1).sent, 1u);
    const auto result = n.out->send(&r.messages[1], 1);
    BOOST_CHECK_EQUAL(result.sent, 0u);
    BOOST_CHECK_EQUAL(result.error, 0);
    BOOST_CHECK_EQUAL(n.out->send(&r.messages[1], 1).sent, 1u);
    BOOST_CHECK(n.receivers[1].received(1) == packets_of(r.messages[1]));
    const auto errors = n.out->take_reports();
    BOOST_CHECK_EQUAL(errors.count, 1u);
    BOOST_CHECK_EQUAL(errors.causes.count(), 1u);
    BOOST_CHECK(errors.causes[ECONNREFUSED]);
    BOOST_CHECK(n.out->take_reports().causes.none());
}

BOOST_AUTO_TEST_CASE(datagrams_from_others_leave_room_for_reports)
{
    network n(addresses_of_this_host(2));
    n.connect();
    const ring r(2, 1, 1);
    BOOST_REQUIRE(send_all(*n.out, r.messages));
    n.receivers[0].received(1);
    n.receivers[0].reply(10000);
    n.receivers[1].close();
    BOOST_REQUIRE(send_all(*n.out, r.messages));
    BOOST_CHECK_GT(n.out->take_reports().count, 0u);
}

BOOST_AUTO_TEST_CASE(destinations_of_several_ip_versions_are_refused)
{
    network n({ "127.0.0.1", "127.0.0.2", "::1" });
    const auto port = [&](std::size_t i) { return std::to_string(n.endpoints[i].port); };
    BOOST_CHECK_EXCEPTION(n.connect(), parameter_error, [&](const parameter_error& e) {
        return std::string(e.what()).find("destinations = \"127.0.0.1:" + port(0) +
                                          "\" and \"[::1]:" + port(2) + "\"") !=
               std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_reached_is_named)
{
    network n(addresses_of_this_host(2));
    n.endpoints.push_back({ "255.255.255.255", 9 }); // which takes an option of its own
    BOOST_CHECK_EXCEPTION(n.connect(), std::runtime_error, [](const auto& e) {
        return std::string(e.what()).find(
                   "destinations = \"255.255.255.255:9\": no route") != std::string::npos;
    });
}

BOOST_AUTO_TEST_SUITE_END()
