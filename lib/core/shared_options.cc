/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "shared_options.h"

#include <unistd.h>

#include <boost/algorithm/string/predicate.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace gr::spead {

namespace {

constexpr std::array wire_types{ std::pair{ "i1", number_format{ 'i', 8 } },
                                 std::pair{ "u1", number_format{ 'u', 8 } },
                                 std::pair{ "i2", number_format{ 'i', 16 } },
                                 std::pair{ "u2", number_format{ 'u', 16 } },
                                 std::pair{ "i4", number_format{ 'i', 32 } },
                                 std::pair{ "u4", number_format{ 'u', 32 } },
                                 std::pair{ "f4", number_format{ 'f', 32 } },
                                 std::pair{ "f8", number_format{ 'f', 64 } },
                                 std::pair{ "c8", number_format{ 'c', 64 } },
                                 std::pair{ "c16", number_format{ 'c', 128 } },
                                 std::pair{ "i10", number_format{ 'i', 10 } },
                                 std::pair{ "i12", number_format{ 'i', 12 } } };

// Whether an item gives the first index of the divided axis.
bool is_first_index(const item& item, const heap_axes& axes)
{
    const auto* axis = axes.divided();
    return axis && item.kind == item_kind::immediate &&
           boost::iequals(item.name, axis->name);
}

} // namespace

std::vector<std::vector<endpoint>> read_endpoints(const std::string& parameter,
                                                  const std::vector<std::string>& texts,
                                                  std::size_t streams,
                                                  const std::string& stream_name,
                                                  endpoint_use use)
{
    const auto reason = stream_name == "part" ? "a heap holds all of each axis"
                                              : "num_" + stream_name + "s is 1";
    if (texts.size() != 1 && texts.size() != streams)
        throw parameter_error(parameter,
                              to_text(texts.size()) + " strings",
                              streams == 1
                                  ? "one string, as " + reason
                                  : "one string, or one for each of " + to_text(streams) +
                                        " " + stream_name + "s");
    std::vector<std::vector<endpoint>> lists;
    std::size_t count = 0;
    for (const auto& text : texts) {
        lists.push_back(parse_endpoints(parameter, text, use));
        count += lists.back().size();
    }
    if (count > max_endpoints)
        throw parameter_error(parameter,
                              to_text(count) + " endpoints",
                              "at most " + to_text(max_endpoints) + " in all");
    return lists;
}

sample_format read_sample_format(const std::string& type_parameter,
                                 const std::string& type,
                                 const std::string& wire_type,
                                 bool (*is_allowed)(sample_type type,
                                                    const number_format& wire))
{
    sample_format format;
    format.type = check_value(type_parameter, type, sample_types);
    if (wire_type.empty()) {
        format.wire = row_of(format.type).wire;
        return format;
    }
    const bool has_order = wire_type[0] == '<' || wire_type[0] == '>';
    const auto order = wire_type[0] == '<' ? byte_order::little : byte_order::big;
    std::string allowed;
    for (const auto& [name, wire] : wire_types) {
        if (!is_allowed(format.type, wire))
            continue;
        const bool may_have_order = wire.bits > 8 && !wire.is_packed();
        if (wire_type.substr(has_order) == name && (!has_order || may_have_order)) {
            format.wire = wire;
            format.wire.order = order;
            return format;
        }
        allowed += quoted(name) + ", ";
    }
    throw parameter_error("wire_type",
                          quoted(wire_type),
                          allowed + "or \"\" with " + type_parameter + "=" +
                              quoted(type) +
                              "; \"<\" in front for little-endian numbers, except "
                              "packed ones");
}

void check_divided_axis(const std::string& text,
                        const heap_axes& axes,
                        const std::vector<item>& items)
{
    if (!axes.divided())
        return;
    const auto index = std::find_if(items.begin(), items.end(), [&](const item& item) {
        return is_first_index(item, axes);
    });
    require(index != items.end(),
            "axes",
            text,
            "a divided axis with the name of an immediate() in items, which gives the "
            "first index");
    const std::set<std::int64_t> distinct(index->values.begin(), index->values.end());
    require(index->values.empty() || distinct.size() == axes.substreams(),
            "items: immediate(" + quoted(index->name) + ")",
            to_text(distinct.size()) + " values",
            "[], or a different value for each of the " + to_text(axes.substreams()) +
                " parts of the axis");
}

void set_first_indexes(std::vector<item>& items, const heap_axes& axes)
{
    for (auto& item : items)
        if (is_first_index(item, axes) && item.values.empty())
            item.values = axes.first_indexes();
}

exact_time read_sync_time(const std::variant<std::string, std::int64_t>& time)
{
    if (const auto* text = std::get_if<std::string>(&time))
        return parse_sync_time(*text);
    return sync_time_from_nanoseconds(std::get<std::int64_t>(time));
}

void check_memory(const std::string& text,
                  const heap_axes& axes,
                  std::size_t heaps,
                  std::size_t sample_bytes)
{
    const auto bytes = heaps * axes.samples() * sample_bytes * axes.substreams();
    require(bytes <= max_buffer_bytes(),
            "axes",
            text,
            to_text(heaps) + " heaps of all parts in at most half of the memory, " +
                to_text(max_buffer_bytes()) + " bytes");
}

std::size_t max_buffer_bytes()
{
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 2 *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace gr::spead
