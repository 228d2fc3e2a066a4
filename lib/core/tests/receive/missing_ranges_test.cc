/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "receive/missing_ranges.h"

#include <boost/test/unit_test.hpp>

#include <random>
#include <set>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(missing_ranges_test)

// Compares with a set of all missing positions.
BOOST_AUTO_TEST_CASE(ranges_are_removed_and_added_in_any_order)
{
    constexpr std::int64_t positions = 600;
    std::mt19937 random(1);
    const auto up_to = [&](std::int64_t max) {
        return std::uniform_int_distribution<std::int64_t>(0, max)(random);
    };
    for (int run = 0; run < 50; ++run) {
        missing_ranges ranges(100);
        ranges.restart({ 0, positions });
        std::set<std::int64_t> model;
        for (std::int64_t i = 0; i < positions; ++i)
            model.insert(i);
        for (int step = 0; step < 60; ++step) {
            const auto begin = up_to(positions - 20);
            const position_range range{ begin, begin + up_to(20) };
            std::set<std::int64_t> removed, expected;
            ranges.remove(range, [&](position_range part) {
                BOOST_TEST(part.size() > 0);
                for (auto i = part.begin; i < part.end; ++i)
                    removed.insert(i);
            });
            for (auto i = range.begin; i < range.end; ++i)
                if (model.erase(i))
                    expected.insert(i);
            BOOST_TEST((removed == expected));
            const auto again = up_to(positions - 20);
            const position_range added{ again, again + up_to(20) };
            ranges.add(added, {});
            for (auto i = added.begin; i < added.end; ++i)
                model.insert(i);
            std::set<std::int64_t> left;
            auto last = std::int64_t{ -1 };
            for (const auto& range : ranges) {
                BOOST_TEST(range.begin > last);
                BOOST_TEST(range.size() > 0);
                last = range.end;
                for (auto i = range.begin; i < range.end; ++i)
                    left.insert(i);
            }
            BOOST_TEST((left == model));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
