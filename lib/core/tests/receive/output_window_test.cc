/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

// Samples are letters here: 'a' has position 0, 'b' position 1. A dot is a zero.

#include "receive/output_window.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>

using namespace gr::spead;

namespace {

constexpr output_window::clock::duration max_delay = std::chrono::milliseconds(100);
constexpr output_window::clock::duration opening = std::chrono::milliseconds(10);
constexpr output_window::clock::duration tick{ 1 };
constexpr auto zero_fill = missing_policy::zero_fill;
constexpr auto skip = missing_policy::skip;

using strings = std::vector<std::string>;

std::string
format_counts(std::initializer_list<std::pair<std::uint64_t, const char*>> named_counts)
{
    std::string text;
    for (const auto& [number, name] : named_counts)
        text += (text.empty() ? "" : ", ") + std::to_string(number) + ' ' + name;
    return text;
}

//! A window, and the output buffers of a flow graph that consumes samples in drain().
struct letter_window {
    const std::size_t room;
    std::vector<source_counter_set> counters;
    output_window window;
    output_window::clock::time_point now{ std::chrono::seconds(1000) };
    std::vector<std::vector<float>> buffers;
    std::size_t undrained = 0; // samples produced, but not drained
    strings out, tags;         // per output

    explicit letter_window(std::size_t outputs = 1,
                           missing_policy on_missing = zero_fill,
                           std::size_t samples = 64)
        : room(samples),
          counters(outputs),
          window({ outputs, on_missing, max_delay, 2 }, counters),
          buffers(outputs),
          out(outputs),
          tags(outputs)
    {
        // 2 bytes on the wire, 4 in the output
        window.set_decoder(sample_decoder({ sample_type::float32, { 'i', 16 } }));
        drain();
    }
    void drain()
    {
        std::vector<std::byte*> at;
        for (auto& buffer : buffers) {
            buffer.erase(buffer.begin(), buffer.begin() + std::ptrdiff_t(undrained));
            buffer.resize(room, '?');
            at.push_back(reinterpret_cast<std::byte*>(buffer.data()));
        }
        undrained = 0;
        window.set_room(at, std::int64_t(room));
    }
    std::string place_at(std::int64_t begin, const std::string& text, std::size_t to = 0)
    {
        std::vector<std::byte> wire;
        for (const auto letter : text)
            wire.insert(wire.end(), { {}, std::byte(letter) });
        const auto end = begin + std::int64_t(text.size());
        const auto& counts = counters[to];
        const auto late = counts.samples_late.get();
        const auto duplicate = counts.samples_duplicate.get();
        const auto fresh = window.place(to, { begin, end }, wire.data(), now);
        return format_counts(
            { { counts.samples_late.get() - late, "late" },
              { counts.samples_duplicate.get() - duplicate, "duplicate" },
              { fresh, "fresh" } });
    }
    void place(const strings& parts, std::size_t to = 0)
    {
        for (const auto& part : parts)
            place_at(part[0] - 'a', part, to);
    }
    std::int64_t begin_stream(std::int64_t alignment = 1)
    {
        return window.begin_stream({ now + opening, alignment });
    }
    bool reserve(std::int64_t begin, std::int64_t end)
    {
        return window.reserve(0, { begin, end }, now);
    }
    //! Produces ready samples. Returns everything that the first output produced so far.
    const std::string& produce(bool is_blocked = false)
    {
        const auto end = window.update_ready_end(now, is_blocked);
        if (end <= window.front())
            return out[0];
        std::vector<sample_tag> added;
        const auto last = undrained + window.produce(end, added);
        for (const auto& tag : added) {
            auto& text = tags[tag.output] += ' ';
            text += std::to_string(out[tag.output].size() + tag.offset) + ':';
            text += strings{
                "timestamp", "missing", "skipped", "item"
            }[std::size_t(tag.type)];
            if (tag.type == sample_tag::kind::item)
                text += std::to_string(tag.item);
            text += '=' + std::to_string(tag.value);
        }
        for (; undrained < last; ++undrained)
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] += buffers[i][undrained] == 0 ? '.' : char(buffers[i][undrained]);
        return out[0];
    }
    const std::string& produce_after(output_window::clock::duration time)
    {
        now += time;
        return produce();
    }
    std::string counted(std::size_t output = 0) const
    {
        return format_counts({ { counters[output].samples_received.get(), "received" },
                               { counters[output].samples_missing.get(), "missing" },
                               { counters[output].samples_skipped.get(), "skipped" } });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(output_window_test)

BOOST_AUTO_TEST_CASE(missing_range_is_zero_filled_after_max_delay)
{
    letter_window w;
    w.place({ "ab" });
    w.now += 5 * max_delay;
    w.place({ "f" });
    w.now += max_delay / 2;
    w.place({ "h" });
    BOOST_TEST(w.produce_after(max_delay / 2 - tick) == "ab");
    BOOST_TEST(w.produce_after(tick) == "ab...f");
    BOOST_TEST(w.produce_after(max_delay / 2) == "ab...f.h");
    BOOST_TEST(w.tags[0] == " 0:timestamp=0 2:missing=3 6:missing=1");
    BOOST_TEST(w.counted() == "4 received, 4 missing, 0 skipped");
}

BOOST_AUTO_TEST_CASE(blocked_window_gives_up_one_missing_range_at_a_time)
{
    letter_window w;
    w.place({ "a", "d", "f" });
    for (const auto* expected : { "a", "a..d", "a..d.f", "a..d.f" })
        BOOST_TEST(w.produce(true) == expected);
}

BOOST_AUTO_TEST_CASE(late_and_duplicate_samples_are_counted)
{
    letter_window w;
    w.place({ "abc" });
    w.produce();
    const std::tuple<std::int64_t, const char*, const char*> steps[] = {
        { 0, "XY", "2 late, 0 duplicate, 0 fresh" },
        { 1, "XYd", "2 late, 0 duplicate, 1 fresh" },
        { 5, "f", "0 late, 0 duplicate, 1 fresh" },
        { 2, "XYeZgh", "1 late, 2 duplicate, 3 fresh" },
        { 4, "XYZ", "0 late, 3 duplicate, 0 fresh" },
    };
    for (const auto& [position, text, outcome] : steps)
        BOOST_TEST(w.place_at(position, text) == outcome);
    BOOST_TEST(w.produce() == "abcdefgh");
}

BOOST_AUTO_TEST_CASE(empty_window_is_zero_filled_up_to_samples_beyond_its_room)
{
    letter_window w(1, zero_fill, 8);
    for (const std::size_t produced : { 8u, 16u, 20u }) {
        BOOST_TEST(!w.reserve(20, 26));
        // the second time nothing is produced, since reserve() was not retried
        for (int i = 0; i < 2; ++i) {
            BOOST_TEST(w.produce(true).size() == produced);
            w.drain();
        }
    }
    BOOST_TEST((w.reserve(20, 26) && w.window.is_empty()));
}

BOOST_AUTO_TEST_CASE(production_makes_room_in_full_queues)
{
    letter_window w(1, zero_fill, 10000);
    w.place({ "a" });
    w.produce();
    std::int64_t at = 2, values = 0;
    const auto try_set_item = [&] {
        return w.window.set_item(0, 0, { values, values + 1 }, values & 1);
    };
    for (; at < 9000 && w.reserve(at, at + 1); at += 2)
        w.place_at(at, "x");
    while (values < 9000 && try_set_item())
        ++values;
    BOOST_TEST((at < 9000 && values < 9000));
    w.produce(true);
    BOOST_TEST((w.reserve(at, at + 1) && try_set_item()));
}

BOOST_AUTO_TEST_CASE(lagging_output_is_zero_filled_after_ten_times_max_delay)
{
    letter_window w(2);
    w.place({ "ab" }, 0);
    w.place({ "b", "a" }, 1);
    w.now += 20 * max_delay;
    w.place({ "cd" }, 0); // output 1 lags from now on
    BOOST_TEST(w.produce_after(10 * max_delay - tick) == "ab");
    w.place({ "c" }, 1); // and is awaited again
    w.now += max_delay;
    w.place({ "ef" }, 0);
    w.place({ "c" }, 1); // a duplicate changes nothing
    BOOST_TEST(w.produce_after(9 * max_delay - tick) == "abc");
    BOOST_TEST(w.produce_after(tick) == "abcdef");
    BOOST_TEST(w.out[1] == "abc...");
    BOOST_TEST(w.tags[1] == " 0:timestamp=0 3:missing=3");
    BOOST_TEST(w.counted(0) == "6 received, 0 missing, 0 skipped");
    BOOST_TEST(w.counted(1) == "3 received, 3 missing, 0 skipped");
    w.begin_stream();
    w.place({ "g" }, 0);
    BOOST_TEST(w.produce_after(opening) == "abcdef");
}

BOOST_AUTO_TEST_CASE(output_given_up_on_is_awaited_again)
{
    letter_window w(2);
    w.place({ "ab" }, 0);
    w.place({ "a" }, 1);
    BOOST_TEST(w.produce_after(10 * max_delay) == "ab");
    w.place({ "cd" }, 0);
    BOOST_TEST(w.produce_after(tick) == "ab");
    w.place({ "cd" }, 1);
    BOOST_TEST(w.produce() == "abcd");
    BOOST_TEST(w.out[1] == "a.cd");
}

BOOST_AUTO_TEST_CASE(skipped_samples_are_tagged)
{
    letter_window w(1, skip);
    w.place({ "cd", "h" });
    BOOST_TEST(w.produce_after(max_delay) == "cdh");
    w.window.flush(10); // two more, with no later sample yet
    w.produce();
    w.place({ "k" });
    BOOST_TEST(w.produce() == "cdhk");
    BOOST_TEST(w.tags[0] == " 0:skipped=2 0:timestamp=2 2:skipped=3 2:timestamp=7"
                            " 3:skipped=2 3:timestamp=10");
    BOOST_TEST(w.counted() == "4 received, 0 missing, 7 skipped");
}

BOOST_AUTO_TEST_CASE(item_changes_are_tagged_at_the_next_sample)
{
    const std::pair<missing_policy, const char*> cases[] = {
        { zero_fill,
          " 0:timestamp=0 0:item0=5 4:missing=2 4:item0=6 6:item0=7 7:item0=5" },
        { skip, " 0:timestamp=0 0:item0=5 4:skipped=2 4:timestamp=6 4:item0=7 5:item0=5" }
    };
    for (const auto& [on_missing, tags] : cases) {
        letter_window w(1, on_missing);
        for (const auto& [begin, end, value] :
             { std::tuple(0, 4, 5u), { 4, 6, 6u }, { 6, 7, 7u }, { 7, 8, 5u } })
            BOOST_TEST(w.window.set_item(0, 0, { begin, end }, value));
        w.place({ "abcd", "gh" });
        w.produce_after(max_delay);
        BOOST_TEST(w.tags[0] == tags);
    }
}

BOOST_AUTO_TEST_CASE(skip_to_is_followed_by_a_timestamp_tag)
{
    for (const auto on_missing : { zero_fill, skip }) {
        letter_window w(1, on_missing);
        w.place({ "ab" });
        w.produce();
        w.window.skip_to(6);
        BOOST_TEST((w.window.is_empty() && w.window.front() == 6));
        w.place({ "gh" });
        BOOST_TEST(w.produce() == "abgh");
        BOOST_TEST(w.tags[0] == " 0:timestamp=0 2:skipped=4 2:timestamp=6");
        BOOST_TEST(w.counted() == "4 received, 0 missing, 4 skipped");
    }
}

BOOST_AUTO_TEST_CASE(stream_opens_at_the_earliest_sample_of_any_output)
{
    for (const auto on_missing : { zero_fill, skip }) {
        letter_window w(3, on_missing, 20);
        BOOST_TEST(w.begin_stream() == 10);
        w.place({ "kl" }, 0);
        w.place({ "ghijkl", "op" }, 1);
        BOOST_TEST(w.produce_after(opening - tick) == "");
        BOOST_TEST(w.window.front() == 0);
        w.place({ "efghij" }, 0);
        BOOST_TEST(w.produce_after(tick) == "");
        BOOST_TEST(w.window.front() == 4);
        w.place({ "ef", "mn" }, 1);
        w.place({ "efgh" }, 2);
        BOOST_TEST(w.produce() == "efgh");
        w.drain();
        w.place({ "mnop" }, 0);
        w.place({ "ijklmnop" }, 2);
        w.produce();
        BOOST_TEST(w.out == strings(3, "efghijklmnop"), boost::test_tools::per_element());
        for (const std::size_t output : { 0u, 1u, 2u }) {
            BOOST_TEST(w.tags[output] == " 0:timestamp=4");
            BOOST_TEST(w.counted(output) == "12 received, 0 missing, 0 skipped");
        }
    }
}

BOOST_AUTO_TEST_CASE(stream_opens_at_a_multiple_of_the_granule)
{
    letter_window w(1, zero_fill, 22);
    BOOST_TEST(w.begin_stream(4) == 8);
    w.place({ "h", "k" });
    BOOST_TEST(w.produce_after(max_delay) == "...h..k");
    BOOST_TEST(w.tags[0] == " 0:timestamp=4 0:missing=3 4:missing=2");
}

BOOST_AUTO_TEST_CASE(blocked_window_ends_the_opening_first)
{
    letter_window w(2, zero_fill, 8);
    w.begin_stream();
    w.place({ "c", "e" }, 0);
    w.place({ "d" }, 1);
    BOOST_TEST((w.reserve(5, 8) && !w.reserve(8, 10)));
    BOOST_TEST(w.produce(true) == "");
    BOOST_TEST(w.window.front() == 2);
    BOOST_TEST(w.reserve(8, 10));
    w.place({ "d" }, 0);
    for (const auto* expected : { "cd", "cde", "cde..." })
        BOOST_TEST(w.produce(true) == expected);
    BOOST_TEST(w.out[1] == ".d....");
    BOOST_TEST(w.counted(1) == "1 received, 5 missing, 0 skipped");
}

BOOST_AUTO_TEST_CASE(flush_ends_the_opening)
{
    letter_window w;
    w.begin_stream();
    w.window.flush(); // has no effect
    BOOST_TEST(w.produce() == "");
    w.place({ "j", "l" });
    BOOST_TEST(w.produce() == "");
    w.window.flush(14);
    BOOST_TEST(w.produce() == "j.l..");
    BOOST_TEST(w.tags[0] == " 0:timestamp=9 1:missing=1 3:missing=2");
    w.begin_stream();
    w.window.flush(15); // before any sample arrived
    BOOST_TEST(w.produce() == "j.l..");
    BOOST_TEST((w.window.is_empty() && w.window.front() == 15));
    w.place({ "q" });
    BOOST_TEST(w.produce() == "j.l..");
    BOOST_TEST(w.counted() == "2 received, 3 missing, 0 skipped");
}

BOOST_AUTO_TEST_CASE(items_of_the_opening_are_tagged_in_place)
{
    letter_window w;
    w.place({ "a" });
    w.produce();
    w.begin_stream();
    for (const auto& [begin, value] : { std::pair(10, 7u), { 6, 6u }, { 2, 5u } })
        BOOST_TEST(w.window.set_item(0, 0, { begin, begin + 4 }, value));
    w.place({ "kl", "ghij", "ef" }); // only the end of the first heap
    BOOST_TEST(w.produce_after(opening) == "aefghijkl");
    BOOST_TEST(w.tags[0] == " 0:timestamp=0 1:timestamp=4 1:item0=5 3:item0=6 7:item0=7");
}

BOOST_AUTO_TEST_CASE(abandoned_samples_count_as_skipped)
{
    constexpr std::int64_t front = 6;
    const std::pair<missing_policy, const char*> cases[] = {
        { zero_fill, "3 received, 2 missing, 2 skipped" },
        { skip, "3 received, 0 missing, 4 skipped" }
    };
    for (const auto& [on_missing, counted] : cases) {
        letter_window w(1, on_missing);
        w.place({ "a", "c", "f" });
        std::vector<sample_tag> tags;
        w.window.produce(4, tags);
        w.window.flush();
        w.window.discard();
        w.drain();
        BOOST_TEST((w.window.is_empty() && w.window.front() == front));
        BOOST_TEST(w.reserve(front, front + std::int64_t(w.room)));
        w.place_at(front, "x");
        w.place_at(front + 2, "z");
        BOOST_TEST(w.produce() == "x");
        BOOST_TEST(w.tags[0] == " 0:timestamp=" + std::to_string(front));
        BOOST_TEST(w.counted() == counted);
    }
}

// Compares with a map of the samples by position, where the first sample placed counts.
// The clock stands still, so samples are given up only to make room.
static void place_at_random(unsigned seed)
{
    std::mt19937 random(seed);
    const bool skips = random() % 2;
    const std::size_t outputs = skips ? 1 : 1 + random() % 3;
    letter_window w(outputs, skips ? skip : zero_fill);
    const auto front = [&] { return w.window.front(); };
    std::vector<std::map<std::int64_t, char>> model(outputs);
    const auto produce = [&](bool is_blocked) {
        auto ready = front();
        const auto is_placed = [&](const auto& in) { return in.count(ready) > 0; };
        while (std::all_of(model.begin(), model.end(), is_placed))
            ++ready;
        w.produce(is_blocked);
        BOOST_REQUIRE_GE(front(), ready);
        BOOST_REQUIRE((is_blocked || front() == ready));
        if (is_blocked || random() % 2)
            w.drain();
    };
    const auto place = [&](std::int64_t ahead) {
        const auto output = random() % outputs;
        const auto begin = std::max<std::int64_t>(front() + ahead, 0);
        std::string text(1 + random() % 8, ' ');
        for (auto& letter : text)
            letter = char('a' + random() % 26);
        const position_range range{ begin, begin + std::int64_t(text.size()) };
        for (int tries = 0; !w.window.reserve(output, range, w.now); ++tries) {
            BOOST_REQUIRE_LT(tries, 100);
            produce(true);
        }
        w.place_at(begin, text, output);
        for (auto at = std::max(begin, front()); at < range.end; ++at)
            model[output].emplace(at, text[std::size_t(at - begin)]);
    };
    std::int64_t first = 0;
    if (random() % 2) {
        first = w.begin_stream();
        for (auto n = 1 + random() % 5; n > 0; --n)
            place(std::int64_t(random() % 40));
        BOOST_REQUIRE_EQUAL(w.window.update_ready_end(w.now, false), 0);
        w.now += opening;
        w.window.update_ready_end(w.now, random() % 2);
        for (const auto& samples : model)
            if (!samples.empty())
                first = std::min(first, samples.begin()->first);
        BOOST_REQUIRE_EQUAL(front(), first);
    }
    for (int step = 0; step < 200; ++step) {
        place(std::int64_t(random() % (random() % 20 ? 30 : 200)) - 6);
        produce(random() % 16 == 0);
    }
    w.window.flush();
    w.produce();
    for (std::size_t i = 0; i < outputs; ++i) {
        std::string expected(skips ? 0 : std::size_t(front() - first), '.');
        for (const auto& [position, letter] : model[i])
            if (skips)
                expected += letter;
            else
                expected[std::size_t(position - first)] = letter;
        BOOST_TEST(w.out[i] == expected);
        const auto missing = std::size_t(front() - first) - model[i].size();
        BOOST_TEST(w.counted(i) == format_counts({ { model[i].size(), "received" },
                                                   { skips ? 0 : missing, "missing" },
                                                   { skips ? missing : 0, "skipped" } }));
    }
}

BOOST_AUTO_TEST_CASE(random_samples_are_produced_by_position)
{
    for (unsigned seed = 0; seed < 500; ++seed)
        BOOST_TEST_CONTEXT("seed " << seed) { place_at_random(seed); }
}

BOOST_AUTO_TEST_SUITE_END()
