/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SAMPLE_WINDOW_H
#define INCLUDED_SPEAD_CORE_SAMPLE_WINDOW_H

#include "item_values.h"
#include "missing_ranges.h"
#include "past_position.h"
#include "stream_format.h"

#include <boost/lockfree/spsc_queue.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gr::spead {

//! A change of an immediate item.
struct item_change {
    std::int64_t position;
    std::uint32_t item; //!< its index among the immediate items
    std::uint64_t value;
};

//! Where one stream ends and another one begins.
struct stream_begin {
    position_range gap;           //!< unused positions between them
    std::int64_t reference = 0;   //!< a position of the new stream
    std::uint64_t tick = 0;       //!< the time of this position
    std::size_t sample_bytes = 1; //!< of a sample in a packet
    std::shared_ptr<const stream_format> format = nullptr;
};

/*!
 * \brief The samples that have arrived and were not read yet, at their places.
 *
 * Bytes of samples have positions, which are the same for all outputs: what has the same
 * position was sampled at the same time. Each output has a ring of memory for them.
 * Positions in front of decided() are decided: their bytes have arrived, or are given up.
 *
 * Outputs are given by their number. One thread at a time writes: place(), set_item(),
 * begin_stream(), decide_in_time(), decide_all(). Another one reads: front(), base(),
 * memory(), begins(), missing(), changes(), release().
 */
class sample_window
{
public:
    using clock = std::chrono::steady_clock;

    struct plan {
        std::size_t outputs = 1;
        std::size_t bytes = 0;            //!< of each output's ring
        std::size_t items = 0;            //!< immediate items, at most
        clock::duration max_delay = {};   //!< of bytes that later ones overtook; ten
                                          //!< times that, if they are of other outputs
        clock::duration start_delay = {}; //!< of the first bytes of a stream
    };

    //! Throws std::runtime_error if there is no memory.
    explicit sample_window(const plan& how);

    //! Immediate items that a stream may have.
    std::size_t most_items() const { return d_outputs.front()->items.size(); }

    //! Forgets all samples. While no thread writes or reads.
    void clear();

    //! \name The thread that writes
    //! \{

    struct outcome {
        bool is_full = false; //!< nothing was done; to be tried again later
        std::size_t fresh = 0, duplicate = 0, late = 0; //!< bytes
    };
    //! Copies \p n bytes to their place. If there is no room, gives up what is missing.
    outcome
    place(std::size_t which, std::int64_t position, const std::byte* data, std::size_t n);

    //! The value of an immediate item in a heap. False if there is no room; to be tried
    //! again later.
    [[nodiscard]] bool set_item(std::size_t which,
                                std::size_t item,
                                position_range heap,
                                std::uint64_t value);

    //! Gives up what is missing, and begins a stream of samples of \p sample_bytes. Its
    //! first bytes are to be placed at the position that it returns. If earlier bytes
    //! come within start_delay, it begins earlier, by a multiple of \p granule bytes.
    //! None if there is no room; to be tried again later.
    std::optional<std::int64_t> begin_stream(clock::time_point now,
                                             std::size_t sample_bytes,
                                             std::size_t granule,
                                             std::shared_ptr<const stream_format> format);

    //! The tick of a position of the stream that begins, which its other ticks follow
    //! from.
    void set_reference(std::int64_t position, std::uint64_t tick);

    //! If all has been read, uses the memory from its beginning again: so a reader that
    //! keeps up finds samples in the caches of the processor.
    void reuse_memory();

    //! Decides what has arrived, and what was missing for too long.
    void decide_in_time(clock::time_point now);
    //! Decides everything. False if there is no room; to be tried again later.
    bool decide_all();

    std::int64_t top() const { return d_top; } //!< behind the last byte that has arrived
    std::int64_t decided() const { return d_decided; }
    //! Whether decide_in_time() has more to do later, though nothing arrives.
    bool is_waiting() const { return d_starting || d_decided < floor(d_top); }
    std::int64_t capacity() const { return static_cast<std::int64_t>(d_bytes); }

    //! \}

    //! \name The thread that reads
    //! \{

    //! The part that is to be read, from 0 to 1. Any thread.
    double fill() const
    {
        const auto first = base(); // before front(): both grow
        const auto used = static_cast<double>(front() - first);
        return std::min(used / static_cast<double>(d_bytes), 1.0);
    }
    std::int64_t front() const { return d_front.load(std::memory_order_acquire); }
    std::int64_t base() const { return d_base.load(std::memory_order_acquire); }
    //! Where the byte at \p position is, and how many lie behind it without a break.
    std::pair<const std::byte*, std::size_t> memory(std::size_t which,
                                                    std::int64_t position) const;

    template <typename element>
    using queue = boost::lockfree::spsc_queue<element>;
    //! \name Each sorted by position, none behind front()
    //! \{
    queue<stream_begin>& begins() { return d_begins; }
    queue<position_range>& missing(std::size_t which) { return d_outputs[which]->gaps; }
    queue<item_change>& changes(std::size_t which) { return d_outputs[which]->changes; }
    //! \}

    //! All before \p position has been read.
    void release(std::int64_t position)
    {
        d_base.store(position, std::memory_order_release);
    }

    //! \}

private:
    // the last ranges that were given up, to tell late bytes from repeated ones
    struct recent_gaps {
        std::array<position_range, 256> ranges{};
        std::size_t next = 0;
        void add(position_range range) { ranges[next++ % ranges.size()] = range; }
        std::int64_t overlap(position_range with) const;
    };
    struct output {
        output(std::size_t bytes, std::size_t items, clock::duration max_delay);

        std::unique_ptr<std::byte[]> memory;
        missing_ranges missing;
        std::int64_t head = 0; // behind the last byte that has arrived
        past_position past_head;
        std::int64_t reported_end = 0; // of the last gap
        recent_gaps recent;
        std::vector<item_values> items;
        queue<position_range> gaps; // that were given up
        queue<item_change> changes;

        std::int64_t arrived() const
        {
            return missing.empty() ? head : missing.front().begin;
        }
    };
    std::int64_t floor(std::int64_t position) const
    {
        return position - position % d_step;
    }
    std::int64_t ceil(std::int64_t position) const
    {
        return floor(position + d_step - 1);
    }
    bool make_room(std::int64_t end);
    void move_begin(std::int64_t position);
    void start();
    bool decide(std::int64_t target);
    bool has_room_for(const output& out, std::int64_t target) const;
    void report_missing(output& out, position_range range);
    void report_changes(output& out, std::int64_t target);
    void copy(output& out, std::int64_t position, const std::byte* data, std::size_t n);

    const std::size_t d_bytes;
    const clock::duration d_start_delay;
    std::vector<std::unique_ptr<output>> d_outputs;
    queue<stream_begin> d_begins;

    std::int64_t d_step = 1;    // bytes of a sample
    std::int64_t d_granule = 1; // bytes
    std::int64_t d_top = 0;
    std::int64_t d_decided = 0;
    std::int64_t d_earliest_begin = 0; // of the present stream
    std::int64_t d_begin = 0;
    bool d_starting = false; // the stream may still begin earlier
    clock::time_point d_start_time{};
    stream_begin d_next{};
    past_position d_past_top;
    std::vector<item_change> d_sorted; // of decide()

    std::size_t index(std::int64_t position) const
    {
        const auto origin = d_origin.load(std::memory_order_relaxed);
        return static_cast<std::size_t>(position - origin) % d_bytes;
    }

    // the position at the beginning of the memory; the reader sees it with the front
    std::atomic<std::int64_t> d_origin{ 0 };
    alignas(64) std::atomic<std::int64_t> d_front{ 0 };
    alignas(64) std::atomic<std::int64_t> d_base{ 0 };
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SAMPLE_WINDOW_H */
