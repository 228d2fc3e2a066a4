/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "selection_counters.h"

#include <algorithm>

namespace gr::spead {

selection_counters::selection_counters(const stream_format* format)
{
    if (!format)
        return;
    for (std::size_t i = 0; i < format->immediates.size(); ++i) {
        const auto& item = format->immediates[i];
        if (item.values.empty())
            continue;
        const std::vector<std::uint64_t> values(item.values.begin(), item.values.end());
        d_items.push_back({ i, item.name, values, std::vector<counter>(values.size()) });
    }
}

void selection_counters::count(const std::vector<std::optional<std::uint64_t>>& values)
{
    for (auto& item : d_items) {
        const auto value = item.index < values.size() ? values[item.index] : std::nullopt;
        const auto found = std::find(item.values.begin(), item.values.end(), value);
        if (found == item.values.end())
            count_unselected(item, value);
        else
            item.heaps[static_cast<std::size_t>(found - item.values.begin())].add(1);
    }
}

void selection_counters::count_unselected(const selecting_item& item,
                                          std::optional<std::uint64_t> value)
{
    const auto size = d_unselected_values.load(std::memory_order_relaxed);
    const auto end = d_unselected.begin() + static_cast<std::ptrdiff_t>(size);
    const auto found =
        std::find_if(d_unselected.begin(), end, [&](const unselected_value& other) {
            return other.item == &item && other.value == value;
        });
    if (found != end)
        return found->heaps.add(1);
    if (size == d_unselected.size())
        return d_more.add(1);
    found->item = &item;
    found->value = value;
    found->heaps.add(1);
    d_unselected_values.store(size + 1, std::memory_order_release);
}

std::map<std::string, std::uint64_t> selection_counters::selected() const
{
    std::map<std::string, std::uint64_t> heaps;
    for (const auto& item : d_items)
        for (std::size_t i = 0; i < item.values.size(); ++i)
            heaps[item.name + "=" + std::to_string(item.values[i])] +=
                item.heaps[i].get();
    return heaps;
}

std::map<std::string, std::uint64_t> selection_counters::unselected() const
{
    std::map<std::string, std::uint64_t> heaps;
    const auto size = d_unselected_values.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < size; ++i) {
        const auto& [item, value, count] = d_unselected[i];
        heaps[item->name + "=" + (value ? std::to_string(*value) : "none")] +=
            count.get();
    }
    if (const auto more = d_more.get())
        heaps["more"] = more;
    return heaps;
}

} // namespace gr::spead
