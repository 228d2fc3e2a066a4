/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Which messages are worth to be sent without a copy, and which can be.

#include "network/zero_copy.h"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <utility>
#include <vector>

using namespace gr::spead;

namespace {

constexpr std::uintptr_t page = 4096;

// Where nothing is, since nobody looks.
iovec piece_at(std::uintptr_t address, std::size_t bytes)
{
    return { reinterpret_cast<void*>(address), bytes };
}

// Messages, and the pieces that they are in.
class batch
{
public:
    batch() = default;
    batch(std::size_t n, std::size_t size)
    {
        while (messages.size() < n)
            add({ piece_at(page, size) });
    }
    batch& add(std::vector<iovec> pieces)
    {
        std::size_t bytes = 0;
        for (const auto& piece : pieces)
            bytes += piece.iov_len;
        d_pieces.push_back(std::move(pieces));
        const auto& in = d_pieces.back();
        messages.push_back({ in.data(), in.size(), bytes, bytes, 0 });
        return *this;
    }
    std::vector<message> messages;

private:
    std::deque<std::vector<iovec>> d_pieces;
};

bool suits(const batch& b)
{
    zero_copy z;
    z.enable(true);
    return z.suits(b.messages.data(), b.messages.size());
}

} // namespace

BOOST_AUTO_TEST_SUITE(worth_no_copy)

BOOST_AUTO_TEST_CASE(small_messages_are_copied)
{
    BOOST_CHECK(suits(batch(8, 16384)));
    BOOST_CHECK(!suits(batch(8, 16383)));
    // it is the mean that counts
    const auto rest = 2 * 16384 - 100;
    BOOST_CHECK(suits(batch(1, 100).add({ piece_at(page, rest) })));
    BOOST_CHECK(!suits(batch(1, 100).add({ piece_at(page, rest - 1) })));
}

BOOST_AUTO_TEST_CASE(small_pieces_of_large_messages_are_copied)
{
    BOOST_CHECK(suits(batch().add(std::vector<iovec>(3, piece_at(page, 16384)))));
    BOOST_CHECK(!suits(batch().add(std::vector<iovec>(3, piece_at(page, 16383)))));
}

BOOST_AUTO_TEST_CASE(messages_in_too_many_pages_are_copied)
{
    // whatever its offset in a page, the longest message that is in one piece is not
    for (const std::uintptr_t offset : { 0u, 1u, 2000u, 4095u })
        BOOST_CHECK(suits(batch().add({ piece_at(page + offset, 65507) })));
    // 8 and 9 pages, then one more
    BOOST_CHECK(suits(batch(1, 65000).add(
        { piece_at(page, 8 * page), piece_at(20 * page + 1, 8 * page) })));
    BOOST_CHECK(!suits(batch(1, 65000).add(
        { piece_at(page + 1, 8 * page), piece_at(20 * page + 1, 8 * page) })));
    BOOST_CHECK(!suits(batch(1, 65000).add(
        { piece_at(page, 8 * page + 1), piece_at(20 * page + 1, 8 * page) })));
}

BOOST_AUTO_TEST_SUITE_END()
