/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receive/split_groups.h"

#include <boost/test/unit_test.hpp>

#include <array>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(split_groups_held)

BOOST_AUTO_TEST_CASE(bytes_of_two_heaps_do_not_make_a_group)
{
    split_groups groups;
    const std::array<std::byte, 4> data{
        std::byte{ 1 }, std::byte{ 2 }, std::byte{ 3 }, std::byte{ 4 }
    };
    const split_groups::group_place before_restart{ 0, 10, 1 };
    const split_groups::group_place after_restart{ 0, 10, 2 };
    BOOST_TEST(!groups.add(before_restart, data.data(), 0, 2, 4));
    BOOST_TEST(!groups.add(after_restart, data.data() + 2, 2, 2, 4));
    const auto* whole = groups.add(before_restart, data.data() + 2, 2, 2, 4);
    BOOST_REQUIRE(whole);
    BOOST_TEST(std::equal(data.begin(), data.end(), whole));
}

BOOST_AUTO_TEST_SUITE_END()
