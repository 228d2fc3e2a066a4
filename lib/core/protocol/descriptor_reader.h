/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_DESCRIPTOR_READER_H
#define INCLUDED_SPEAD_CORE_DESCRIPTOR_READER_H

#include "sample_converter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gr::spead {

//! The encoding of a number. The type is 'i', 'u', 'f', 'c' or 'b', or 0 if unknown.
struct number_format {
    char type = 0;
    unsigned bits = 0;
    byte_order order = byte_order::big;

    bool operator==(const number_format& other) const
    {
        return type == other.type && bits == other.bits && order == other.order;
    }
    bool is_integer() const { return type == 'i' || type == 'u'; }
    unsigned bytes() const { return (bits + 7) / 8; }
    //! Decodes a number whose bytes, right-aligned in \p raw, were read as big-endian.
    std::uint64_t value(std::uint64_t raw) const;
};

//! An item as described by its descriptor.
struct item_description {
    std::uint64_t id = 0;
    std::string name = {};
    number_format format = {}; //!< format of each number
    bool is_array = false;     //!< has at least one dimension
    bool is_pairs = false;     //!< of two numbers: last dimension 2, or two fields
    //! Why its samples cannot be read; empty if they can.
    std::string obstacle = {};

    bool operator==(const item_description& other) const
    {
        return id == other.id && name == other.name && format == other.format &&
               is_array == other.is_array && is_pairs == other.is_pairs &&
               obstacle == other.obstacle;
    }
};

/*!
 * \brief Parses a descriptor: a whole SPEAD packet, the content of an item 0x05. Ignores
 * bytes after it.
 *
 * Accepts what spead2 accepts: formats, numpy headers, and the field widths of PySPEAD
 * (spead2's BUG_COMPAT_DESCRIPTOR_WIDTHS). None if it is not a descriptor. Never reads
 * beyond \p bytes. Names are truncated to 64 bytes. A name with characters other than
 * printable ASCII becomes empty.
 */
std::optional<item_description> read_descriptor(const std::byte* packet,
                                                std::size_t bytes);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_READER_H */
