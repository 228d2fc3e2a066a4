/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "protocol/wire.h"
#include "stream_format.h"

#include <string_view>
#include <algorithm>
#include <cctype>
#include <functional>
#include <stdexcept>
#include <utility>

namespace gr::spead {

namespace {

constexpr std::uint64_t usual_samples_id = 0x3300;
constexpr std::uint64_t usual_timestamp_id = 0x1600;

bool equal_ignoring_case(char a, char b)
{
    return std::tolower(static_cast<unsigned char>(a)) == b;
}

// \p part in lower case.
bool name_has(const item_description& item, std::string_view part)
{
    return std::search(item.name.begin(),
                       item.name.end(),
                       part.begin(),
                       part.end(),
                       equal_ignoring_case) != item.name.end();
}

std::string quoted_name(const item_description& item) { return "\"" + item.name + "\""; }

std::string text_of(const number_format& format)
{
    const auto bits = std::to_string(format.bits) + "-bit ";
    switch (format.type) {
    case 'i':
        return bits + "integers";
    case 'u':
        return bits + "unsigned integers";
    case 'f':
        return bits + "floats";
    case 'c':
        return format.bits > 8 ? bits + "complex floats" : bits + "characters";
    case 'b':
        return bits + "booleans";
    default:
        return "numbers of an unknown type";
    }
}

[[noreturn]] void refuse(const item_description& samples, const std::string& why)
{
    throw std::invalid_argument("the descriptor of " + quoted_name(samples) + ": " + why);
}

// Of the integers as they are read: those of sizes that no output has, such as packed
// 10-bit ones, are read as bytes.
unsigned bits_for(sample_type type, const item_description& samples)
{
    if (!samples.obstacle.empty())
        refuse(samples, samples.obstacle + "; give items to read them as they are");
    const auto& format = samples.format;
    if (samples.is_pairs != is_complex(type))
        refuse(samples,
               samples.is_pairs
                   ? "pairs of numbers are complex samples; set output_type to \"sc8\", "
                     "\"sc16\" or \"complex\""
                   : "its samples are real; set output_type to \"int8\", \"int16\" or "
                     "\"float\"");
    const bool is_whole = format.bits == 8 || format.bits == 16;
    const bool is_possible =
        is_float(type)
            ? format.type == 'i' && is_whole
            : format.is_integer() && (format.bits == bits_of(type, 8) ||
                                      (!is_whole && type == sample_type::int8));
    if (!is_possible)
        refuse(samples, text_of(format) + " do not suit output_type");
    return is_whole ? format.bits : 8;
}

} // namespace

bool item_table::merge(item_description description)
{
    for (auto& each : d_items)
        if (each.id == description.id) {
            if (each == description)
                return false;
            each = std::move(description);
            return true;
        }
    if (d_items.size() == wire::max_items)
        return false;
    d_items.push_back(std::move(description));
    return true;
}

// The only array that is not text; otherwise the current one; otherwise the only one with
// the usual ID, or with "samples" or "data" in its name.
const item_description& item_table::samples(const stream_format* current) const
{
    using test = std::function<bool(const item_description&)>;
    const std::vector<test> tests{
        [](const auto& each) { return each.format.type != 'c' || each.format.bits > 8; },
        [&](const auto& each) { return current && each.id == current->samples_id; },
        [](const auto& each) { return each.id == usual_samples_id; },
        [](const auto& each) { return name_has(each, "samples"); },
        [](const auto& each) { return name_has(each, "data"); }
    };
    std::string names;
    for (const auto& passes : tests) {
        const item_description* found = nullptr;
        std::size_t count = 0;
        for (const auto& each : d_items)
            if (each.is_array && passes(each)) {
                found = &each;
                if (names.size() < 80 && &passes == &tests.front())
                    names += (names.empty() ? "" : ", ") + quoted_name(each);
                ++count;
            }
        if (count == 1)
            return *found;
    }
    throw std::invalid_argument(names.empty()
                                    ? "the descriptors name no array; give items"
                                    : "the descriptors name several arrays (" + names +
                                          "); give items to say which are the samples");
}

const item_description* item_table::timestamp() const
{
    const item_description* found = nullptr;
    for (const auto& each : d_items) {
        if (each.is_array || !(each.format.is_integer() || each.format.type == 0))
            continue;
        const bool is_called = each.name.size() == 9 && name_has(each, "timestamp");
        if (is_called)
            return &each;
        if (each.id == usual_timestamp_id)
            found = &each;
    }
    return found;
}

stream_format item_table::format_for(sample_type type, const stream_format* current) const
{
    const auto& array = samples(current);
    const auto* time = timestamp();
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
