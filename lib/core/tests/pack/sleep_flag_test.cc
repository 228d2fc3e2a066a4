/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "pack/packet_ring.h"

#include <boost/test/unit_test.hpp>

using gr::spead::sleep_flag;

BOOST_AUTO_TEST_SUITE(sleeping)

BOOST_AUTO_TEST_CASE(a_sleeper_is_woken_once)
{
    sleep_flag flag;
    BOOST_CHECK(!flag.claim());
    flag.announce();
    BOOST_CHECK(flag.claim());
    BOOST_CHECK(!flag.claim());
}

BOOST_AUTO_TEST_CASE(a_sleeper_that_waits_for_more_is_left_alone_until_then)
{
    sleep_flag flag;
    flag.announce(100);
    BOOST_CHECK(!flag.claim(1));
    BOOST_CHECK(!flag.claim(99));
    BOOST_CHECK(flag.is_set());
    BOOST_CHECK(flag.claim(100));
    BOOST_CHECK(!flag.claim(101));
}

BOOST_AUTO_TEST_CASE(one_that_waits_for_anything_is_woken_by_it)
{
    sleep_flag flag;
    flag.announce(100);
    flag.withdraw();
    BOOST_CHECK(!flag.claim(100));
    flag.announce();
    BOOST_CHECK(flag.claim(1));
}

BOOST_AUTO_TEST_SUITE_END()
