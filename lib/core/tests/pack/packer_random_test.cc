/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Whatever is done to a packer: heaps are as a model of it, without rings and packets,
// would have them.

#include "helpers/packing.h"

#include <boost/test/unit_test.hpp>

using namespace gr::spead;
using namespace std::chrono_literals;

namespace {

struct expected_heap {
    std::uint64_t counter;
    std::uint64_t timestamp;
    std::uint64_t destination;
    std::uint64_t value;
    bytes content;
};

class model
{
public:
    explicit model(const packing& p) : d_p(p) {}

    std::uint64_t value = 7; // of the next heap
    std::vector<expected_heap> heaps;
    std::uint64_t samples_in = 0;
    std::uint64_t samples_sent = 0;

    void add(const std::vector<std::int16_t>* samples, std::uint64_t n)
    {
        for (std::uint64_t i = 0; i < n; ++i) {
            if (!d_current) {
                d_current = { d_counter++, d_timestamp, d_turn, value, {} };
                d_timestamp += d_p.heap_samples;
                d_turn = (d_turn + 1) % d_p.destinations;
            }
            const auto word = static_cast<std::uint16_t>(samples ? (*samples)[i] : 0);
            d_current->content.push_back(static_cast<std::uint8_t>(word >> 8));
            d_current->content.push_back(static_cast<std::uint8_t>(word));
            d_came_in += samples != nullptr;
            samples_in += samples != nullptr;
            if (d_current->content.size() == 2 * d_p.heap_samples)
                complete();
        }
    }
    void leave(std::uint64_t timestamp)
    {
        d_current.reset();
        d_came_in = 0;
        d_timestamp = timestamp;
    }
    void end()
    {
        if (d_current && d_p.tail != tail_policy::drop) {
            if (d_p.tail == tail_policy::pad)
                d_current->content.resize(2 * d_p.heap_samples);
            complete();
        }
        leave(d_timestamp);
        ++d_counter; // of the end of the stream
    }

private:
    void complete()
    {
        heaps.push_back(*d_current);
        samples_sent += d_came_in;
        d_came_in = 0;
        d_current.reset();
    }

    const packing d_p;
    std::optional<expected_heap> d_current;
    std::uint64_t d_came_in = 0;
    std::uint64_t d_counter = 1;
    std::uint64_t d_timestamp = 1000;
    std::uint64_t d_turn = 0;
};

template <typename choice>
choice pick(std::mt19937& random, std::initializer_list<choice> from)
{
    return from.begin()[random() % from.size()];
}

void check(const packed_stream& stream, const model& m)
{
    std::map<std::uint64_t, std::uint16_t> destinations; // of the heaps of samples
    for (std::size_t i = 0; i < stream.datagrams.size(); ++i) {
        const auto packet = decode(stream.datagrams[i]);
        if (!packet.find(0x1600))
            continue;
        const auto [at, is_new] =
            destinations.emplace(packet.get(1), stream.destinations[i]);
        if (!is_new && at->second != stream.destinations[i])
            BOOST_ERROR("packets of a heap go their own ways");
    }
    auto expected = m.heaps.begin();
    for (const auto& h : reassemble(stream.datagrams)) {
        if (h.is_stop() || h.is_descriptors())
            continue;
        BOOST_REQUIRE(expected != m.heaps.end());
        BOOST_REQUIRE_EQUAL(h.counter, expected->counter);
        BOOST_CHECK_EQUAL(h.immediate(0x1600), expected->timestamp);
        BOOST_CHECK_EQUAL(h.immediate(0x3101), expected->value);
        BOOST_CHECK_EQUAL(destinations.at(h.counter), expected->destination);
        BOOST_CHECK(*h.content(0x3300) == expected->content);
        ++expected;
    }
    BOOST_CHECK(expected == m.heaps.end());
    BOOST_CHECK_EQUAL(stream.heaps_ended, m.heaps.size());
    BOOST_CHECK_EQUAL(stream.counters.samples_in.get(), m.samples_in);
    BOOST_CHECK_EQUAL(stream.ended, m.samples_sent);
    BOOST_CHECK(stream.is_balanced());
}

void one_random_stream(unsigned seed)
{
    std::mt19937 random(seed);
    packing p;
    p.type = sample_type::int16;
    p.heap_samples = pick<std::uint64_t>(random, { 1, 3, 50, 333, 5000 });
    p.max_packet = pick<std::size_t>(random, { 120, 200, 1472 });
    p.tail = pick(random, { tail_policy::shorten, tail_policy::pad, tail_policy::drop });
    p.descriptors = random() % 2;
    p.separate = random() % 2;
    p.interval = random() % 2;
    p.pad = random() % 2;
    p.destinations = 1 + random() % 3;
    p.items = { timestamp(0x1600, "time", std::string(1 + random() % 8, 't')),
                immediate(0x3101, "id", { 7 }, "d"),
                samples() };
    p.slots = p.plan().min_ring_slots() + random() % 100;

    packed_stream stream(p);
    model m(p);
    for (int streams = 0; streams < 3; ++streams) {
        stream.packer.start_run();
        const auto actions = random() % 60;
        for (unsigned i = 0; i < actions; ++i) {
            const auto n = random() % (random() % 4 ? 100 : 3 * p.heap_samples);
            switch (random() % 8) {
            case 0: {
                stream.write_all_zeros(n);
                m.add(nullptr, n);
                break;
            }
            case 1: {
                const std::uint64_t time = random();
                stream.packer.skip_to(time);
                m.leave(time);
                break;
            }
            case 2:
                m.value = random();
                stream.packer.set_items({ { 1, m.value } });
                break;
            case 3:
                stream.send();
                break;
            case 4:
                stream.now += std::chrono::milliseconds(random() % 500);
                break;
            case 5:
                stream.ring.set_limit(std::min<std::size_t>(
                    stream.packer.plan().min_slots_in_use(p.slots) + random() % 100,
                    p.slots));
                break;
            default: {
                std::vector<std::int16_t> in(n);
                for (auto& number : in)
                    number = static_cast<std::int16_t>(random());
                stream.write_all(in);
                m.add(&in, n);
                break;
            }
            }
        }
        stream.end();
        m.end();
    }
    check(stream, m);
}

} // namespace

BOOST_AUTO_TEST_SUITE(packer_and_model)

BOOST_AUTO_TEST_CASE(they_agree_on_random_streams)
{
    for (unsigned seed = 1; seed <= 400; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) one_random_stream(seed);
}

BOOST_AUTO_TEST_SUITE_END()
