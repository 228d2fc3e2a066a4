/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "protocol/wire.h"
#include "stream_format.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <stdexcept>
#include <utility>

namespace gr::spead {

namespace {

std::string lower_case_name(const item_description& item)
{
    auto name = item.name;
    for (auto& each : name)
        each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    return name;
}

std::string quoted_name(const item_description& item) { return "\"" + item.name + "\""; }

std::string text_of(const number_format& format)
{
    const std::string name = format.type == 'i'   ? "integers"
                             : format.type == 'u' ? "unsigned integers"
                             : format.type == 'f' ? "floats"
                             : format.type == 'b' ? "booleans"
                             : format.type != 'c' ? ""
                             : format.bits > 8    ? "complex floats"
                                                  : "characters";
    return name.empty() ? "numbers of an unknown type"
                        : std::to_string(format.bits) + "-bit " + name;
}

// Of the integers as they are read: those of sizes that no output has, such as packed
// 10-bit ones, are read as bytes.
unsigned bits_for(sample_type type, const item_description& samples)
{
    const auto& format = samples.format;
    const bool is_whole = format.bits == 8 || format.bits == 16;
    const bool is_possible =
        is_float(type)
            ? format.type == 'i' && is_whole
            : format.is_integer() && (format.bits == bits_of(type, 8) ||
                                      (!is_whole && type == sample_type::int8));
    const bool are_pairs = samples.is_pairs;
    if (is_possible && are_pairs == is_complex(type) && samples.obstacle.empty())
        return is_whole ? format.bits : 8;
    std::string why = samples.obstacle;
    if (why.empty())
        why = (are_pairs          ? "pairs of "
               : is_complex(type) ? "real "
                                  : "") +
              text_of(format) + " do not suit output_type";
    if (!samples.obstacle.empty() || !format.is_integer() || !is_whole)
        why += "; give items to read their bytes";
    else
        why += "; set it to \"" +
               ((are_pairs ? "sc" : "int") + std::to_string(format.bits)) +
               (format.type == 'u' ? "\""
                : are_pairs        ? "\" or \"complex\""
                                   : "\" or \"float\"");
    throw std::invalid_argument("the descriptor of " + quoted_name(samples) + ": " + why);
}

// The only array that is not text; otherwise the current one; otherwise the only one with
// the usual ID, or with "samples" or "data" in its name.
const item_description& samples_of(const std::vector<item_description>& items,
                                   const stream_format* current)
{
    using test = std::function<bool(const item_description&)>;
    const auto is_named = [](const char* part) {
        return [=](const auto& each) {
            return lower_case_name(each).find(part) != std::string::npos;
        };
    };
    const std::vector<test> tests{
        [](const auto& each) { return each.format.type != 'c' || each.format.bits > 8; },
        [&](const auto& each) { return current && each.id == current->samples_id; },
        [](const auto& each) { return each.id == stream_format().samples_id; },
        is_named("samples"),
        is_named("data")
    };
    for (const auto& passes : tests) {
        const auto is_found = [&](const auto& each) {
            return each.is_array && passes(each);
        };
        if (std::count_if(items.begin(), items.end(), is_found) == 1)
            return *std::find_if(items.begin(), items.end(), is_found);
    }
    std::string names;
    for (const auto& each : items)
        if (each.is_array && tests.front()(each) && names.size() < 80)
            names += (names.empty() ? "" : ", ") + quoted_name(each);
    throw std::invalid_argument(names.empty()
                                    ? "the descriptors name no array; give items"
                                    : "the descriptors name several arrays (" + names +
                                          "); give items to say which are the samples");
}

const item_description* timestamp_of(const std::vector<item_description>& items)
{
    const item_description* found = nullptr;
    for (const auto& each : items)
        if (!each.is_array && (each.format.is_integer() || each.format.type == 0)) {
            if (lower_case_name(each) == "timestamp")
                return &each;
            if (each.id == stream_format().timestamp_id)
                found = &each;
        }
    return found;
}

} // namespace

bool stream_format::extends(const stream_format& before) const
{
    const auto is_same = [](const immediate& a, const immediate& b) {
        return a.id == b.id && a.format == b.format;
    };
    return samples_id == before.samples_id && bits == before.bits &&
           order == before.order && timestamp_id == before.timestamp_id &&
           timestamp_format == before.timestamp_format &&
           immediates.size() >= before.immediates.size() &&
           std::equal(before.immediates.begin(),
                      before.immediates.end(),
                      immediates.begin(),
                      is_same);
}

bool item_table::merge(item_description description)
{
    for (auto& each : d_items)
        if (each.id == description.id)
            return !(std::exchange(each, description) == description);
    if (d_items.size() == wire::max_items)
        return false;
    d_items.push_back(std::move(description));
    return true;
}

stream_format item_table::format_for(sample_type type, const stream_format* current) const
{
    const auto& array = samples_of(d_items, current);
    const auto* time = timestamp_of(d_items);
    stream_format format;
    format.samples_id = array.id;
    format.bits = bits_for(type, array);
    format.order = format.bits == 8 ? byte_order::big : array.format.order;
    format.timestamp_id.reset();
    if (time) {
        format.timestamp_id = time->id;
        format.timestamp_format = time->format;
    }
    for (const auto& each : d_items)
        if (!each.is_array && each.format.is_integer() && &each != time &&
            format.immediates.size() < most_described_immediates)
            format.immediates.push_back({ each.id, each.name, each.format });
    return format;
}

} // namespace gr::spead
