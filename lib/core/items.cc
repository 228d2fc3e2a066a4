/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "item_text.h"
#include "items.h"
#include "sink_checks.h"
#include "support/checks.h"

#include <algorithm>
#include <optional>
#include <set>

namespace gr::spead {

namespace {

// Item pointers of the largest packet: those that are required, and one for each item and
// perhaps for its descriptor.
std::size_t most_items(descriptor_policy descriptors)
{
    const std::size_t left = wire::max_items - wire::required_items;
    return descriptors == descriptor_policy::first_heap ? left / 2 : left;
}

// None if it is possible.
std::optional<std::string> allowed_instead_of(const std::vector<std::int64_t>& values,
                                              std::int64_t largest,
                                              std::size_t inputs)
{
    const bool is_one_each = values.size() == 1 || values.size() == inputs;
    const auto is_possible = [&](auto value) { return value >= 0 && value <= largest; };
    if (is_one_each && std::all_of(values.begin(), values.end(), is_possible))
        return std::nullopt;
    return "0 to " + std::to_string(largest) +
           (inputs == 1 ? ", one value"
                        : ", one value for all or one for each of " +
                              std::to_string(inputs) + " inputs");
}

} // namespace

void check_items(const sink_options& options)
{
    const auto& items = options.items;
    const auto flavour = flavour_of(options);
    const auto descriptors = descriptors_of(options);
    const auto refuse = [&](const std::string& allowed) {
        throw parameter_error("items", to_text(items), allowed);
    };
    const auto count = [&](item_kind what) {
        return std::count_if(
            items.begin(), items.end(), [&](const item& i) { return i.kind == what; });
    };
    if (count(item_kind::samples) != 1 || count(item_kind::timestamp) > 1)
        refuse("one samples() and at most one timestamp()");
    if (options.sample_rate && !count(item_kind::timestamp))
        refuse("one timestamp() and one samples(), with sample_rate");
    if (const auto most = most_items(descriptors); items.size() > most)
        throw parameter_error(
            "items",
            std::to_string(items.size()) + " items",
            "at most " + std::to_string(most) +
                (descriptors == descriptor_policy::first_heap
                     ? " with descriptors=\"first_heap\", as each takes two of the 255 "
                       "item pointers of a packet"
                     : ", as a packet has at most 255 item pointers"));

    constexpr auto first = static_cast<std::int64_t>(wire::first_free);
    static_assert(first == detail::first_item_id);
    static_assert(wire::flavour{ 40 }.max_id() == detail::last_item_id);
    static_assert(wire::flavour{ 48 }.address_mask() == detail::largest_value);
    const auto last = static_cast<std::int64_t>(flavour.max_id());
    const auto inputs = static_cast<std::size_t>(options.num_inputs);
    std::set<std::int64_t> ids;
    std::set<std::string> names;
    for (const auto& each : items) {
        if (each.id < first || each.id > last)
            refuse("IDs of " + std::to_string(first) + " to " + std::to_string(last) +
                   " with " + std::to_string(flavour.heap_address_bits) +
                   " heap address bits");
        if (each.name.empty())
            refuse("names that are not empty");
        if (!ids.insert(each.id).second || !names.insert(each.name).second)
            refuse("items of different IDs and names");
        if (each.kind != item_kind::immediate)
            continue;
        if (const auto allowed =
                allowed_instead_of(each.values, largest_value(options), inputs))
            throw parameter_error("items", to_text(each), *allowed);
    }
}

immediate_items::immediate_items(const sink_options& options)
    : d_items(options.items),
      d_largest(largest_value(options)),
      d_inputs(static_cast<std::size_t>(options.num_inputs))
{
}

std::string immediate_items::immediates() const
{
    std::string text;
    for (const auto& each : d_items)
        if (each.kind == item_kind::immediate)
            text += (text.empty() ? "" : ", ") + hexadecimal(each.id) + " or " +
                    quoted(each.name);
    return text.empty() ? "none, as there is no immediate() in items" : text;
}

template <typename key>
std::size_t immediate_items::find(const key& wanted,
                                  key item::*member,
                                  const std::string& shown) const
{
    const auto found = std::find_if(d_items.begin(), d_items.end(), [&](const item& i) {
        return i.kind == item_kind::immediate && i.*member == wanted;
    });
    if (found == d_items.end())
        throw parameter_error("item", shown, immediates());
    return static_cast<std::size_t>(found - d_items.begin());
}

std::size_t immediate_items::find(std::int64_t id) const
{
    return find(id, &item::id, hexadecimal(id));
}

std::size_t immediate_items::find(const std::string& name) const
{
    return find(name, &item::name, quoted(name));
}

std::vector<item_update>
immediate_items::update(std::size_t index, std::int64_t value, std::int64_t input) const
{
    const auto last = static_cast<std::int64_t>(d_inputs) - 1;
    check_range("input", input, std::int64_t{ -1 }, last);
    auto all = update(index, { value });
    if (input == -1)
        return all;
    return { all[static_cast<std::size_t>(input)] };
}

std::vector<item_update>
immediate_items::update(std::size_t index, const std::vector<std::int64_t>& values) const
{
    if (const auto allowed = allowed_instead_of(values, d_largest, d_inputs))
        throw parameter_error("value", to_text(values), *allowed);
    std::vector<item_update> updates;
    updates.reserve(d_inputs);
    for (std::size_t input = 0; input < d_inputs; ++input)
        updates.push_back(
            { index,
              static_cast<std::uint64_t>(values[values.size() == 1 ? 0 : input]),
              input });
    return updates;
}

std::vector<item_update> immediate_items::update(const std::vector<item>& items) const
{
    const auto is_same = [](const item& a, const item& b) {
        return a.kind == b.kind && a.id == b.id && a.name == b.name;
    };
    if (!std::equal(items.begin(), items.end(), d_items.begin(), d_items.end(), is_same))
        throw parameter_error("items",
                              to_text(items),
                              "while the sink exists only other values in " +
                                  to_text(d_items));
    std::vector<item_update> updates;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].kind != item_kind::immediate)
            continue;
        const auto some = update(i, items[i].values);
        updates.insert(updates.end(), some.begin(), some.end());
    }
    return updates;
}

} // namespace gr::spead
