/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_ITEM_H
#define INCLUDED_SPEAD_ITEM_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gr {
namespace spead {

/*!
 * \brief One item of a heap: what a receiver finds in it under an ID and a name.
 *
 * Made by timestamp(), samples() and immediate(); a heap holds an ordered list of them.
 */
struct item {
    enum class content {
        timestamp, //!< an immediate value, the running timestamp of the heap
        samples,   //!< the samples of the heap
        immediate  //!< a value that stays until it is set to another
    };

    content holds;
    std::int64_t id;
    std::string name;
    std::string description;
    //! of an immediate item: one value for all inputs, or one for each
    std::vector<std::int64_t> values = {};

    bool operator==(const item& other) const
    {
        return holds == other.holds && id == other.id && name == other.name &&
               description == other.description && values == other.values;
    }
};

/*!
 * \brief The running timestamp of a heap, an immediate item as wide as the heap address.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1; 0x1600 in radio astronomy
 * \param name the name under which a receiver finds the item; not empty
 * \param description a sentence for people who look at the descriptors
 */
inline item
timestamp(std::int64_t id = 0x1600,
          std::string name = "timestamp",
          std::string description = "Running timestamp of the first sample in the heap")
{
    return { item::content::timestamp, id, std::move(name), std::move(description), {} };
}

/*!
 * \brief The samples of a heap, an array of one variable dimension.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1; 0x3300 in radio astronomy
 * \param name the name under which a receiver finds the item; not empty
 * \param description a sentence for people who look at the descriptors
 */
inline item samples(std::int64_t id = 0x3300,
                    std::string name = "adc_samples",
                    std::string description = "Samples in order of time")
{
    return { item::content::samples, id, std::move(name), std::move(description), {} };
}

/*!
 * \brief A value that is the same in all packets until it is set to another: an immediate
 * item as wide as the heap address.
 *
 * \param id item ID, 22 to 2^(63 - heap_address_bits) - 1
 * \param name the name under which a receiver finds the item; not empty
 * \param values one value for all inputs, or one for each, 0 to 2^heap_address_bits - 1
 * \param description a sentence for people who look at the descriptors
 */
inline item immediate(std::int64_t id,
                      std::string name,
                      std::vector<std::int64_t> values,
                      std::string description = "")
{
    return { item::content::immediate,
             id,
             std::move(name),
             std::move(description),
             std::move(values) };
}

/*! \brief What a heap holds unless told otherwise: timestamp() and samples(). */
inline std::vector<item> default_items() { return { timestamp(), samples() }; }

} // namespace spead
} // namespace gr

#endif /* INCLUDED_SPEAD_ITEM_H */
