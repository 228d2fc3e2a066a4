/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "protocol/wire.h"
#include "stream_format.h"
#include "support/checks.h"

#include <boost/algorithm/string/predicate.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

namespace gr::spead {

namespace {

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

bool suits(sample_type type, const item_description& samples)
{
    const bool has_complex_numbers = samples.format.type == 'c';
    return is_complex(type) == (samples.is_pairs != has_complex_numbers) &&
           !(samples.is_pairs && has_complex_numbers) &&
           can_receive(type, samples.format);
}

// The output types that hold the samples, quoted.
std::vector<std::string> suitable_types(const item_description& samples)
{
    std::vector<std::string> types;
    for (const auto& [name, type] : sample_types)
        if (suits(type, samples))
            types.push_back(quoted(name));
    return types;
}

// Returns the format in which the samples are read: as bytes if no output type has
// numbers of their width, such as packed 10-bit ones.
number_format samples_format_of(sample_type type, const item_description& samples)
{
    std::string why = samples.obstacle;
    if (why.empty()) {
        if (suits(type, samples)) {
            auto format = samples.format;
            if (format.bits == 8) // its order has no meaning
                format.order = byte_order::big;
            return format;
        }
        auto types = suitable_types(samples);
        const bool has_bytes =
            types.empty() && samples.format.is_integer() && !samples.is_pairs;
        if (has_bytes && type == sample_type::int8)
            return { 'i', 8 };
        why = (samples.is_pairs   ? "pairs of "
               : is_complex(type) ? "real "
                                  : "") +
              text_of(samples.format) + " do not match output_type; set ";
        for (std::size_t i = 0; i < types.size(); ++i)
            why += (i == 0 ? "it to " : i + 1 == types.size() ? " or " : ", ") + types[i];
        if (types.empty())
            why += has_bytes ? "it to \"int8\" to output their bytes"
                             : "items to output their bytes";
    } else {
        why += "; set items to output their bytes";
    }
    throw std::invalid_argument("the descriptor of " + quoted(samples.name) + ": " + why);
}

std::string text_of(const std::vector<std::uint64_t>& shape)
{
    std::string text;
    for (const auto size : shape)
        text += (text.empty() ? "" : ", ") +
                (size == variable_size ? "None" : std::to_string(size));
    return "(" + text + ")";
}

// Compares the shape with the axes. Pairs have one more dimension of 2.
void check_shape(item_description& samples, const heap_axes& axes)
{
    auto shape = samples.shape;
    samples.is_pairs = shape.size() == axes.axes().size() + 1 && shape.back() == 2;
    if (samples.is_pairs)
        shape.pop_back();
    const bool matches = std::equal(shape.begin(),
                                    shape.end(),
                                    axes.axes().begin(),
                                    axes.axes().end(),
                                    [](std::uint64_t size, const heap_axes::axis& axis) {
                                        return size == variable_size || size == axis.size;
                                    });
    if (!matches)
        throw std::invalid_argument("the descriptor of " + quoted(samples.name) +
                                    ": its shape " + text_of(samples.shape) +
                                    " does not match axes; give an axis for each "
                                    "dimension, except for the 2 of complex samples");
}

// The shape and an example of the option, whose sizes can be used and whose names are
// those of a channelised stream. Empty if each heap is a sequence of samples.
std::string axes_hint_of(const item_description& samples)
{
    auto shape = samples.shape;
    if (samples.is_pairs)
        shape.pop_back();
    const std::vector<std::string> names{ "beam", "channel", "time", "pol" };
    if (shape.size() < 2 || shape.size() > names.size() ||
        std::count(shape.begin(), shape.end(), variable_size))
        return "";
    auto name = names.begin() + (shape.size() == names.size() ? 0 : 1);
    std::string example;
    for (const auto size : shape)
        example += (example.empty() ? "" : ", ") + *name++ + "=" + std::to_string(size);
    return "the samples of a heap have the shape " + text_of(samples.shape) +
           "; for vectors, set axes, such as axes=\"" + example + "\"";
}

// Selects the array of samples: the current one, else the only one of the best rank.
const item_description& samples_of(const std::vector<item_description>& items,
                                   const stream_format* current)
{
    std::multimap<int, const item_description*> arrays; // by rank, best first
    for (const auto& each : items)
        if (each.is_array) {
            const bool is_text = each.format.type == 'c' && each.format.bits <= 8;
            const bool is_current = current && each.id == current->samples_id;
            const int rank = is_current                               ? 0
                             : is_text                                ? 5
                             : each.id == stream_format().samples_id  ? 1
                             : boost::icontains(each.name, "samples") ? 2
                             : boost::icontains(each.name, "data")    ? 3
                                                                      : 4;
            arrays.emplace(rank, &each);
        }
    if (arrays.empty())
        throw std::invalid_argument("the descriptors contain no array; set items");
    const auto likely = arrays.equal_range(arrays.begin()->first);
    if (std::next(likely.first) == likely.second)
        return *likely.first->second;
    std::string names;
    for (auto at = likely.first; at != likely.second && names.size() < 80; ++at)
        names += (names.empty() ? "" : ", ") + quoted(at->second->name);
    throw std::invalid_argument("the descriptors contain several arrays (" + names +
                                "); set items to select the samples");
}

const item_description* timestamp_of(const std::vector<item_description>& items)
{
    const item_description* found = nullptr;
    for (const auto& each : items)
        if (!each.is_array && (each.format.is_integer() || each.format.type == 0)) {
            if (boost::iequals(each.name, "timestamp"))
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
    return samples_id == before.samples_id && samples_format == before.samples_format &&
           timestamp_id == before.timestamp_id &&
           timestamp_format == before.timestamp_format &&
           immediates.size() >= before.immediates.size() &&
           std::equal(before.immediates.begin(),
                      before.immediates.end(),
                      immediates.begin(),
                      is_same);
}

bool merge(std::vector<item_description>& items, item_description description)
{
    for (auto& each : items)
        if (each.id == description.id)
            return !(std::exchange(each, description) == description);
    if (items.size() == wire::max_items)
        return false;
    items.push_back(std::move(description));
    return true;
}

stream_format format_for(const std::vector<item_description>& items,
                         sample_type type,
                         const heap_axes& axes,
                         const stream_format* current)
{
    auto array = samples_of(items, current);
    if (!axes.empty())
        check_shape(array, axes);
    const auto* time = timestamp_of(items);
    stream_format format;
    format.samples_id = array.id;
    format.samples_format = samples_format_of(type, array);
    format.axes_hint = axes_hint_of(array);
    format.timestamp_id.reset();
    if (time) {
        format.timestamp_id = time->id;
        format.timestamp_format = time->format;
    } else {
        for (const auto& each : items)
            format.described.push_back(each.id);
    }
    for (const auto& each : items)
        if (!each.is_array && each.format.is_integer() && &each != time &&
            format.immediates.size() < max_described_immediates)
            format.immediates.push_back({ each.id, each.name, each.format });
    if (const auto* part = axes.divided()) {
        const auto found = std::find_if(
            format.immediates.begin(), format.immediates.end(), [&](const auto& each) {
                return boost::iequals(each.name, part->name);
            });
        if (found == format.immediates.end())
            throw std::invalid_argument(
                "axes divide the axis " + quoted(part->name) +
                ", but the descriptors contain no integer of this name that gives the "
                "first index; rename the axis, or set items");
        found->values = axes.first_indexes();
    }
    return format;
}

bool is_compatible(const item_description& samples,
                   const number_format& wire,
                   sample_type type)
{
    const bool is_known = samples.obstacle.empty() && samples.format.type;
    if (type == sample_type::int8 || !is_known)
        return true;
    auto described = samples.format.real();
    const auto given = wire.real();
    if (described.bits == 8) // its order has no meaning
        described.order = given.order;
    const bool keeps_bits = described.is_integer() && given.is_integer() &&
                            !is_float(type) && given.bits == bits_of(type);
    if (keeps_bits)
        described.type = given.type;
    return described == given;
}

void check_samples(const stream_format& given,
                   const std::vector<item_description>& items,
                   sample_type type)
{
    for (const auto& item : items)
        if (item.id == given.samples_id &&
            !is_compatible(item, given.samples_format, type))
            throw std::invalid_argument(
                "the descriptor of " + quoted(item.name) + ": " + text_of(item.format) +
                " contradict wire_type " + quoted(given.samples_format.dtype()) +
                (can_receive(type, item.format)
                     ? "; set it to " + quoted(item.format.dtype())
                     : "; set output_type to \"int8\" to output their bytes"));
}

} // namespace gr::spead
