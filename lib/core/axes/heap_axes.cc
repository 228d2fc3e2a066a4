/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "heap_axes.h"
#include "support/checks.h"

#include <string_view>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace gr::spead {

namespace {

constexpr std::size_t max_axes = 8;
constexpr std::size_t max_substreams = 64;

constexpr const char* expected_form =
    "a list such as \"channel=64/1024, time=256, pol=2\": a name and a size for each "
    "axis, "
    "the slowest one first; \"/\" and the whole size for an axis of which a heap holds a "
    "part";

constexpr const char* too_large = "at most 134217728 samples in a heap or vector";

std::string_view trimmed(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t");
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// 0 if it is invalid.
std::size_t size_from(std::string_view text)
{
    std::size_t size = 0;
    const auto digits = trimmed(text);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), size);
    const bool is_valid = error != std::errc::invalid_argument && end == digits.end();
    return is_valid ? error == std::errc() ? size : SIZE_MAX : 0;
}

bool is_name(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_';
    });
}

} // namespace

heap_axes::heap_axes(const std::string& parameter, const std::string& text)
{
    const auto check = [&](bool is_allowed, const std::string& allowed) {
        require(is_allowed, parameter, text, allowed);
    };
    std::string_view rest = text;
    while (!trimmed(rest).empty()) {
        const auto comma = std::min(rest.find(','), rest.size());
        const auto entry = rest.substr(0, comma);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        const auto equals = entry.find('=');
        check(equals != entry.npos, expected_form);
        const auto name = trimmed(entry.substr(0, equals));
        const auto sizes = entry.substr(equals + 1);
        const auto slash = sizes.find('/');
        const auto size = size_from(sizes.substr(0, slash));
        const auto total =
            slash == sizes.npos ? size : size_from(sizes.substr(slash + 1));
        check(is_name(name) && size && total, expected_form);
        check(std::max(size, total) <= max_samples, too_large);
        check(std::none_of(d_axes.begin(),
                           d_axes.end(),
                           [&](const named_axis& other) { return other.name == name; }),
              "each name once");
        check(total % size == 0 && total / size <= max_substreams,
              "whole sizes that are multiples of the size in a heap, 1 to 64 times it");
        check(total == size || (name != "time" && name != "pol" && !divided()),
              "one axis with \"/\", which is neither \"time\" nor \"pol\"");
        check(d_axes.size() < max_axes, "at most 8 axes");
        d_axes.push_back({ std::string(name), size, total });
        check(samples() <= max_samples && vector_length() <= max_samples, too_large);
    }
    check(ports() <= max_substreams, "at most 64 ports (pol)");
}

std::size_t heap_axes::size_of(const std::string& name) const
{
    for (const auto& axis : d_axes)
        if (axis.name == name)
            return axis.size;
    return 1;
}

std::size_t heap_axes::vector_length() const
{
    std::size_t length = 1;
    for (const auto& axis : d_axes)
        if (axis.name != "time" && axis.name != "pol")
            length *= axis.total;
    return length;
}

std::size_t heap_axes::substreams() const
{
    const auto* axis = divided();
    return axis ? axis->total / axis->size : 1;
}

std::size_t heap_axes::contiguous_samples_per_time() const
{
    std::size_t product = 1;
    for (auto axis = d_axes.rbegin(); axis != d_axes.rend() && axis->name != "time";
         ++axis)
        product *= axis->size;
    return product;
}

std::size_t heap_axes::samples() const
{
    std::size_t product = 1;
    for (const auto& axis : d_axes)
        product *= axis.size;
    return product;
}

std::vector<std::uint64_t> heap_axes::shape() const
{
    std::vector<std::uint64_t> sizes;
    sizes.reserve(d_axes.size());
    for (const auto& axis : d_axes)
        sizes.push_back(axis.size);
    return sizes;
}

std::vector<std::int64_t> heap_axes::first_indexes() const
{
    std::vector<std::int64_t> indexes(substreams());
    for (std::size_t i = 0; i < indexes.size(); ++i)
        indexes[i] = static_cast<std::int64_t>(i * divided()->size);
    return indexes;
}

const heap_axes::named_axis* heap_axes::divided() const
{
    for (const auto& axis : d_axes)
        if (axis.total != axis.size)
            return &axis;
    return nullptr;
}

} // namespace gr::spead
