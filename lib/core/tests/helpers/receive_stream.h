/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H
#define INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H

#include "helpers/spead_packets.h"
#include "receive/heap_router.h"
#include "receive/output_window.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gr::spead {

//! Turns packets into samples, without sockets and without a flow graph.
struct receive_stream {
    struct options {
        std::size_t outputs = 1;
        std::size_t sockets = 1; //!< per output with has_own_sockets, otherwise in total
        std::int64_t window_samples = 1 << 18;
        sample_type type = sample_type::int8;
        missing_policy on_missing = missing_policy::zero_fill;
        std::shared_ptr<const stream_format> format = std::make_shared<stream_format>();
        std::int64_t samples = 1;
        std::int64_t ticks = 1;
        std::int64_t max_gap = 1 << 24;
        std::chrono::milliseconds max_delay{ 100 };
        bool has_own_sockets = false; //!< each output has its own
        std::optional<std::uint64_t> start_tick = std::nullopt;
        //! How long packets are received before samples are produced.
        std::chrono::milliseconds max_read{ 0 };
    };
    using clock = output_window::clock;

    options settings;
    clock::time_point now{ std::chrono::seconds(1000) };
    clock::time_point read_begin = now; // the last time that samples were produced
    std::vector<source_counter_set> counters;
    common_counter_set common;
    rate_limited_log log{ [](const std::string&) {} };
    output_window window;
    heap_router router;
    std::vector<std::vector<std::byte>> buffers;
    std::vector<std::vector<std::byte>> out;
    std::vector<sample_tag> tags; // offsets from the first sample of the output

    static receive_config config_of(const options& chosen)
    {
        receive_config config;
        const auto lists = chosen.has_own_sockets ? chosen.outputs : 1;
        config.has_group_for_each_output = lists > 1;
        for (std::size_t i = 0; i < lists * chosen.sockets; ++i)
            config.group_of_source.push_back(i / chosen.sockets);
        config.type = chosen.type;
        config.format = chosen.format;
        config.timeline_config = { chosen.outputs,   config.group_of_source.size(),
                                   chosen.samples,   chosen.ticks,
                                   chosen.max_gap,   false,
                                   chosen.start_tick };
        config.max_delay = chosen.max_delay;
        return config;
    }

    receive_stream() : receive_stream(options()) {}
    explicit receive_stream(options chosen)
        : settings(chosen),
          counters(chosen.outputs),
          common(chosen.format.get()),
          window({ chosen.outputs, chosen.on_missing, chosen.max_delay, 32 }, counters),
          router(config_of(chosen), window, counters, common, log),
          buffers(chosen.outputs,
                  std::vector<std::byte>(static_cast<std::size_t>(chosen.window_samples) *
                                         output_bytes())),
          out(chosen.outputs)
    {
        router.start_run();
        set_room();
    }

    std::size_t output_bytes() const
    {
        return components_of(settings.type) * bits_of(settings.type) / 8;
    }

    void set_room()
    {
        std::vector<std::byte*> at;
        for (auto& buffer : buffers)
            at.push_back(buffer.data());
        window.set_room(at, settings.window_samples);
    }

    //! Places a packet; produces samples if there is no room for it. Throws if there is
    //! still none afterwards.
    void
    receive(const packet_bytes& packet, std::size_t socket = 0, std::uint64_t sender = 1)
    {
        if (now - read_begin > settings.max_read) { // first, time passes
            read_begin = now;
            produce(false);
        }
        retry_until([&] { return router.resume(now); });
        router.add_datagram({ packet.data(), packet.size(), socket, sender }, now);
        if (settings.max_read.count())
            retry_until([&] { return router.resume(now); });
        else
            process_pending();
    }
    void receive(const std::vector<packet_bytes>& packets)
    {
        for (const auto& packet : packets)
            receive(packet);
    }
    //! Lets the router place waiting packets, and produces what is ready.
    void process_pending()
    {
        retry_until([&] { return router.resume(now); });
        produce(false);
    }

    //! Advances the clock while no packet arrives.
    void pass_time(std::chrono::milliseconds time)
    {
        for (int i = 0; i < 32; ++i) {
            now += time / 32;
            process_pending();
        }
    }

    void end()
    {
        window.flush();
        produce(false);
        router.end_run();
        window.discard();
    }

    //! Produces what is ready, like a flow graph that keeps up.
    void produce(bool is_blocked)
    {
        const auto end = window.update_ready_end(now, is_blocked);
        if (end <= window.front())
            return;
        std::vector<sample_tag> produced;
        const auto n = window.produce(end, produced) * output_bytes();
        for (auto tag : produced) {
            if (tag.type == sample_tag::kind::timestamp)
                tag.value = router.tick_at(static_cast<std::int64_t>(tag.value));
            tag.offset += out[tag.output].size() / output_bytes();
            tags.push_back(tag);
        }
        for (std::size_t i = 0; i < settings.outputs; ++i) {
            auto& from = buffers[i];
            out[i].insert(out[i].end(),
                          from.begin(),
                          from.begin() + static_cast<std::ptrdiff_t>(n));
            std::memmove(from.data(), from.data() + n, from.size() - n);
        }
        set_room();
    }

    template <typename condition>
    void retry_until(condition&& is_done)
    {
        // each attempt fills at most a window of a gap with zeros
        constexpr int max_attempts = 100000;
        for (int i = 0; !is_done(); ++i) {
            if (i == max_attempts)
                throw std::logic_error("no room although all samples have been produced");
            produce(true);
            read_begin = now;
        }
    }

    std::vector<std::pair<std::size_t, std::uint64_t>>
    tags_of(sample_tag::kind kind, std::size_t output = 0) const
    {
        std::vector<std::pair<std::size_t, std::uint64_t>> found;
        for (const auto& tag : tags)
            if (tag.type == kind && tag.output == output)
                found.emplace_back(tag.offset, tag.value);
        return found;
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_TESTS_RECEIVE_STREAM_H */
