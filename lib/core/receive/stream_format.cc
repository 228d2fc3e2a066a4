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

bool is_suitable(sample_type type, const item_description& samples)
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
        if (is_suitable(type, samples))
            types.push_back(quoted(name));
    return types;
}

// Returns the format in which the samples are read: for int8 as bytes if the numbers are
// packed or no output type has numbers of their width.
number_format samples_format_of(sample_type type, const item_description& samples)
{
    std::string reason = samples.unsupported_reason;
    if (reason.empty()) {
        if (is_suitable(type, samples)) {
            auto format = samples.format;
            if (format.bits == 8) // its order has no meaning
                format.order = byte_order::big;
            return format;
        }
        auto types = suitable_types(samples);
        const bool has_bytes = (types.empty() || samples.format.is_packed()) &&
                               samples.format.is_integer() && !samples.is_pairs;
        if (has_bytes && type == sample_type::int8)
            return { 'i', 8 };
        reason = (samples.is_pairs   ? "pairs of "
                  : is_complex(type) ? "real "
                                     : "") +
                 text_of(samples.format) + " do not match output_type; set ";
        for (std::size_t i = 0; i < types.size(); ++i)
            reason += (i == 0                  ? "it to "
                       : i + 1 == types.size() ? " or "
                                               : ", ") +
                      types[i];
        if (types.empty())
            reason += has_bytes ? "it to \"int8\" to output their bytes"
                                : "items to output their bytes";
    } else {
        reason += "; set items to output their bytes";
    }
    throw unsuitable_samples("the descriptor of " + quoted(samples.name) + ": " + reason);
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
    const bool matches =
        std::equal(shape.begin(),
                   shape.end(),
                   axes.axes().begin(),
                   axes.axes().end(),
                   [](std::uint64_t size, const heap_axes::named_axis& axis) {
                       return size == variable_size || size == axis.size;
                   });
    if (!matches)
        throw unsuitable_samples("the descriptor of " + quoted(samples.name) +
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
const item_description& select_samples(const std::vector<item_description>& items,
                                       const stream_format* current)
{
    std::multimap<int, const item_description*> arrays; // by rank, best first
    for (const auto& item : items)
        if (item.is_array) {
            const bool is_text = item.format.type == 'c' && item.format.bits <= 8;
            const bool is_current = current && item.id == current->samples_id;
            const int rank = is_current                               ? 0
                             : is_text                                ? 5
                             : item.id == stream_format().samples_id  ? 1
                             : boost::icontains(item.name, "samples") ? 2
                             : boost::icontains(item.name, "data")    ? 3
                                                                      : 4;
            arrays.emplace(rank, &item);
        }
    if (arrays.empty())
        throw std::invalid_argument("the descriptors contain no array; set items");
    const auto likely = arrays.equal_range(arrays.begin()->first);
    if (std::next(likely.first) == likely.second)
        return *likely.first->second;
    std::string names;
    for (auto array = likely.first; array != likely.second && names.size() < 80; ++array)
        names += (names.empty() ? "" : ", ") + quoted(array->second->name);
    throw std::invalid_argument("the descriptors contain several arrays (" + names +
                                "); set items to select the samples");
}

const item_description* find_timestamp(const std::vector<item_description>& items)
{
    const item_description* found = nullptr;
    for (const auto& item : items)
        if (!item.is_array && (item.format.is_integer() || item.format.type == 0)) {
            if (boost::iequals(item.name, "timestamp"))
                return &item;
            if (item.id == stream_format().timestamp_id)
                found = &item;
        }
    return found;
}

} // namespace

bool stream_format::extends(const stream_format& previous) const
{
    const auto is_same = [](const immediate& a, const immediate& b) {
        return a.id == b.id && a.format == b.format;
    };
    return samples_id == previous.samples_id &&
           samples_format == previous.samples_format &&
           timestamp_id == previous.timestamp_id &&
           timestamp_format == previous.timestamp_format &&
           immediates.size() >= previous.immediates.size() &&
           std::equal(previous.immediates.begin(),
                      previous.immediates.end(),
                      immediates.begin(),
                      is_same);
}

bool merge(std::vector<item_description>& items, item_description description)
{
    for (auto& item : items)
        if (item.id == description.id)
            return !(std::exchange(item, description) == description);
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
    auto array = select_samples(items, current);
    if (!axes.empty())
        check_shape(array, axes);
    const auto* time = find_timestamp(items);
    stream_format format;
    format.samples_id = array.id;
    format.samples_format = samples_format_of(type, array);
    format.axes_hint = axes_hint_of(array);
    format.timestamp_id.reset();
    if (time) {
        format.timestamp_id = time->id;
        format.timestamp_format = time->format;
    } else {
        for (const auto& item : items)
            format.described_ids.push_back(item.id);
    }
    for (const auto& item : items)
        if (!item.is_array && item.format.is_integer() && &item != time &&
            format.immediates.size() < max_described_immediates)
            format.immediates.push_back({ item.id, item.name, item.format });
    if (const auto* axis = axes.divided()) {
        const auto found =
            std::find_if(format.immediates.begin(),
                         format.immediates.end(),
                         [&](const auto& immediate) {
                             return boost::iequals(immediate.name, axis->name);
                         });
        if (found == format.immediates.end())
            throw std::invalid_argument(
                "axes divide the axis " + quoted(axis->name) +
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
    const bool is_known = samples.unsupported_reason.empty() && samples.format.type;
    if (type == sample_type::int8 || !is_known)
        return true;
    auto described = samples.format.real();
    const auto expected = wire.real();
    if (described.bits == 8) // its order has no meaning
        described.order = expected.order;
    const bool keeps_bits = described.is_integer() && expected.is_integer() &&
                            !is_float(type) && expected.bits == bits_of(type);
    if (keeps_bits)
        described.type = expected.type;
    return described == expected;
}

void check_samples(const stream_format& format,
                   const std::vector<item_description>& items,
                   sample_type type)
{
    for (const auto& item : items)
        if (item.id == format.samples_id &&
            !is_compatible(item, format.samples_format, type))
            throw unsuitable_samples(
                "the descriptor of " + quoted(item.name) + ": " + text_of(item.format) +
                " contradict wire_type " + quoted(format.samples_format.dtype()) +
                (can_receive(type, item.format)
                     ? "; set it to " + quoted(item.format.dtype())
                     : "; set output_type to \"int8\" to output their bytes"));
}

} // namespace gr::spead
