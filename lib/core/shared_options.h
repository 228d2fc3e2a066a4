/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_SHARED_OPTIONS_H
#define INCLUDED_SPEAD_CORE_SHARED_OPTIONS_H

#include "axes/heap_axes.h"
#include "network/endpoint.h"
#include "protocol/descriptor.h"
#include "support/checks.h"
#include "time/tick_clock.h"
#include <gnuradio/spead/item.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gr::spead {

//! \name Allowed values of options that sink and source have in common
//! \{

inline constexpr bounds scales{ double{ std::numeric_limits<float>::min() },
                                double{ std::numeric_limits<float>::max() },
                                nullptr,
                                "above 0, from 1.18e-38 to 3.40e+38" };
inline constexpr bounds stream_counts{ 1, 64 };
inline constexpr bounds sample_counts{ 1, std::int64_t{ 1 } << 32 }; // samples per heap
inline constexpr bounds intervals{ 1e-3, 1e9, ", or 0" };            // s

//! \}

//! \name Checks and values of options that sink and source have in common
//! They throw parameter_error for an invalid option.
//! \{

//! Parses one list of endpoints per stream, or one list for all \p streams. Errors call a
//! stream \p stream_name: "input" or "output"; with axes "part".
std::vector<std::vector<endpoint>> read_endpoints(const std::string& parameter,
                                                  const std::vector<std::string>& texts,
                                                  std::size_t streams,
                                                  const std::string& stream_name,
                                                  endpoint_use use);

//! \p type_parameter is "input_type" or "output_type", \p is_allowed can_send() or
//! can_receive(). Does not set heap_samples.
sample_format read_sample_format(const std::string& type_parameter,
                                 const std::string& type,
                                 const std::string& wire_type,
                                 bool (*is_allowed)(sample_type type,
                                                    const number_format& wire));

//! Throws if no immediate item has the name of the divided axis.
void check_divided_axis(const std::string& text,
                        const heap_axes& axes,
                        const std::vector<item>& items);

//! If the item of the divided axis has no values, sets them to the first index of each
//! slice.
void set_first_indexes(std::vector<item>& items, const heap_axes& axes);

//! Checks that \p heaps heaps of all slices take at most max_buffer_bytes().
void check_memory(const std::string& text,
                  const heap_axes& axes,
                  std::size_t heaps,
                  std::size_t sample_bytes);

//! Samples of a heap: by default those of the axes, if there are any.
template <typename options>
std::int64_t heap_samples_of(const options& given, const heap_axes& axes)
{
    return axes.empty() ? given.heap_samples : static_cast<std::int64_t>(axes.samples());
}

//! Ticks of a heap.
template <typename options>
std::int64_t timestamp_step_of(const options& given, const heap_axes& axes)
{
    return given.timestamp_step.value_or(
        axes.empty() ? given.heap_samples : static_cast<std::int64_t>(axes.times()));
}

template <typename options>
void check_scale(const options& given,
                 const std::string& type_parameter,
                 const std::string& type)
{
    require(!given.scale || type == "float" || type == "complex",
            "scale",
            given.scale.value_or(0),
            "None with " + type_parameter + "=" + quoted(type) +
                "; it is for \"float\" and \"complex\"");
}

exact_time read_sync_time(const std::variant<std::string, std::int64_t>& time);

//! The clock of the timestamps, with sample_rate.
template <typename options>
std::optional<tick_clock> read_clock(const options& given)
{
    const auto sync_time = read_sync_time(given.sync_time);
    if (given.sample_rate)
        return tick_clock(*given.sample_rate, sync_time);
    const auto unset = options().sync_time;
    require(given.sync_time == unset,
            "sync_time",
            given.sync_time,
            to_text(unset) + " without sample_rate");
    return std::nullopt;
}

//! Limit for buffers, in bytes. Their memory is touched when they are allocated: above
//! this, the kernel could kill the process.
std::size_t max_buffer_bytes();

//! \}

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_SHARED_OPTIONS_H */
