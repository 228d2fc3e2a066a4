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

// Against a set of all positions.
BOOST_AUTO_TEST_CASE(any_order_of_additions_and_removals)
{
    std::mt19937 random(1);
    const auto upto = [&](std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(0, most)(random);
    };
    for (int run = 0; run < 300; ++run) {
        missing_ranges ranges(1000);
        std::set<std::int64_t> model;
        std::int64_t end = 0;
        for (int step = 0; step < 100; ++step) {
            if (upto(2) == 0) {
                const position_range added{ end + 1 + upto(3), 0 };
                const position_range range{ added.begin, added.begin + 1 + upto(20) };
                ranges.append(range, {});
                for (auto i = range.begin; i < range.end; ++i)
                    model.insert(i);
                end = range.end;
            } else {
                const auto begin = upto(end);
                const position_range range{ begin, begin + upto(15) };
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
            }
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
