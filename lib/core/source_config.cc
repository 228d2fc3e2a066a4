/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "axes/heap_stage.h"
#include "items.h"
#include "protocol/item_text.h"
#include "shared_options.h"
#include "source_config.h"

#include <algorithm>
#include <set>
#include <utility>

namespace gr::spead {

namespace {

constexpr choices<missing_policy, 2> missing_policies{
    { { "zero_fill", missing_policy::zero_fill }, { "skip", missing_policy::skip } }
};

// The ranges of numbers.
constexpr std::tuple table{
    option{ "scale", &source_options::scale, scales },
    option{ "num_outputs", &source_options::num_outputs, stream_counts },
    option{ "heap_samples", &source_options::heap_samples, sample_counts },
    option{ "timestamp_step",
            &source_options::timestamp_step,
            bounds{ 1, (std::int64_t{ 1 } << 48) - 1 } },                   // ticks
    option{ "max_delay", &source_options::max_delay, bounds{ 0.0, 60.0 } }, // s
    option{ "max_gap",
            &source_options::max_gap,
            bounds{ 0, std::int64_t{ 1 } << 32 } }, // samples
    option{ "timeout", &source_options::timeout, intervals },
    option{ "buffer_size",
            &source_options::buffer_size,
            bounds{ min_window_bytes, std::int64_t{ 1 } << 40, ", or 0" } }, // bytes
    option{ "stats_interval", &source_options::stats_interval, intervals }
};

// A larger window would not stay in the cache.
constexpr std::size_t default_window_bytes = 2 << 20;
constexpr std::size_t min_default_window_bytes = 1 << 20;

source_config::duration seconds(double s)
{
    return std::chrono::duration_cast<source_config::duration>(
        std::chrono::duration<double>(s));
}

std::optional<std::uint64_t> read_start_tick(const source_options& options,
                                             const std::optional<tick_clock>& clock)
{
    if (!options.timestamp_start)
        return std::nullopt;
    const auto* text = std::get_if<std::string>(&*options.timestamp_start);
    if (!text)
        return static_cast<std::uint64_t>(
            check_value("timestamp_start",
                        std::get<std::int64_t>(*options.timestamp_start),
                        bounds{ std::int64_t{ 0 }, INT64_MAX }));
    require(clock.has_value(),
            "timestamp_start",
            *text,
            "a tick as an integer without sample_rate");
    const auto time = parse_time(*text);
    const auto tick = time ? clock->first_tick_from(*time) : std::nullopt;
    require(tick.has_value(),
            "timestamp_start",
            *text,
            "seconds since 1970 as text, from sync_time on, such as "
            "\"1234567890.000000001\", or a tick as an integer");
    return tick;
}

// The outputs of the engine are the substreams.
void check_axes(const source_options& options, const source_config& config)
{
    require(options.num_outputs == 1,
            "num_outputs",
            options.num_outputs,
            "1 with axes: the size of \"pol\" is the number of outputs");
    require(config.on_missing == missing_policy::zero_fill,
            "on_missing",
            options.on_missing,
            "\"zero_fill\" with axes");
    check_memory(options.axes, config.axes, heap_stage::min_heaps, config.sample_bytes());
    if (options.items)
        check_divided_axis(options.axes, config.axes, *options.items);
}

std::vector<std::vector<endpoint>> read_endpoints(const std::vector<std::string>& texts,
                                                  const source_config& config)
{
    auto lists = read_endpoints("endpoints",
                                texts,
                                config.outputs,
                                config.axes.empty() ? "output" : "part",
                                endpoint_use::receive);
    std::size_t captures = 0, total = 0;
    for (const auto& list : lists)
        for (const auto& endpoint : list) {
            captures += !endpoint.capture.empty();
            ++total;
        }
    require(captures == 0 || captures == total,
            "endpoints",
            texts.front(),
            "captures only, or addresses only");
    return lists;
}

// Checks that items can tell outputs apart. Returns how many do.
std::size_t check_items_of_outputs(const std::vector<item>& items, std::size_t outputs)
{
    check_items(items, wire::max_items, "");
    require(outputs == 1 || has_timestamp(items),
            "items",
            items,
            "a timestamp() if there are several outputs: it aligns them");
    std::size_t selectors = 0;
    for (const auto& item : items) {
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
    require(
        selectors <= 1, "items", items, "at most one immediate() with several values");
    return selectors;
}

stream_format format_of(const std::vector<item>& items, const number_format& samples)
{
    stream_format format;
    format.timestamp_id.reset();
    for (const auto& item : items) {
        const auto id = static_cast<std::uint64_t>(item.id);
        if (item.kind == item_kind::timestamp)
            format.timestamp_id = id;
        else if (item.kind == item_kind::samples)
            format.samples_id = id;
        else
            format.immediates.push_back({ id, item.name, {}, item.values });
    }
    format.samples_format = samples;
    return format;
}

} // namespace

source_config parse_options(const std::vector<std::string>& endpoints,
                            const source_options& options)
{
    check_table(options, table);
    source_config config;
    config.format = read_sample_format(
        "output_type", options.output_type, options.wire_type, can_receive);
    config.on_missing = check_value("on_missing", options.on_missing, missing_policies);
    config.axes = heap_axes("axes", options.axes);
    config.ports = config.outputs = static_cast<std::size_t>(options.num_outputs);
    if (!config.axes.empty()) {
        check_axes(options, config);
        config.ports = config.axes.ports();
        config.outputs = config.axes.substreams();
    }
    config.heap_samples = heap_samples_of(options, config.axes);
    config.timestamp_step = timestamp_step_of(options, config.axes);
    config.endpoints = read_endpoints(endpoints, config);
    config.interface = options.interface;
    require(options.items || options.wire_type.empty(),
            "wire_type",
            options.wire_type,
            "\"\" with items=None, as the descriptors give the type");
    check_scale(options, "output_type", options.output_type);
    config.scale = options.scale;
    config.clock = read_clock(options);
    config.start_tick = read_start_tick(options, config.clock);
    std::size_t selectors = config.axes.divided() ? 1 : 0;
    if (options.items) {
        auto items = *options.items;
        set_first_indexes(items, config.axes);
        selectors = check_items_of_outputs(items, config.outputs);
        config.user_format =
            std::make_shared<const stream_format>(format_of(items, config.format.wire));
    }
    require(config.outputs == 1 || config.endpoints.size() > 1 || selectors,
            "num_outputs",
            options.num_outputs,
            "1, or endpoints with one string for each output, such as [\"127.0.0.1:1\", "
            "\"127.0.0.1:2\"], or items with an "
            "immediate() that has one value for each output");
    require(config.outputs == 1 || config.on_missing != missing_policy::skip,
            "on_missing",
            options.on_missing,
            "\"zero_fill\" with more than one output, so that the same offset has the "
            "same timestamp");
    config.max_gap = options.max_gap;
    config.max_delay = seconds(options.max_delay);
    config.end_on_stop = options.end_on_stop;
    config.timeout = seconds(options.timeout);
    config.realtime = options.realtime;
    config.repeat = options.repeat;
    config.window_bytes = static_cast<std::size_t>(options.buffer_size);
    if (!config.window_bytes)
        config.window_bytes =
            std::max(default_window_bytes / config.outputs, min_default_window_bytes);
    config.stats_interval = seconds(options.stats_interval);
    return config;
}

} // namespace gr::spead
