/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_RECEIVE_CONFIG_H
#define INCLUDED_SPEAD_CORE_RECEIVE_CONFIG_H

#include "axes/heap_axes.h"
#include "stream_format.h"
#include "timeline.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace gr::spead {

//! How packets become samples.
struct receive_config {
    //! The group of each source of packets. There is one group per output, or one for
    //! all.
    std::vector<std::size_t> group_of_source;
    bool has_group_for_each_output = false;
    sample_type type = sample_type::int8;       //!< type of the outputs
    std::optional<double> scale = std::nullopt; //!< none: full scale is 1.0
    heap_axes axes;
    //! of items; nullptr: from descriptors
    std::shared_ptr<const stream_format> format;
    std::vector<item_description> descriptions; //!< known before descriptors arrive
    timeline::config timeline_config;
    std::chrono::steady_clock::duration max_delay{};

    //! Packets of a heap do not arrive later than this after those of the next one.
    std::chrono::steady_clock::duration closing_time() const
    {
        constexpr std::chrono::milliseconds min_closing_time{ 100 };
        return std::max<std::chrono::steady_clock::duration>(max_delay, min_closing_time);
    }
};

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_RECEIVE_CONFIG_H */
