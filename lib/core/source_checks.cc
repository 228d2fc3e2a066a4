/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "item_text.h"
#include "source_checks.h"
#include "support/checks.h"

#include <algorithm>
#include <set>

namespace gr::spead {

namespace {

constexpr std::int64_t max_outputs = 64;
constexpr std::int64_t least_window_bytes = 256 << 10;
constexpr std::int64_t most_window_bytes = std::int64_t{ 1 } << 40;
constexpr std::size_t default_window_bytes = 8 << 20;
constexpr std::size_t least_default_window_bytes = 1 << 20;

void check_samples(const source_options& options)
{
    if (!options.wire_type.empty() && !options.items)
        throw parameter_error("wire_type",
                              quoted(options.wire_type),
                              "\"\" with items=None, as the descriptors give the type");
    format_of(options);
    check_scale("output_type", options.output_type, options.scale);
}

// Those that say something about the items as such have been checked with each item.
void check_items(const source_options& options, std::size_t lists)
{
    const auto outputs = static_cast<std::size_t>(options.num_outputs);
    const std::string tell_apart =
        "1, or endpoints with one string for each output, or items with an immediate() "
        "that has one value for each output";
    if (!options.items) {
        if (outputs > 1 && lists == 1)
            throw parameter_error(
                "num_outputs", to_text(options.num_outputs), tell_apart);
        return;
    }
    const auto& items = *options.items;
    const auto count = [&](item_kind kind) {
        return std::count_if(items.begin(), items.end(), [&](const item& each) {
            return each.kind == kind;
        });
    };
    const auto refuse = [&](const std::string& allowed) {
        throw parameter_error("items", to_text(items), allowed);
    };
    if (count(item_kind::samples) != 1 || count(item_kind::timestamp) > 1)
        refuse("one samples(), at most one timestamp() and any number of immediate()");
    if (outputs > 1 && count(item_kind::timestamp) == 0)
        refuse("a timestamp() if there are several outputs: it aligns them");
    if (items.size() > wire::max_items)
        throw parameter_error("items",
                              to_text(items.size()) + " items",
                              "at most " + to_text(wire::max_items));
    std::set<std::int64_t> ids;
    std::set<std::string> names;
    std::size_t selectors = 0;
    for (const auto& each : items) {
        if (!ids.insert(each.id).second || !names.insert(each.name).second)
            refuse("items of different IDs and names");
        const auto& values = each.values;
        if (each.kind != item_kind::immediate || values.size() <= 1)
            continue;
        const std::set<std::int64_t> different(values.begin(), values.end());
        if (different.size() != outputs || values.size() != outputs)
            throw parameter_error("items",
                                  to_text(each),
                                  outputs == 1 ? "one value, as num_outputs is 1"
                                               : "one value, or a different one for "
                                                 "each of " +
                                                     to_text(outputs) + " outputs");
        ++selectors;
    }
    if (selectors > 1)
        refuse("at most one immediate() with several values");
    if (outputs > 1 && lists == 1 && !selectors)
        throw parameter_error("num_outputs", to_text(options.num_outputs), tell_apart);
}

void check_time(const source_options& options)
{
    check_range<std::int64_t>(
        "heap_samples", options.heap_samples, 1, std::int64_t{ 1 } << 32);
    check_range<std::int64_t>(
        "timestamp_step", timestamp_step_of(options), 1, (std::int64_t{ 1 } << 48) - 1);
    clock_of(options);
    const source_options unset;
    if (!options.sample_rate && options.sync_time != unset.sync_time)
        throw parameter_error("sync_time",
                              to_text(options.sync_time),
                              to_text(unset.sync_time) + " without sample_rate");
}

void check_buffer_size(const source_options& options,
                       std::int64_t most,
                       const std::string& why)
{
    if (options.buffer_size < least_window_bytes || options.buffer_size > most)
        throw parameter_error("buffer_size",
                              to_text(options.buffer_size),
                              to_text(least_window_bytes) + " to " + to_text(most) + why +
                                  ", or 0");
}

void check_receiving(const source_options& options)
{
    if (on_missing_of(options) == missing_policy::skip && options.num_outputs > 1)
        throw parameter_error("on_missing",
                              quoted(options.on_missing),
                              "\"zero_fill\" with more than one output, so that samples "
                              "at the same place have the same timestamp");
    check_range("max_delay", options.max_delay, 0.0, 60.0);
    check_range<std::int64_t>("max_gap", options.max_gap, 0, std::int64_t{ 1 } << 32);
    check_interval("timeout", options.timeout);
    check_interval("stats_interval", options.stats_interval);
    if (options.buffer_size != 0)
        check_buffer_size(options, most_window_bytes, "");
}

} // namespace

void check_options(const std::vector<std::string>& endpoints,
                   const source_options& options)
{
    check_range<std::int64_t>("num_outputs", options.num_outputs, 1, max_outputs);
    endpoints_of(endpoints, options);
    check_samples(options);
    check_items(options, endpoints.size());
    check_time(options);
    check_receiving(options);
}

std::vector<std::vector<endpoint>> endpoints_of(const std::vector<std::string>& texts,
                                                const source_options& options)
{
    return read_endpoints("endpoints", texts, options.num_outputs, "output", 0);
}

sample_format format_of(const source_options& options)
{
    return read_sample_format("output_type", options.output_type, options.wire_type);
}

missing_policy on_missing_of(const source_options& options)
{
    return check_choice<missing_policy>(
        "on_missing",
        options.on_missing,
        { { "zero_fill", missing_policy::zero_fill }, { "skip", missing_policy::skip } });
}

stream_format given_format(const source_options& options)
{
    const auto samples = format_of(options);
    stream_format format;
    format.timestamp_id.reset();
    for (const auto& each : *options.items) {
        const auto id = static_cast<std::uint64_t>(each.id);
        if (each.kind == item_kind::timestamp)
            format.timestamp_id = id;
        else if (each.kind == item_kind::samples)
            format.samples_id = id;
        else
            format.immediates.push_back({ id, each.name, {}, each.values });
    }
    format.bits = samples.bits();
    format.order = samples.order;
    return format;
}

std::size_t window_bytes_of(const source_options& options)
{
    if (options.buffer_size) {
        check_buffer_size(options,
                          static_cast<std::int64_t>(half_of_memory()) /
                              options.num_outputs,
                          " (half of the memory for all outputs)");
        return static_cast<std::size_t>(options.buffer_size);
    }
    return std::max(default_window_bytes / static_cast<std::size_t>(options.num_outputs),
                    least_default_window_bytes);
}

} // namespace gr::spead
