/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "items.h"
#include "protocol/item_text.h"
#include "shared_options.h"

#include <algorithm>
#include <set>

namespace gr::spead {

namespace {

std::ptrdiff_t count_of(item_kind kind, const std::vector<item>& items)
{
    return std::count_if(
        items.begin(), items.end(), [&](const item& item) { return item.kind == kind; });
}

// Checks the limits common to all blocks. A heap address of 40 bits allows the largest
// IDs, one of 48 bits the largest values.
void check_item(const std::string& prefix, const item& item)
{
    constexpr auto first_id = static_cast<std::int64_t>(wire::first_free);
    constexpr auto last_id = static_cast<std::int64_t>(wire::flavour{ 40 }.max_id());
    constexpr auto max_value =
        static_cast<std::int64_t>(wire::flavour{ 48 }.address_mask());
    constexpr bounds ids{
        first_id,
        last_id,
        nullptr,
        "22 to 8388607 (0x16 to 0x7fffff); SPEAD reserves the IDs below"
    };
    const bool is_counter = item.kind == item_kind::timestamp &&
                            item.id == static_cast<std::int64_t>(wire::heap_counter);
    if (!is_counter)
        check_value(prefix + "id", item.id, ids);
    require(!item.name.empty(), prefix + "name", item.name, "any text that is not empty");
    for (const auto value : item.values)
        check_value(prefix + "value", value, bounds{ 0, max_value });
}

item checked(const std::string& function, item item)
{
    check_item("spead." + function + ": ", item);
    return item;
}

// Checks for one value for all inputs, or one per input.
void check_values(const std::string& parameter,
                  const std::string& given,
                  const std::vector<std::int64_t>& values,
                  std::int64_t max_value,
                  std::size_t inputs)
{
    const bool are_allowed = std::all_of(values.begin(), values.end(), [&](auto value) {
        return value >= 0 && value <= max_value;
    });
    if (!are_allowed || (values.size() != 1 && values.size() != inputs))
        throw parameter_error(parameter,
                              given,
                              "0 to " + to_text(max_value) +
                                  (inputs == 1
                                       ? ", one value, as num_inputs is 1"
                                       : ", one value for all or one for each of " +
                                             to_text(inputs) + " inputs"));
}

} // namespace

item timestamp(std::int64_t id, std::string name, std::string description)
{
    return checked("timestamp",
                   { item_kind::timestamp, id, std::move(name), std::move(description) });
}

item samples(std::int64_t id, std::string name, std::string description)
{
    return checked("samples",
                   { item_kind::samples, id, std::move(name), std::move(description) });
}

item immediate(std::int64_t id,
               std::string name,
               std::vector<std::int64_t> value,
               std::string description)
{
    return checked("immediate",
                   { item_kind::immediate,
                     id,
                     std::move(name),
                     std::move(description),
                     std::move(value) });
}

bool has_timestamp(const std::vector<item>& items)
{
    return count_of(item_kind::timestamp, items) > 0;
}

void check_items(const std::vector<item>& items,
                 std::size_t max_items,
                 const std::string& reason)
{
    require(count_of(item_kind::samples, items) == 1 &&
                count_of(item_kind::timestamp, items) <= 1,
            "items",
            items,
            "one samples(), at most one timestamp() and any number of immediate()");
    if (items.size() > max_items)
        throw parameter_error("items",
                              to_text(items.size()) + " items",
                              "at most " + to_text(max_items) + reason);
    std::set<std::int64_t> ids;
    std::set<std::string> names;
    for (const auto& item : items) {
        check_item("items: ", item); // users can create items without these checks
        require(ids.insert(item.id).second && names.insert(item.name).second,
                "items",
                items,
                "items of different IDs and names");
    }
}

void check_items(const sink_config& config)
{
    const auto& items = config.items;
    // the largest packet has item pointers for the required items, for each item and,
    // with descriptors in the first heap, for each descriptor
    const std::size_t max_pointers = wire::max_items - wire::leading_items;
    if (config.descriptors == descriptor_policy::first_heap)
        check_items(items,
                    max_pointers / 2,
                    " with descriptors=\"first_heap\", as each takes two of the 255 item "
                    "pointers of a packet");
    else
        check_items(items, max_pointers, ", as a packet has at most 255 item pointers");
    const auto last_id = static_cast<std::int64_t>(config.flavour.max_id());
    for (const auto& item : items) {
        require(
            item.id >= static_cast<std::int64_t>(wire::first_free) && item.id <= last_id,
            "items",
            item,
            "IDs 22 to " + to_text(last_id) +
                " with heap_address_bits=" + to_text(config.flavour.heap_address_bits));
        if (item.kind == item_kind::immediate)
            check_values("items",
                         to_text(item),
                         item.values,
                         config.largest_value(),
                         config.inputs);
    }
}

immediate_items::immediate_items(const sink_config& config)
    : d_items(config.items),
      d_axes(config.axes),
      d_max_value(config.largest_value()),
      d_inputs(config.inputs)
{
}

std::size_t
immediate_items::find(const std::variant<std::int64_t, std::string>& key) const
{
    const auto* id = std::get_if<std::int64_t>(&key);
    std::string immediates;
    for (std::size_t i = 0; i < d_items.size(); ++i) {
        const auto& item = d_items[i];
        if (item.kind != item_kind::immediate)
            continue;
        if (id ? item.id == *id : item.name == std::get<std::string>(key))
            return i;
        immediates += (immediates.empty() ? "" : ", ") + hexadecimal(item.id) + " or " +
                      quoted(item.name);
    }
    throw parameter_error("item",
                          id ? hexadecimal(*id) : to_text(key),
                          immediates.empty() ? "none, as there is no immediate() in items"
                                             : immediates);
}

std::vector<item_update> immediate_items::make_updates(std::size_t index,
                                                       std::int64_t value,
                                                       std::int64_t input) const
{
    check_value("input", input, bounds{ -1, static_cast<std::int64_t>(d_inputs) - 1 });
    auto updates = make_updates(index, { value });
    if (input == -1)
        return updates;
    return { updates[static_cast<std::size_t>(input)] };
}

std::vector<item_update>
immediate_items::make_updates(std::size_t index,
                              const std::vector<std::int64_t>& values) const
{
    check_values("value", to_text(values), values, d_max_value, d_inputs);
    std::vector<item_update> updates;
    for (std::size_t input = 0; input < d_inputs; ++input) {
        const auto value = values[values.size() == 1 ? 0 : input];
        updates.push_back({ index, static_cast<std::uint64_t>(value), input });
    }
    return updates;
}

std::vector<item_update>
immediate_items::make_updates(const std::vector<item>& items) const
{
    const auto is_same = [](const item& a, const item& b) {
        return a.kind == b.kind && a.id == b.id && a.name == b.name;
    };
    require(
        std::equal(items.begin(), items.end(), d_items.begin(), d_items.end(), is_same),
        "items",
        items,
        "the items of the constructor with any values: " + to_text(d_items));
    auto complete_items = items;
    set_first_indexes(complete_items, d_axes);
    std::vector<item_update> updates;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].kind != item_kind::immediate)
            continue;
        const auto value_updates = make_updates(i, complete_items[i].values);
        updates.insert(updates.end(), value_updates.begin(), value_updates.end());
    }
    return updates;
}

} // namespace gr::spead
