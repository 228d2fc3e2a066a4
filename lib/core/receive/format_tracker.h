/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_FORMAT_TRACKER_H
#define INCLUDED_SPEAD_CORE_FORMAT_TRACKER_H

#include "heap_slot.h"
#include "no_output_reason.h"
#include "receive_config.h"
#include "sender_memory.h"
#include "stream_description.h"
#include "stream_follower.h"
#include "support/rate_limited_log.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gr::spead {

//! Tracks what senders describe: when the format changes, and which heaps are of it.
class format_tracker
{
public:
    using time_point = std::chrono::steady_clock::time_point;

    //! The arguments must outlive this object. \p format: the current one.
    format_tracker(const receive_config& config,
                   const indexed_format& format,
                   const stream_follower& follower,
                   sender_memory& senders,
                   no_output_reason& reason,
                   rate_limited_log& log);

    void start_run()
    {
        d_change = {};
        d_latest_sender = {};
    }
    //! Forgets all descriptors.
    void clear()
    {
        d_description.clear();
        d_has_changed = false;
    }

    //! Reads the descriptors of a heap from their bytes.
    void read_descriptors(const heap_slot& slot,
                          std::vector<std::byte> content,
                          time_point now);
    //! Whether descriptions have changed since mark_in_use().
    bool has_changed() const { return d_has_changed; }
    //! The format that the descriptions give; nullptr with a refusal() if there is none.
    std::shared_ptr<const stream_format> derive_format();
    //! The derived format is in use.
    void mark_in_use() { d_has_changed = false; }
    //! Why there is no format; else empty.
    const std::string& refusal() const { return d_description.refusal(); }

    //! Whether the descriptors of a heap that have arrived leave the samples and the
    //! timestamp as they are known.
    bool confirms_format(const heap_slot& slot,
                         const std::vector<std::byte>& content) const
    {
        return d_format &&
               d_description.confirm(slot.descriptors.parse(content), *d_format);
    }
    //! Whether a heap was sent before the one whose descriptors changed the format, but
    //! arrives after it.
    bool is_before_change(const heap_slot& slot) const;
    //! Whether the sender of a heap has described other samples than those of the format.
    //! If no other sender is received, its descriptions are used: has_changed().
    bool is_described_otherwise(heap_slot& slot, time_point now);
    //! Whether the samples of a heap have been described, but cannot be received. They
    //! must not wait for other descriptors of their sender, which are those of later
    //! heaps. If only those of another sender are unsuitable: has_changed().
    bool is_unsuitable(heap_slot& slot);

private:
    bool recall_descriptions(heap_slot& slot);

    const std::chrono::steady_clock::duration d_closing_time;
    const indexed_format& d_format;
    const stream_follower& d_follower;
    sender_memory& d_senders;
    no_output_reason& d_no_output_reason;
    rate_limited_log& d_log;

    stream_description d_description;
    bool d_has_changed = false;
    // the heap that changed the format
    struct format_change {
        heap_id id; // sender 0: none
        unsigned address_bits = 0;
        std::uint64_t arrival_number = 0;
        time_point time{};
        bool is_in_sequence = false; // its counter is that of the next heap
    };
    format_change d_change;
    // the latest descriptors that have been read
    heap_id d_latest_sender;
    std::vector<std::byte> d_latest_content;
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_FORMAT_TRACKER_H */
