/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "network/zero_copy.h"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <utility>
#include <vector>

using namespace gr::spead;

namespace {

// Sets the message numbers, since sending until they wrap would take minutes. An explicit
// instantiation may name private members.
void start_at(zero_copy& z, std::uint32_t number);
template <std::uint32_t zero_copy::*oldest, std::uint32_t zero_copy::*next>
struct numbers {
    friend void start_at(zero_copy& z, std::uint32_t number)
    {
        z.*oldest = z.*next = number;
    }
};
template struct numbers<&zero_copy::d_oldest, &zero_copy::d_next>;

constexpr std::uint32_t max_in_flight = 24;
constexpr std::uintptr_t page = 4096;

// The memory does not exist: only addresses and sizes matter.
iovec piece_at(std::uintptr_t address, std::size_t bytes)
{
    return { reinterpret_cast<void*>(address), bytes };
}

using list_of_pieces = std::vector<std::vector<iovec>>;

std::vector<message> messages_of(const list_of_pieces& all)
{
    std::vector<message> messages;
    for (const auto& pieces : all) {
        std::size_t bytes = 0;
        for (const auto& piece : pieces)
            bytes += piece.iov_len;
        messages.push_back({ pieces.data(), pieces.size(), bytes, bytes, 0 });
    }
    return messages;
}

// Message number n has the position 10 * (n + 1).
struct fixture {
    zero_copy z;
    std::uint64_t next_position = 10;

    fixture() { z.enable(true); }

    bool should_use(const list_of_pieces& pieces) const
    {
        const auto messages = messages_of(pieces);
        return z.should_use(messages.data(), messages.size());
    }
    bool should_use(std::size_t n) const
    {
        return should_use(list_of_pieces(n, { piece_at(page, 65000) }));
    }
    void send(std::size_t n)
    {
        auto messages = messages_of(list_of_pieces(n));
        for (auto& m : messages) {
            m.position = next_position;
            next_position += 10;
        }
        z.sent(messages.data(), n);
    }
    void finish(std::uint32_t first, std::uint32_t last)
    {
        z.finished(first, last, false);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(zero_copies, fixture)

BOOST_AUTO_TEST_CASE(small_messages_and_pieces_are_copied)
{
    BOOST_CHECK(should_use(list_of_pieces(8, { piece_at(page, 16384) })));
    BOOST_CHECK(!should_use(list_of_pieces(8, { piece_at(page, 16383) })));
    // the limit applies to the mean of all messages
    const auto rest = 2 * 16384 - 100;
    BOOST_CHECK(should_use({ { piece_at(page, 100) }, { piece_at(page, rest) } }));
    BOOST_CHECK(!should_use({ { piece_at(page, 100) }, { piece_at(page, rest - 1) } }));
    BOOST_CHECK(should_use({ std::vector<iovec>(3, piece_at(page, 16384)) }));
    BOOST_CHECK(!should_use({ std::vector<iovec>(3, piece_at(page, 16383)) }));
}

BOOST_AUTO_TEST_CASE(messages_in_too_many_pages_are_copied)
{
    // the longest message in one piece is sent without a copy at any offset
    for (const std::uintptr_t offset : { 0u, 1u, 2000u, 4095u })
        BOOST_CHECK(should_use({ { piece_at(page + offset, 65507) } }));
    // 8 + 9 pages are allowed, one more is too many
    const auto unaligned = piece_at(20 * page + 1, 8 * page);
    BOOST_CHECK(should_use({ { piece_at(page, 8 * page), unaligned } }));
    BOOST_CHECK(!should_use({ { piece_at(page + 1, 8 * page), unaligned } }));
    BOOST_CHECK(!should_use({ { piece_at(page, 8 * page + 1), unaligned } }));
}

BOOST_AUTO_TEST_CASE(messages_reported_out_of_order_are_released_in_order)
{
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), transport::no_position);
    send(6);
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), 10u);
    finish(3, 4);
    finish(1, 1);
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), 10u);
    finish(0, 0);
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), 30u);
    finish(2, 2);
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), 60u);
    finish(5, 5);
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), transport::no_position);
    BOOST_CHECK(z.active());
}

BOOST_AUTO_TEST_CASE(messages_in_flight_are_limited)
{
    send(16);
    BOOST_CHECK(should_use(8));
    send(7);
    BOOST_CHECK(should_use(1));
    BOOST_CHECK(!should_use(2));
    send(1);
    BOOST_CHECK(!should_use(1));
    finish(5, 5); // makes no room: an older message is still in flight
    BOOST_CHECK(!should_use(1));
    finish(0, 4);
    BOOST_CHECK(should_use(6));
    BOOST_CHECK(!should_use(7));
}

BOOST_AUTO_TEST_CASE(message_numbers_wrap_at_32_bits)
{
    for (std::uint32_t before = 1; before < max_in_flight; ++before) {
        const std::uint32_t first = 0 - before;
        start_at(z, first);
        next_position = 10;
        send(max_in_flight);
        finish(first + 1, first + max_in_flight - 1);
        BOOST_CHECK_EQUAL(z.oldest_in_flight(0), 10u);
        BOOST_CHECK(!should_use(1));
        finish(first, first);
        BOOST_CHECK(!z.any_in_flight());
        BOOST_CHECK(should_use(8));
    }
}

BOOST_AUTO_TEST_CASE(reported_copy_or_unknown_number_disables_zero_copy)
{
    const struct {
        std::uint32_t first, last;
        bool copied;
    } table[] = { { 1, 1, true }, { 3, 3, false }, { 0, 3, false } };
    for (const auto& row : table) {
        fixture f;
        f.send(3);
        f.z.finished(row.first, row.last, row.copied);
        BOOST_CHECK(!f.z.active());
        BOOST_CHECK(!f.should_use(1));
        // messages in flight stay in flight
        BOOST_CHECK_EQUAL(f.z.any_in_flight(), row.first != 0);
        f.finish(0, 2);
        BOOST_CHECK(!f.z.any_in_flight());
    }
    send(2);
    finish(0, 0);
    finish(0, 0); // twice
    BOOST_CHECK(!z.active());
}

BOOST_AUTO_TEST_CASE(failure_disables_zero_copy_until_the_next_socket)
{
    send(2);
    z.disable();
    BOOST_CHECK(!z.active());
    finish(2, 2); // the message that failed
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), 10u);
    finish(0, 1);
    BOOST_CHECK(!z.any_in_flight());

    z.enable(true); // the numbers of a new socket begin at 0
    send(1);
    BOOST_CHECK_EQUAL(z.oldest_in_flight(0), 30u);
    finish(0, 0);
    BOOST_CHECK(!z.any_in_flight());
    BOOST_CHECK(should_use(1));
    z.enable(false);
    BOOST_CHECK(!should_use(1));
}

BOOST_AUTO_TEST_SUITE_END()
