/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_READER_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_READER_H

#include "sample_format.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace gr::spead {

//! In the shape of an item: a dimension of variable size.
constexpr auto variable_size = std::numeric_limits<std::uint64_t>::max();

//! An item as described by its descriptor.
struct item_description {
    std::uint64_t id = 0;
    std::string name = {};
    number_format format = {}; //!< format of each number
    bool is_array = false;     //!< has at least one dimension
    bool is_pairs = false;     //!< elements are pairs: last dimension 2, or two fields
    //! Why its samples cannot be read; empty if they can.
    std::string unsupported_reason = {};
    std::vector<std::uint64_t> shape = {}; //!< may contain variable_size
    std::string text = {};                 //!< for people; not compared

    bool operator==(const item_description& other) const
    {
        return id == other.id && name == other.name && format == other.format &&
               is_array == other.is_array && is_pairs == other.is_pairs &&
               unsupported_reason == other.unsupported_reason && shape == other.shape;
    }
};

/*!
 * \brief Parses a descriptor: a whole SPEAD packet, the content of an item 0x05. Ignores
 * bytes after it.
 *
 * Accepts what spead2 accepts: formats, numpy headers, and the field widths of PySPEAD
 * (spead2's BUG_COMPAT_DESCRIPTOR_WIDTHS). None if it is not a descriptor. Never reads
 * beyond \p bytes. Names are truncated to 64 bytes, texts to 256. A name or text with
 * characters other than printable ASCII becomes empty.
 */
std::optional<item_description> read_descriptor(const std::byte* packet,
                                                std::size_t bytes);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_READER_H */
