/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "axes/transposer.h"
#include "helpers/packing.h"
#include "support/parameter_error.h"

#include <boost/test/unit_test.hpp>

#include <map>

using namespace gr::spead;

namespace {

const std::string lists[] = { "time=8",
                              "channel=16",
                              "time=1, channel=3",
                              "channel=3, time=5, pol=2",
                              "channel=64/256, time=64, pol=2",
                              "pol=2, time=70, channel=33",
                              "time=5, channel=4/8, baseline=3",
                              "channel=5, baseline=7/21, time=3, pol=4",
                              "antenna=3, time=4, pol=2, channel=2/4",
                              "channel=40, baseline=3",
                              "channel=4/8, time=3, beam=2, pol=1" };

// The sample of a heap at this index of each axis, by its definition.
struct place {
    std::size_t port = 0, time = 0, element = 0;
};

place place_of(const heap_axes& axes, std::size_t in_heap, std::size_t substream)
{
    std::map<std::string, std::size_t> index;
    for (auto axis = axes.axes().rbegin(); axis != axes.axes().rend(); ++axis) {
        index[axis->name] = in_heap % axis->size;
        in_heap /= axis->size;
    }
    place at{ index["pol"], index["time"], 0 };
    for (const auto& axis : axes.axes())
        if (axis.name != "time" && axis.name != "pol") {
            const auto first = axis.total != axis.size ? substream * axis.size : 0;
            at.element = at.element * axis.total + first + index[axis.name];
        }
    return at;
}

template <typename sample>
void check_transposition(const heap_axes& axes)
{
    const transposer tested(axes, sizeof(sample));
    const auto random = noise(axes.samples() * sizeof(sample));
    std::vector<sample> heap(axes.samples());
    std::memcpy(heap.data(), random.data(), random.size());
    const auto items = axes.times() * axes.vector_length();
    for (std::size_t substream = 0; substream < axes.substreams(); ++substream) {
        std::vector<std::vector<sample>> expected(axes.ports(),
                                                  std::vector<sample>(items));
        for (std::size_t i = 0; i < heap.size(); ++i) {
            const auto at = place_of(axes, i, substream);
            expected[at.port][at.time * axes.vector_length() + at.element] = heap[i];
        }
        std::vector<std::vector<sample>> ports(axes.ports(), std::vector<sample>(items));
        // in two steps
        const auto middle = axes.times() / 2;
        for (const auto& [begin, end] : { std::pair{ std::size_t{ 0 }, middle },
                                          std::pair{ middle, axes.times() } }) {
            std::vector<std::byte*> at;
            for (auto& port : ports)
                at.push_back(reinterpret_cast<std::byte*>(port.data()) +
                             begin * axes.vector_length() * sizeof(sample));
            tested.to_ports(
                at, reinterpret_cast<std::byte*>(heap.data()), substream, begin, end);
        }
        BOOST_TEST((ports == expected));

        std::vector<sample> back(heap.size());
        std::vector<const std::byte*> at;
        for (auto& port : ports)
            at.push_back(reinterpret_cast<std::byte*>(port.data()));
        tested.to_heap(
            reinterpret_cast<std::byte*>(back.data()), at, substream, 0, axes.times());
        BOOST_TEST((back == heap));
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(axes)

BOOST_AUTO_TEST_CASE(samples_move_between_heaps_and_vectors)
{
    for (const auto& list : lists)
        BOOST_TEST_CONTEXT(list)
        {
            const heap_axes axes("axes", list);
            check_transposition<std::uint8_t>(axes);
            check_transposition<std::uint16_t>(axes);
            check_transposition<std::uint32_t>(axes);
            check_transposition<std::uint64_t>(axes);
        }
}

BOOST_AUTO_TEST_CASE(sizes_follow_from_the_list)
{
    const heap_axes axes("axes", "channel=64/1024, time=256, pol=2");
    BOOST_TEST(axes.times() == 256u);
    BOOST_TEST(axes.ports() == 2u);
    BOOST_TEST(axes.vector_length() == 1024u);
    BOOST_TEST(axes.substreams() == 16u);
    BOOST_TEST(axes.samples() == 64u * 256 * 2);
    BOOST_TEST(heap_axes("axes", " ").empty());
}

BOOST_AUTO_TEST_CASE(invalid_lists_are_refused)
{
    for (const auto* list : { "channel",
                              "channel=",
                              "channel=0",
                              "channel=-1",
                              "channel=1.5",
                              "=4",
                              "a b=4",
                              "channel=4,,time=1",
                              "channel=4, channel=4",
                              "channel=4/6",
                              "channel=1/65",
                              "time=4/8",
                              "pol=1/2",
                              "a=2/4, b=2/4",
                              "pol=65",
                              "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1",
                              "channel=134217728, time=2" })
        BOOST_TEST_CONTEXT(list)
        {
            BOOST_CHECK_THROW(heap_axes("axes", list), parameter_error);
        }
}

BOOST_AUTO_TEST_SUITE_END()
