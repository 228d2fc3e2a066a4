/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_ITEM_H
#define INCLUDED_SPEAD_ITEM_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gr::spead {

//! What an item of a heap contains.
enum class item_kind {
    timestamp, //!< an immediate value, the running timestamp of the heap
    samples,   //!< the samples of the heap
    immediate  //!< a value, changed by set_item()
};

/*!
 * \brief One item of a heap. A receiver finds it by its ID and name.
 *
 * timestamp(), samples() and immediate() make items. They throw std::invalid_argument (in
 * Python: ValueError) for an ID, a name or a value that is invalid for every sink.
 */
struct item {
    item_kind kind;
    std::int64_t id;
    std::string name;
    std::string description;
    //! of an immediate item: one value for all inputs, or one for each
    std::vector<std::int64_t> values = {};

    bool operator==(const item& other) const
    {
        return kind == other.kind && id == other.id && name == other.name &&
               description == other.description && values == other.values;
    }
};

namespace detail {

// The limits of a sink are narrower: those of its heap address width.
constexpr std::int64_t first_item_id = 0x16;
constexpr std::int64_t last_item_id = (std::int64_t{ 1 } << 23) - 1;  // SPEAD-64-40
constexpr std::int64_t largest_value = (std::int64_t{ 1 } << 48) - 1; // SPEAD-64-48

//! Throws std::invalid_argument for what no sink takes.
inline item checked(const char* function, item made)
{
    const auto check = [&](bool is_possible,
                           const char* parameter,
                           const std::string& value,
                           const std::string& allowed) {
        if (!is_possible)
            throw std::invalid_argument(std::string("spead.") + function + ": " +
                                        parameter + " = " + value +
                                        " is not possible; allowed: " + allowed);
    };
    check(made.id >= first_item_id && made.id <= last_item_id,
          "id",
          std::to_string(made.id),
          "22 to 8388607 (0x16 to 0x7fffff); SPEAD reserves the IDs below");
    check(!made.name.empty(), "name", "\"\"", "any text that is not empty");
    for (const auto value : made.values)
        check(value >= 0 && value <= largest_value,
              "value",
              std::to_string(value),
              "0 to " + std::to_string(largest_value));
    return made;
}

} // namespace detail

/*!
 * \brief The running timestamp of a heap, an immediate item as wide as the heap address.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1; 0x1600 in radio astronomy
 * \param name name of the item at receivers; not empty
 * \param description description in the descriptor, for people
 */
inline item
timestamp(std::int64_t id = 0x1600,
          std::string name = "timestamp",
          std::string description = "Running timestamp of the first sample in the heap")
{
    return detail::checked(
        "timestamp",
        { item_kind::timestamp, id, std::move(name), std::move(description), {} });
}

/*!
 * \brief The samples of a heap: an array whose first dimension is variable, or fixed with
 * wire_type="<i2".
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1; 0x3300 in radio astronomy
 * \param name name of the item at receivers; not empty
 * \param description description in the descriptor, for people
 */
inline item samples(std::int64_t id = 0x3300,
                    std::string name = "adc_samples",
                    std::string description = "Samples in order of time")
{
    return detail::checked(
        "samples",
        { item_kind::samples, id, std::move(name), std::move(description), {} });
}

/*!
 * \brief An immediate item, as wide as the heap address. Every packet of a sink carries
 * its value, which set_item() changes. A source makes tags of its values.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1
 * \param name name of the item at receivers; not empty
 * \param value one value for all inputs, or one for each, 0 to 2^heap_address_bits - 1.
 *     In a source, a value selects the heaps that have it; by default any value is
 *     received.
 * \param description description in the descriptor, for people
 */
inline item immediate(std::int64_t id,
                      std::string name,
                      std::vector<std::int64_t> value = {},
                      std::string description = "")
{
    return detail::checked("immediate",
                           { item_kind::immediate,
                             id,
                             std::move(name),
                             std::move(description),
                             std::move(value) });
}

/*! \brief The items of a heap by default: timestamp() and samples(). */
inline std::vector<item> default_items() { return { timestamp(), samples() }; }

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_ITEM_H */
