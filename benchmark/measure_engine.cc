/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "engine.h"
#include "progress.h"
#include "send_perf.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

double measure_engine(const options& chosen)
{
    std::mutex mutex;
    std::condition_variable space;
    gr::spead::sink_options options;
    options.heap_samples = static_cast<std::int64_t>(chosen.heap_samples);
    options.max_packet_size = chosen.packet_bytes;
    options.rate = chosen.rate;
    options.affinity = chosen.cpu;
    options.send_stop = false; // it takes its time, whatever the speed
    gr::spead::engine engine(
        { chosen.to },
        options,
        [&] {
            {
                const std::lock_guard<std::mutex> lock(mutex);
            }
            space.notify_all();
        },
        [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });

    const auto write = [&](const std::vector<std::int8_t>& samples) {
        for (std::size_t at = 0; at < samples.size();) {
            const auto mark = engine.progress(0);
            const auto taken =
                engine.write(0,
                             reinterpret_cast<const std::byte*>(samples.data() + at),
                             samples.size() - at);
            at += taken;
            if (taken)
                continue;
            std::unique_lock<std::mutex> lock(mutex);
            while (!engine.space_since(0, mark)) {
                engine.announce_wait(0);
                if (engine.space_since(0, mark))
                    break;
                space.wait(lock);
            }
        }
    };

    const progress shown([&] { return engine.counts().samples_sent; }, chosen.samples());
    // a piece of a heap that stays in the cache, as samples from a device would
    std::vector<std::int8_t> piece;
    const auto start = steady::now();
    engine.start();
    for (std::uint64_t heap = 0; heap < chosen.heaps; ++heap)
        for (std::size_t left = chosen.heap_samples; left; left -= piece.size()) {
            piece.assign(std::min<std::size_t>(left, 1 << 18),
                         static_cast<std::int8_t>(heap));
            write(piece);
        }
    engine.stop();
    const double elapsed = seconds_since(start);
    if (engine.counts().samples_sent != chosen.samples())
        throw std::runtime_error("not all samples were sent");
    return static_cast<double>(chosen.samples()) / elapsed;
}
