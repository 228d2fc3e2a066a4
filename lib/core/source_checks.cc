/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "axes/heap_stage.h"
#include "items.h"
#include "protocol/item_text.h"
#include "source_checks.h"

#include <algorithm>
#include <set>

namespace gr::spead {

namespace {

constexpr choices<missing_policy, 2> missing_policies{
    { { "zero_fill", missing_policy::zero_fill }, { "skip", missing_policy::skip } }
};

constexpr bounds window_sizes{ 256 << 10, std::int64_t{ 1 } << 40, ", or 0" };

// The allowed values of each option, except for options of type bool and for those that
// check_options() compares with others.
constexpr std::tuple table{
    option{ "output_type", &source_options::output_type, sample_types },
    option{ "scale", &source_options::scale, scales },
    option{ "num_outputs", &source_options::num_outputs, stream_counts },
    option{ "heap_samples", &source_options::heap_samples, sample_counts },
    option{ "timestamp_step",
            &source_options::timestamp_step,
            bounds{ 1, (std::int64_t{ 1 } << 48) - 1 } }, // ticks
    option{ "on_missing", &source_options::on_missing, missing_policies },
    option{ "max_delay", &source_options::max_delay, bounds{ 0.0, 60.0 } }, // s
    option{ "max_gap",
            &source_options::max_gap,
            bounds{ 0, std::int64_t{ 1 } << 32 } }, // samples
    option{ "timeout", &source_options::timeout, intervals },
    option{ "buffer_size", &source_options::buffer_size, window_sizes }, // bytes
    option{ "stats_interval", &source_options::stats_interval, intervals }
};

// A larger window would not stay in the cache.
constexpr std::size_t default_window_bytes = 2 << 20;
constexpr std::size_t min_default_window_bytes = 1 << 20;

// Checks that outputs can be told apart: by endpoints, if there is more than one of these
// \p lists, or by an item with a value for each output.
void check_streams(const source_options& options, std::size_t lists)
{
    const auto outputs = static_cast<std::size_t>(options.num_outputs);
    std::size_t selectors = 0;
    if (options.items) {
        check_items(*options.items, wire::max_items, "");
        require(outputs == 1 || has_timestamp(*options.items),
                "items",
                *options.items,
                "a timestamp() if there are several outputs: it aligns them");
        for (const auto& item : *options.items) {
            if (item.kind != item_kind::immediate || item.values.size() <= 1)
                continue;
            const std::set<std::int64_t> distinct(item.values.begin(), item.values.end());
            require(distinct.size() == outputs && item.values.size() == outputs,
                    "items",
                    item,
                    outputs == 1 ? "one value, as num_outputs is 1"
                                 : "one value, or a different one for each of " +
                                       to_text(outputs) + " outputs");
            ++selectors;
        }
        require(selectors <= 1,
                "items",
                *options.items,
                "at most one immediate() with several values");
    }
    const bool is_divided = !options.items && axes_of(options).divided();
    require(outputs == 1 || lists > 1 || selectors || is_divided,
            "num_outputs",
            options.num_outputs,
            "1, or endpoints with one string for each output, such as [\"127.0.0.1:1\", "
            "\"127.0.0.1:2\"], or items with an "
            "immediate() that has one value for each output");
}

void check_axes(const source_options& options)
{
    const auto axes = axes_of(options);
    if (axes.empty())
        return;
    require(options.num_outputs == 1,
            "num_outputs",
            options.num_outputs,
            "1 with axes: the size of \"pol\" is the number of outputs");
    require(on_missing_of(options) == missing_policy::zero_fill,
            "on_missing",
            options.on_missing,
            "\"zero_fill\" with axes");
    const auto type = format_of(options).type;
    check_memory(options.axes,
                 axes,
                 heap_stage::min_heaps,
                 components_of(type) * bits_of(type) / 8);
    if (options.items)
        check_divided_axis(options.axes, axes, *options.items);
}

} // namespace

void check_options(const std::vector<std::string>& endpoints, const source_options& given)
{
    check_table(given, table);
    check_axes(given);
    const auto options = heap_options(given);
    std::size_t captures = 0, total = 0;
    for (const auto& list : endpoints_of(endpoints, options))
        for (const auto& endpoint : list) {
            captures += !endpoint.capture.empty();
            ++total;
        }
    require(captures == 0 || captures == total,
            "endpoints",
            endpoints.front(),
            "captures only, or addresses only");
    require(options.items || options.wire_type.empty(),
            "wire_type",
            options.wire_type,
            "\"\" with items=None, as the descriptors give the type");
    format_of(options);
    check_shared_rules(options, "output_type", options.output_type);
    check_streams(options, endpoints.size());
    require(options.num_outputs == 1 || on_missing_of(options) != missing_policy::skip,
            "on_missing",
            options.on_missing,
            "\"zero_fill\" with more than one output, so that the same offset has the "
            "same timestamp");
}

std::vector<std::vector<endpoint>> endpoints_of(const std::vector<std::string>& texts,
                                                const source_options& options)
{
    return read_endpoints("endpoints",
                          texts,
                          options.num_outputs,
                          options.axes.empty() ? "output" : "part",
                          endpoint_use::receive);
}

sample_format format_of(const source_options& options)
{
    return read_sample_format(
        "output_type", options.output_type, options.wire_type, can_receive);
}

source_options heap_options(const source_options& options)
{
    auto derived = options;
    if (const auto axes = axes_of(options); !axes.empty()) {
        derived.num_outputs = static_cast<std::int64_t>(axes.substreams());
        set_heap_options(derived, axes);
        if (derived.items)
            set_first_indexes(*derived.items, axes);
    }
    return derived;
}

missing_policy on_missing_of(const source_options& options)
{
    return check_value("on_missing", options.on_missing, missing_policies);
}

stream_format format_from_items(const source_options& options)
{
    stream_format format;
    format.timestamp_id.reset();
    for (const auto& item : *options.items) {
        const auto id = static_cast<std::uint64_t>(item.id);
        if (item.kind == item_kind::timestamp)
            format.timestamp_id = id;
        else if (item.kind == item_kind::samples)
            format.samples_id = id;
        else
            format.immediates.push_back({ id, item.name, {}, item.values });
    }
    format.samples_format = format_of(options).wire;
    return format;
}

std::size_t window_bytes_of(const source_options& options)
{
    const auto outputs = static_cast<std::size_t>(options.num_outputs);
    if (!options.buffer_size)
        return std::max(default_window_bytes / outputs, min_default_window_bytes);
    const auto bytes = static_cast<std::size_t>(options.buffer_size);
    const auto max_bytes = max_buffer_bytes() / outputs;
    require(bytes <= max_bytes,
            "buffer_size",
            bytes,
            to_text(window_sizes.min) + " to " + to_text(max_bytes) +
                " (half of the memory for all outputs), or 0");
    return bytes;
}

} // namespace gr::spead
