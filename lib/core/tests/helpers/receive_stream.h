/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H

#include "helpers/spead_packets.h"
#include "receive/output_window.h"
#include "receive/reassembler.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gr::spead {

//! From packets to samples, without sockets and a flow graph.
struct receive_stream {
    struct options {
        std::size_t outputs = 1;
        std::size_t sockets = 1; //!< of each output, if each has its own
        std::int64_t window_samples = 1 << 18;
        sample_type type = sample_type::int8;
        missing_policy on_missing = missing_policy::zero_fill;
        std::shared_ptr<const stream_format> format = std::make_shared<stream_format>();
        std::int64_t samples = 1;
        std::int64_t ticks = 1;
        std::int64_t max_gap = 1 << 24;
        std::chrono::milliseconds max_delay{ 100 };
        bool has_own_sockets = false; //!< each output
    };
    using clock = output_window::clock;

    options how;
    clock::time_point now{ std::chrono::seconds(1000) };
    std::vector<source_counter_set> counters;
    source_counter_set common;
    reject_counters rejects;
    rate_limited_log log{ [](const std::string&) {} };
    output_window window;
    reassembler to;
    std::vector<std::vector<std::byte>> buffers;
    std::vector<std::vector<std::byte>> out;
    std::vector<sample_tag> tags; // offsets from the first sample of the output

    static reassembler::config config_of(const options& with)
    {
        reassembler::config config;
        const auto lists = with.has_own_sockets ? with.outputs : 1;
        config.has_group_for_each_output = lists > 1;
        for (std::size_t i = 0; i < lists * with.sockets; ++i)
            config.group_of_socket.push_back(i / with.sockets);
        config.type = with.type;
        config.format = with.format;
        config.stream = { with.outputs,
                          config.group_of_socket.size(),
                          with.samples,
                          with.ticks,
                          with.max_gap };
        return config;
    }

    receive_stream() : receive_stream(options()) {}
    explicit receive_stream(options with)
        : how(with),
          counters(with.outputs),
          window({ with.outputs, with.on_missing, with.max_delay, 32 }, counters),
          to(config_of(with), window, counters, common, rejects, log),
          buffers(with.outputs,
                  std::vector<std::byte>(static_cast<std::size_t>(with.window_samples) *
                                         output_bytes())),
          out(with.outputs)
    {
        to.start_run();
        set_room();
    }

    std::size_t output_bytes() const { return sample_decoder(how.type).output_bytes(); }

    void set_room()
    {
        std::vector<std::byte*> at;
        for (auto& each : buffers)
            at.push_back(each.data());
        window.set_room(at, how.window_samples);
    }

    //! Gives a packet, and produces samples if there is no room for it. Throws if there
    //! is none then.
    void
    take(const packet_bytes& packet, std::size_t socket = 0, std::uint64_t sender = 1)
    {
        retry([&] {
            return to.place_packet({ packet.data(), packet.size(), socket, sender }, now);
        });
        go_on();
    }
    void take(const std::vector<packet_bytes>& packets)
    {
        for (const auto& packet : packets)
            take(packet);
    }
    void go_on()
    {
        do {
            retry([&] { return to.resume(now); });
            produce(false);
        } while (to.has_more());
    }

    //! Time goes by, and nothing arrives.
    void pass(std::chrono::milliseconds time)
    {
        for (int i = 0; i < 32; ++i) {
            now += time / 32;
            go_on();
        }
    }

    void end()
    {
        window.give_up();
        produce(false);
        to.end_run();
        window.abandon(window.top());
    }

    //! Produces what is ready, as a flow graph does that is fast.
    void produce(bool is_blocked)
    {
        const auto end = window.end_of_ready(now, is_blocked);
        if (end <= window.front())
            return;
        std::vector<sample_tag> some;
        const auto n = window.produce(end, some) * output_bytes();
        for (auto tag : some) {
            if (tag.what == sample_tag::kind::timestamp)
                tag.value = to.tick_at(static_cast<std::int64_t>(tag.value));
            tag.offset += out[tag.output].size() / output_bytes();
            tags.push_back(tag);
        }
        for (std::size_t i = 0; i < how.outputs; ++i) {
            auto& from = buffers[i];
            out[i].insert(out[i].end(),
                          from.begin(),
                          from.begin() + static_cast<std::ptrdiff_t>(n));
            std::memmove(from.data(), from.data() + n, from.size() - n);
        }
        set_room();
    }

    template <typename condition>
    void retry(condition&& is_done)
    {
        // a gap is filled with a window of zeros at a time
        constexpr int most = 100000;
        for (int i = 0; !is_done(); ++i) {
            if (i == most)
                throw std::logic_error("no room although all has been produced");
            produce(true);
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
