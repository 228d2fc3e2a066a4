/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#include "core/support/parameter_error.h"
#include "message_ports.h"

#include <cmath>
#include <optional>

namespace gr::spead {

std::optional<std::int64_t> integer(const pmt::pmt_t& value)
{
    if (pmt::is_integer(value))
        return pmt::to_long(value);
    if (pmt::is_uint64(value)) {
        const auto number = pmt::to_uint64(value);
        // exceeds the range of every item
        return number > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(number);
    }
    // widgets of GRC send whole numbers as doubles, exact up to 2^53
    if (pmt::is_real(value) && std::abs(pmt::to_double(value)) <= 0x1p53 &&
        std::trunc(pmt::to_double(value)) == pmt::to_double(value))
        return static_cast<std::int64_t>(pmt::to_double(value));
    return std::nullopt;
}

namespace {

// One integer, or those in a vector.
std::optional<std::vector<std::int64_t>> integers(const pmt::pmt_t& value)
{
    const bool is_vector = pmt::is_vector(value);
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < (is_vector ? pmt::length(value) : 1); ++i) {
        const auto number = integer(is_vector ? pmt::vector_ref(value, i) : value);
        if (!number)
            return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<item_update>
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
            "an integer, or a vector of one for each input, such as pmt.to_pmt([1, 2])");
    return items.make_updates(index, *values);
}

pmt::pmt_t to_pmt(std::uint64_t count) { return pmt::from_uint64(count); }
pmt::pmt_t to_pmt(double number) { return pmt::from_double(number); }
pmt::pmt_t to_pmt(bool is_set) { return pmt::from_bool(is_set); }
pmt::pmt_t to_pmt(const std::string& text) { return pmt::string_to_symbol(text); }
pmt::pmt_t to_pmt(const std::map<std::string, std::uint64_t>& counts)
{
    auto dict = pmt::make_dict();
    for (const auto& [name, count] : counts)
        dict = pmt::dict_add(dict, pmt::mp(name), to_pmt(count));
    return dict;
}

template <typename figures>
pmt::pmt_t to_message(const figures& stats)
{
    auto dict = pmt::make_dict();
    figures::for_each([&](const char* name, auto figure) {
        dict = pmt::dict_add(dict, pmt::mp(name), to_pmt(stats.*figure));
    });
    return pmt::cons(dict, pmt::PMT_NIL);
}

} // namespace

std::vector<item_update> read_items_message(const pmt::pmt_t& message,
                                            const immediate_items& items)
{
    if (pmt::is_dict(message)) {
        std::vector<item_update> updates;
        auto entries = pmt::dict_items(message);
        for (; pmt::is_pair(entries); entries = pmt::cdr(entries)) {
            const auto entry = pmt::car(entries);
            const auto entry_updates =
                read_entry(pmt::car(entry), pmt::cdr(entry), items);
            updates.insert(updates.end(), entry_updates.begin(), entry_updates.end());
        }
        return updates;
    }
    if (pmt::is_pair(message))
        return read_entry(pmt::car(message), pmt::cdr(message), items);
    throw parameter_error("message on port items",
                          pmt::write_string(message),
                          "a dict, or a pair, of name or ID and value");
}

double read_rate_message(const pmt::pmt_t& message)
{
    const auto value = pmt::is_pair(message) ? pmt::cdr(message) : message;
    if (!pmt::is_number(value) || pmt::is_complex(value))
        throw parameter_error(
            "message on port rate",
            pmt::write_string(message),
            "a number of bytes per second, or a pair of any key and it");
    return pmt::to_double(value);
}

pmt::pmt_t stats_message(const sink_stats& stats) { return to_message(stats); }
pmt::pmt_t stats_message(const source_stats& stats) { return to_message(stats); }

} // namespace gr::spead
