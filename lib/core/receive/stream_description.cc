/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "stream_description.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gr::spead {

namespace {

const item_description* find(const std::vector<item_description>& items, std::uint64_t id)
{
    const auto found = std::find_if(
        items.begin(), items.end(), [&](const auto& item) { return item.id == id; });
    return found == items.end() ? nullptr : &*found;
}

bool has_same_encoding(const item_description& a, const item_description& b)
{
    auto format = a.format;
    if (format.bits <= 8) // its order has no meaning
        format.order = b.format.order;
    return format == b.format && a.is_array == b.is_array && a.is_pairs == b.is_pairs;
}

} // namespace

stream_description::stream_description(std::shared_ptr<const stream_format> items_format,
                                       sample_type type,
                                       const heap_axes& axes,
                                       std::size_t outputs)
    : d_items_format(std::move(items_format)),
      d_type(type),
      d_axes(axes),
      d_outputs(outputs)
{
}

void stream_description::clear()
{
    d_items.clear();
    d_refusal.clear();
    d_has_unsuitable_samples = false;
}

bool stream_description::add(const std::vector<item_description>& descriptions)
{
    bool has_changed = false;
    for (const auto& description : descriptions)
        has_changed |= merge(d_items, description);
    return has_changed;
}

std::shared_ptr<const stream_format>
stream_description::format(const stream_format* current)
{
    d_refusal.clear();
    d_has_unsuitable_samples = false;
    try {
        if (d_items_format) {
            check_samples(*d_items_format, d_items, d_type);
            return d_items_format;
        }
        auto format = std::make_shared<const stream_format>(
            format_for(d_items, d_type, d_axes, current));
        if (!format->timestamp_id && d_outputs > 1)
            throw std::invalid_argument(
                "the descriptors contain no timestamp to align the outputs; "
                "use a source for each stream, or set items");
        return format;
    } catch (const unsuitable_samples& error) {
        d_refusal = error.what();
        d_has_unsuitable_samples = true;
    } catch (const std::invalid_argument& error) {
        d_refusal = error.what();
    }
    return nullptr;
}

bool stream_description::contradict(const std::vector<item_description>& descriptions,
                                    const stream_format& format) const
{
    const auto differs = [&](std::uint64_t id) {
        const auto* description = find(descriptions, id);
        const auto* known = find(d_items, id);
        return description && known && !has_same_encoding(*description, *known);
    };
    const auto* samples = find(descriptions, format.samples_id);
    if (d_items_format)
        return samples && !is_compatible(*samples, format.samples_format, d_type);
    return differs(format.samples_id) ||
           (format.timestamp_id && differs(*format.timestamp_id));
}

bool stream_description::confirm(const std::vector<item_description>& descriptions,
                                 const stream_format& format) const
{
    const auto* samples = find(descriptions, format.samples_id);
    if (d_items_format)
        return samples && is_compatible(*samples, format.samples_format, d_type);
    const auto is_same = [&](std::uint64_t id) {
        const auto* description = find(descriptions, id);
        const auto* known = find(d_items, id);
        return description && known && *description == *known;
    };
    return is_same(format.samples_id) &&
           (!format.timestamp_id || is_same(*format.timestamp_id));
}

} // namespace gr::spead
