/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "stream_format.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <stdexcept>

namespace gr::spead {

namespace {

using candidates = std::vector<const item_description*>;
using test = std::function<bool(const item_description&)>;

std::string lower_case(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
    });
    return text;
}

test is_called(const std::string& part)
{
    return [part](const item_description& each) {
        return lower_case(each.name).find(part) != std::string::npos;
    };
}

test has_id(std::uint64_t id)
{
    return [id](const item_description& each) { return each.id == id; };
}

// The only one of them; or the only one that passes a test, the first test that any
// passes.
const item_description*
choose(const candidates& from, const std::vector<test>& tests, const std::string& what)
{
    if (from.size() == 1)
        return from.front();
    for (const auto& passes : tests) {
        candidates left;
        for (const auto* each : from)
            if (passes(*each))
                left.push_back(each);
        if (left.size() == 1)
            return left.front();
    }
    throw std::invalid_argument("the descriptors name " + std::to_string(from.size()) +
                                " items that may be the " + what +
                                "; say with items which one it is");
}

// Integers that no output type has, such as packed 10-bit ones, come out as their bytes.
unsigned bits_for(sample_type type, const item_description& samples)
{
    const bool is_integer = samples.type == 'i' || samples.type == 'u';
    const bool is_whole = samples.bits == 8 || samples.bits == 16;
    const bool is_possible =
        is_float(type) ? samples.type == 'i' && is_whole
                       : is_integer && (samples.bits == bits_of(type, 8) ||
                                        (!is_whole && type == sample_type::int8));
    if (!is_possible)
        throw std::invalid_argument(
            "the descriptor of \"" + samples.name + "\" says " +
            (is_integer ? std::to_string(samples.bits) + "-bit " +
                              (samples.type == 'u' ? "unsigned " : "") + "integers"
                        : "that its elements are no integers") +
            ", which do not suit output_type");
    return is_whole ? samples.bits : 8;
}

} // namespace

std::size_t stream_format::selector() const
{
    return static_cast<std::size_t>(
        std::find_if(immediates.begin(),
                     immediates.end(),
                     [](const auto& each) { return each.values.size() > 1; }) -
        immediates.begin());
}

stream_format learn_format(const std::vector<item_description>& descriptions,
                           sample_type type)
{
    candidates arrays, scalars;
    for (const auto& each : descriptions)
        if (each.is_array)
            arrays.push_back(&each);
        else if (each.type == 'u' || each.type == 'i' || each.type == 0)
            scalars.push_back(&each);
    const auto& samples = *choose(
        arrays, { has_id(0x3300), is_called("samples"), is_called("data") }, "samples");
    const item_description* timestamp = nullptr;
    if (!scalars.empty())
        timestamp = choose(scalars,
                           { has_id(0x1600), is_called("timestamp"), is_called("time") },
                           "timestamp");

    stream_format format;
    format.samples_id = samples.id;
    format.bits = bits_for(type, samples);
    format.order = samples.order;
    format.timestamp_id.reset();
    if (timestamp)
        format.timestamp_id = timestamp->id;
    if (timestamp && timestamp->bits)
        format.timestamp_bits = timestamp->bits;
    for (const auto* each : scalars)
        if (each != timestamp && format.immediates.size() < most_learned_immediates)
            format.immediates.push_back({ each->id, each->name });
    return format;
}

} // namespace gr::spead
