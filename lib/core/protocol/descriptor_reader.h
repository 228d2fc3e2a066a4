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

//! What a descriptor says about an item.
struct item_description {
    std::uint64_t id = 0;
    std::string name = {};
    bool is_array = false; //!< has at least one dimension
    char type = 0;         //!< of an element: 'i', 'u', 'f', 'c', 'b'; 0 if not known
    unsigned bits = 0;     //!< of an element
    byte_order order = byte_order::big;

    bool operator==(const item_description& other) const
    {
        return id == other.id && name == other.name && is_array == other.is_array &&
               type == other.type && bits == other.bits && order == other.order;
    }
};

//! Reads a descriptor: a whole SPEAD packet, the content of an item 0x05. None if it is
//! not one. Never reads beyond it. Names that are longer than 64 bytes are cut; those
//! with other characters than printable ASCII are empty.
std::optional<item_description> read_descriptor(const std::byte* packet,
                                                std::size_t bytes);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_DESCRIPTOR_READER_H */
