/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H

#include "helpers/spead_packets.h"
#include "receive/reassembler.h"
#include "receive/sample_reader.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::spead {

//! From packets to samples, without sockets and threads.
struct receive_stream {
    struct options {
        std::size_t outputs = 1;
        std::size_t window_bytes = 1 << 18;
        sample_type type = sample_type::int8;
        missing_policy on_missing = missing_policy::zero_fill;
        std::shared_ptr<const stream_format> format = std::make_shared<stream_format>();
        std::int64_t samples = 1;
        std::int64_t ticks = 1;
        std::int64_t max_gap = 1 << 24;
        std::chrono::milliseconds max_delay{ 100 };
        std::chrono::milliseconds start_delay{ 0 };
        bool has_own_sockets = false; //!< each output
    };
    using clock = sample_window::clock;

    options how;
    clock::time_point now{ std::chrono::seconds(1000) };
    std::vector<source_counter_set> counters;
    source_counter_set common;
    reject_counters rejects;
    std::vector<std::string> lines;
    rate_limited_log log;
    sample_window window;
    reassembler to;
    sample_reader reader;
    std::vector<std::vector<std::byte>> out;
    std::vector<sample_tag> tags; // offsets from the first sample of the output

    static std::vector<reassembler::socket_group> groups_of(const options& with)
    {
        if (!with.has_own_sockets)
            return { { 0, with.outputs } };
        std::vector<reassembler::socket_group> groups;
        for (std::size_t i = 0; i < with.outputs; ++i)
            groups.push_back({ i, 1 });
        return groups;
    }

    receive_stream() : receive_stream(options()) {}
    explicit receive_stream(options with)
        : how(with),
          counters(with.outputs),
          log([](const std::string&) {}),
          window(
              { with.outputs, with.window_bytes, 32, with.max_delay, with.start_delay }),
          to({ groups_of(with),
               with.type,
               with.format,
               with.samples,
               with.ticks,
               with.max_gap },
             window,
             counters,
             common,
             rejects,
             log),
          reader({ with.type, 0, with.on_missing, with.ticks, with.samples },
                 window,
                 counters),
          out(with.outputs)
    {
        to.start_run();
    }

    //! Gives a packet, and reads if there is no room for it. Throws if there is none
    //! then.
    void take(const packet_bytes& packet, std::size_t group = 0)
    {
        read_until([&] { return to.take(packet.data(), packet.size(), group, now); });
        read_until([&] { return to.place_waiting(now); });
        window.decide_in_time(now);
        window.reuse_memory();
    }
    void take(const std::vector<packet_bytes>& packets)
    {
        for (const auto& packet : packets)
            take(packet);
    }

    //! Reads all that is ready, \p most samples at a time.
    void read(std::size_t most = 1000)
    {
        const auto size = sample_decoder(how.type).output_bytes();
        std::vector<std::vector<std::byte>> room(how.outputs,
                                                 std::vector<std::byte>(most * size));
        std::vector<std::byte*> at;
        for (auto& each : room)
            at.push_back(each.data());
        std::vector<std::size_t> n(how.outputs);
        while (reader.is_ready()) {
            std::vector<sample_tag> some;
            reader.read(at, most, n, some);
            for (auto tag : some) {
                tag.offset += out[tag.output].size() / size;
                tags.push_back(tag);
            }
            for (std::size_t i = 0; i < how.outputs; ++i)
                out[i].insert(out[i].end(),
                              room[i].begin(),
                              room[i].begin() + static_cast<std::ptrdiff_t>(n[i] * size));
        }
    }

    //! Time goes by, and nothing arrives.
    void pass(std::chrono::milliseconds time)
    {
        for (int i = 0; i < 32; ++i) {
            now += time / 32;
            window.decide_in_time(now);
        }
    }

    void end()
    {
        read_until([&] { return window.decide_all(); });
        to.end_run();
        read();
    }
    template <typename condition>
    void read_until(condition&& is_done)
    {
        // each of the packets that wait for descriptors may need room
        constexpr int most = 100000;
        for (int i = 0; !is_done(); ++i) {
            if (i == most)
                throw std::logic_error("no room although all has been read");
            read();
        }
    }

    std::vector<std::pair<std::size_t, std::uint64_t>>
    tags_of(sample_tag::kind what, std::size_t output = 0) const
    {
        std::vector<std::pair<std::size_t, std::uint64_t>> some;
        for (const auto& tag : tags)
            if (tag.what == what && tag.output == output)
                some.emplace_back(tag.offset, tag.value);
        return some;
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H */
