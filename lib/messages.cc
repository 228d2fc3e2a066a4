/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "core/support/parameter_error.h"
#include "messages.h"

#include <optional>

namespace gr::spead {

namespace {

std::optional<std::int64_t> integer(const pmt::pmt_t& value)
{
    if (pmt::is_integer(value))
        return pmt::to_long(value);
    if (pmt::is_uint64(value)) {
        const auto wide = pmt::to_uint64(value);
        // too large for every item
        return wide > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(wide);
    }
    return std::nullopt;
}

// Those of a vector, a tuple or a list; anything else is one of its own.
std::vector<pmt::pmt_t> elements(const pmt::pmt_t& value)
{
    std::vector<pmt::pmt_t> all;
    const bool is_tuple = pmt::is_tuple(value);
    if (is_tuple || pmt::is_vector(value)) {
        for (std::size_t i = 0; i < pmt::length(value); ++i)
            all.push_back(is_tuple ? pmt::tuple_ref(value, i)
                                   : pmt::vector_ref(value, i));
        return all;
    }
    auto rest = value;
    for (; pmt::is_pair(rest); rest = pmt::cdr(rest))
        all.push_back(pmt::car(rest));
    const bool is_list = !all.empty() && pmt::is_null(rest);
    return is_list ? all : std::vector{ value };
}

// Numbers in any of the ways in which a message can hold several.
std::optional<std::vector<std::int64_t>> integers(const pmt::pmt_t& value)
{
    const auto copied = [](const auto& numbers) {
        std::vector<std::int64_t> all;
        for (const auto number : numbers)
            all.push_back(static_cast<std::int64_t>(number));
        return all;
    };
    if (pmt::is_u64vector(value))
        return copied(pmt::u64vector_elements(value));
    if (pmt::is_s64vector(value))
        return copied(pmt::s64vector_elements(value));
    if (pmt::is_u32vector(value))
        return copied(pmt::u32vector_elements(value));
    if (pmt::is_s32vector(value))
        return copied(pmt::s32vector_elements(value));

    std::vector<std::int64_t> all;
    for (const auto& element : elements(value)) {
        const auto one = integer(element);
        if (!one)
            return std::nullopt;
        all.push_back(*one);
    }
    return all;
}

std::vector<item_change>
read_entry(const pmt::pmt_t& key, const pmt::pmt_t& value, const immediate_items& items)
{
    const auto id = integer(key);
    if (!id && !pmt::is_symbol(key))
        throw parameter_error("item", pmt::write_string(key), "an ID or a name");
    const auto index = id ? items.find(*id) : items.find(pmt::symbol_to_string(key));
    const auto values = integers(value);
    if (!values)
        throw parameter_error(
            "value",
            pmt::write_string(value),
            "an integer, or a vector, tuple or list of one for each input");
    return items.change(index, *values);
}

pmt::pmt_t to_pmt(std::uint64_t count) { return pmt::from_uint64(count); }
pmt::pmt_t to_pmt(bool is_in_use) { return pmt::from_bool(is_in_use); }
pmt::pmt_t to_pmt(const std::map<std::string, std::uint64_t>& counts)
{
    auto dict = pmt::make_dict();
    for (const auto& [name, count] : counts)
        dict = pmt::dict_add(dict, pmt::mp(name), to_pmt(count));
    return dict;
}

} // namespace

std::vector<item_change> read_items_message(const pmt::pmt_t& message,
                                            const immediate_items& items)
{
    if (pmt::is_dict(message)) {
        std::vector<item_change> changes;
        auto entries = pmt::dict_items(message);
        for (; pmt::is_pair(entries); entries = pmt::cdr(entries)) {
            const auto entry = pmt::car(entries);
            const auto some = read_entry(pmt::car(entry), pmt::cdr(entry), items);
            changes.insert(changes.end(), some.begin(), some.end());
        }
        return changes;
    }
    if (pmt::is_pair(message))
        return read_entry(pmt::car(message), pmt::cdr(message), items);
    throw parameter_error("message on port items",
                          pmt::write_string(message),
                          "a dict, or a pair, of name or ID and value");
}

pmt::pmt_t stats_message(const sink_stats& stats)
{
    auto dict = pmt::make_dict();
    sink_stats::for_each([&](const char* name, auto figure) {
        dict = pmt::dict_add(dict, pmt::mp(name), to_pmt(stats.*figure));
    });
    return pmt::cons(dict, pmt::PMT_NIL);
}

} // namespace gr::spead
