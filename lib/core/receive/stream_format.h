/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_FORMAT_H
#define INCLUDED_SPEAD_CORE_STREAM_FORMAT_H

#include "protocol/descriptor_reader.h"
#include "protocol/sample_converter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief What the items of heaps mean: which are the timestamp and the samples, and how
 * their numbers are encoded.
 */
struct stream_format {
    //! An item with a value that becomes a tag.
    struct immediate {
        std::uint64_t id;
        std::string name;
        number_format format = {};
        //! Values that select heaps: one for all outputs, or one for each. None: any.
        std::vector<std::int64_t> values = {};
    };

    //! None: heaps of one length, of which each has the next heap counter.
    std::optional<std::uint64_t> timestamp_id = 0x1600;
    number_format timestamp_format = {};
    std::uint64_t samples_id = 0x3300;
    std::vector<immediate> immediates = {};
    unsigned bits = 8; //!< of the integers in a packet
    byte_order order = byte_order::big;

    //! Whether all items of \p before mean what they did.
    bool extends(const stream_format& before) const;
};

//! The most immediate items whose values become tags, if descriptors name them.
constexpr std::size_t most_described_immediates = 32;

//! Adds what a descriptor says to what other descriptors of a stream have said, or
//! replaces what was said about the same ID. True if it changes anything. False if there
//! is no room for more items.
bool merge(std::vector<item_description>& items, item_description description);

//! Finds out the format of samples for outputs of \p type. \p current, if any, is kept as
//! far as its items are still described. Throws std::invalid_argument with the reason if
//! the descriptors do not say enough.
stream_format format_for(const std::vector<item_description>& items,
                         sample_type type,
                         const stream_format* current);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_FORMAT_H */
