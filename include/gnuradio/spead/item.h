/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_ITEM_H
#define INCLUDED_SPEAD_ITEM_H

#include <gnuradio/spead/api.h>

#include <cstdint>
#include <string>
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
 * Python: ValueError) for an ID, a name or a value that no sink or source allows.
 */
struct item {
    item_kind kind;
    std::int64_t id;
    std::string name;
    std::string description;
    //! of an immediate item: one value for all inputs, or one per input
    std::vector<std::int64_t> values = {};

    bool operator==(const item& other) const
    {
        return kind == other.kind && id == other.id && name == other.name &&
               description == other.description && values == other.values;
    }
};

/*!
 * \brief The running timestamp of a heap, an immediate item as wide as the heap address.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1; 0x1600 in radio astronomy. A
 * source also accepts 1: the heap counter then serves as the timestamp
 * \param name name of the item at receivers; not empty
 * \param description human-readable text in the descriptor
 */
SPEAD_API item
timestamp(std::int64_t id = 0x1600,
          std::string name = "timestamp",
          std::string description = "Running timestamp of the first sample in the heap");

/*!
 * \brief The samples of a heap: an array whose first dimension is variable, or fixed if
 * wire_type needs a numpy header.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1; 0x3300 in radio astronomy
 * \param name name of the item at receivers; not empty
 * \param description human-readable text in the descriptor
 */
SPEAD_API item samples(std::int64_t id = 0x3300,
                       std::string name = "adc_samples",
                       std::string description = "Samples in order of time");

/*!
 * \brief An immediate item, as wide as the heap address. Every packet of a sink carries
 * its value, which set_item() changes. A source outputs its values as tags.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1
 * \param name name of the item at receivers; not empty
 * \param value one value for all inputs, or one per input, 0 to 2^heap_address_bits - 1.
 *     In a source, a value selects the heaps that have it; by default any value is
 *     received.
 * \param description human-readable text in the descriptor
 */
SPEAD_API item immediate(std::int64_t id,
                         std::string name,
                         std::vector<std::int64_t> value = {},
                         std::string description = "");

/*! \brief The default items of a heap: timestamp() and samples(). */
inline std::vector<item> default_items() { return { timestamp(), samples() }; }

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_ITEM_H */
