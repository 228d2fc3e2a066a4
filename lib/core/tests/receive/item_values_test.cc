/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receive/item_values.h"

#include <boost/test/unit_test.hpp>

#include <random>
#include <set>
#include <utility>

using namespace gr::spead;

namespace {

using changes = std::vector<std::pair<std::int64_t, std::uint64_t>>;

changes changes_in(item_values& values, position_range part)
{
    changes all;
    values.report_changes(part, [&](std::int64_t position, std::uint64_t value) {
        all.emplace_back(position, value);
    });
    return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(item_values_test)

BOOST_AUTO_TEST_CASE(first_sample_carries_the_last_earlier_value)
{
    const std::pair<std::int64_t, changes> cases[] = {
        { 150, { { 150, 6 }, { 200, 5 }, { 300, 7 } } },
        { 200, { { 200, 5 }, { 300, 7 } } },
        { 250, { { 250, 5 }, { 300, 7 } } },
        { 350, { { 350, 7 } } },
    };
    for (const auto& [begin, expected] : cases) {
        item_values values;
        BOOST_TEST(values.set({ 0, 100 }, 5));
        BOOST_TEST(values.set({ 100, 200 }, 6));
        BOOST_TEST(values.set({ 200, 300 }, 5));
        BOOST_TEST(values.set({ 300, 400 }, 7));
        BOOST_TEST((changes_in(values, { begin, 400 }) == expected));
    }
}

BOOST_AUTO_TEST_CASE(values_at_one_position_take_no_room)
{
    item_values values;
    for (std::uint64_t i = 0; i < 5000; ++i)
        BOOST_REQUIRE(values.set({ 100, 200 }, i % 3));
    for (int i = 0; i < 20; ++i)
        values.erase({ 150, 120 }); // of a heap that is late
    for (std::uint64_t i = 0; i < 500; ++i)
        BOOST_REQUIRE(values.set({ 200 + 2 * static_cast<std::int64_t>(i), 202 }, i));
}

BOOST_AUTO_TEST_CASE(restart_discards_the_value)
{
    item_values values;
    BOOST_TEST(values.set({ 0, 100 }, 5));
    changes_in(values, { 0, 100 });
    values.restart();
    BOOST_TEST(values.set({ 10, 20 }, 5));
    BOOST_TEST((changes_in(values, { 0, 20 }) == changes{ { 10, 5 } }));
}

BOOST_AUTO_TEST_CASE(reporting_changes_makes_room)
{
    item_values values;
    std::int64_t n = 0;
    const auto try_set = [&] {
        return values.set({ n, n + 1 }, static_cast<std::uint64_t>(n));
    };
    while (n < 9000 && try_set())
        ++n;
    BOOST_TEST(n < 9000);
    changes_in(values, { 0, n });
    BOOST_TEST(try_set());
}

// Compares with a model that stores a value per position.
BOOST_AUTO_TEST_CASE(heaps_in_any_order_match_a_model)
{
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::pair<std::int64_t, std::uint64_t>> heaps;
        for (std::int64_t at = 0; at < 400; at += 10)
            heaps.emplace_back(at, random() % 3);
        // all heaps arrive, some ahead of order
        auto order = heaps;
        for (std::size_t i = 0; i + 4 < order.size(); ++i)
            std::swap(order[i], order[i + random() % 4]);
        item_values values;
        for (const auto& [at, value] : order)
            BOOST_TEST(values.set({ at, at + 10 }, value));
        std::set<std::int64_t> erased;
        for (const auto& [at, value] : heaps)
            if (random() % 4 == 0 && erased.insert(at).second)
                values.erase({ at, at + 10 });
        changes expected;
        for (const auto& [at, value] : heaps)
            if (!erased.count(at) &&
                (expected.empty() || expected.back().second != value))
                expected.emplace_back(at, value);
        BOOST_TEST((changes_in(values, { 0, 400 }) == expected));
    }
}

BOOST_AUTO_TEST_SUITE_END()
