/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "helpers/rings.h"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>

using namespace gr::spead;

BOOST_AUTO_TEST_SUITE(random_batches)

// Whatever fails: each destination gets its packets in their order, none twice, and
// counters balance.
BOOST_AUTO_TEST_CASE(random_failures_neither_repeat_nor_reorder)
{
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        const std::size_t n = 1 + random() % 3;
        const std::uint32_t destinations = 1 + random() % 9;
        rings r(n, 64);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> last;
        std::uint64_t put = 0, arrived = 0, given_up = 0, samples = 0;
        for (int steps = 0; steps < 400; ++steps) {
            const bool fill = steps < 300;
            for (std::size_t l = 0; fill && l < n; ++l)
                for (auto more = random() % 20; more; --more) {
                    if (r.heads[l].count + 1 > r.memory[l]->released() + 64)
                        break;
                    const bool end = random() % 3 == 0;
                    r.put(l,
                          random() % destinations,
                          random() % 5 ? packet_bytes : 100 + random() % 900,
                          end ? 7 : 0);
                    samples += end ? 7 : 0;
                    ++put;
                }
            r.out->collect(random() % 4 ? unlimited : random() % 30000, random() % 8);
            const auto size = r.out->size();
            const auto go = !size || random() % 2 ? size : random() % size;
            std::vector<rings::stamp> gone;
            for (std::size_t i = 0; i < go; ++i)
                for (const auto& s : r.content(i))
                    gone.push_back(s);
            for (const auto& s : gone) {
                const auto key = std::pair(s.queue, s.destination);
                BOOST_REQUIRE_LT(last[key], s.number + 1);
                last[key] = s.number + 1;
            }
            arrived += gone.size();
            if (go || !size)
                r.out->sent(go);
            else if (random() % 2)
                r.out->split();
            else if (random() % 2) {
                given_up += packets_of(r.out->messages()[0]).size();
                for (const auto& s : r.content(0))
                    last[{ s.queue, s.destination }] = s.number + 1;
                r.out->drop_first();
            }
            for (auto& one : r.readers)
                one.release(transport::nothing);
        }
        r.out->drop_all();
        BOOST_CHECK_EQUAL(r.counters.packets_sent.get(), arrived);
        BOOST_CHECK_EQUAL(r.counters.packets_dropped.get(), put - arrived);
        BOOST_CHECK_LE(given_up, put - arrived);
        BOOST_CHECK_EQUAL(
            r.counters.samples_sent.get() + r.counters.samples_dropped.get(), samples);
    }
}

BOOST_AUTO_TEST_SUITE_END()
