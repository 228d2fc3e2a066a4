/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include <gnuradio/spead/item.h>

#include <boost/test/unit_test.hpp>

using namespace gr::spead;

namespace {

constexpr std::int64_t last_id = (1 << 23) - 1;
constexpr std::int64_t last_value = (std::int64_t{ 1 } << 48) - 1;

template <typename function>
std::string refusal(function make)
{
    try {
        make();
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

} // namespace

BOOST_AUTO_TEST_SUITE(items)

BOOST_AUTO_TEST_CASE(what_no_sink_takes_is_refused_at_once)
{
    BOOST_CHECK_EQUAL(refusal([] { samples(5); }),
                      "spead.samples: id = 5 is invalid; allowed: 22 to 8388607 "
                      "(0x16 to 0x7fffff); SPEAD reserves the IDs below");
    BOOST_CHECK_EQUAL(refusal([] { timestamp(0x16, ""); }),
                      "spead.timestamp: name = \"\" is invalid; allowed: any text "
                      "that is not empty");
    BOOST_CHECK_EQUAL(refusal([] {
                          immediate(0x3101, "x", { 1, -1 });
                      }),
                      "spead.immediate: value = -1 is invalid; allowed: 0 to "
                      "281474976710655");
    for (const std::int64_t id :
         { std::int64_t{ -1 }, std::int64_t{ 21 }, last_id + 1 }) {
        BOOST_CHECK_THROW(timestamp(id), std::invalid_argument);
        BOOST_CHECK_THROW(samples(id), std::invalid_argument);
        BOOST_CHECK_THROW(immediate(id, "x", { 0 }), std::invalid_argument);
    }
    BOOST_CHECK_THROW(samples(22, ""), std::invalid_argument);
    BOOST_CHECK_THROW(immediate(22, "", { 0 }), std::invalid_argument);
    BOOST_CHECK_THROW(immediate(22, "x", { last_value + 1 }), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(what_some_sink_takes_is_possible)
{
    for (const std::int64_t id : { std::int64_t{ 22 }, last_id }) {
        BOOST_CHECK_EQUAL(timestamp(id).id, id);
        BOOST_CHECK_EQUAL(samples(id).id, id);
        BOOST_CHECK_EQUAL(immediate(id, "x", { 0, last_value }).values[1], last_value);
    }
}

BOOST_AUTO_TEST_SUITE_END()
