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
 * \brief What the items of heaps mean: where the timestamp and the samples are, and how
 * samples are written.
 */
struct stream_format {
    //! An item with a value that becomes a tag.
    struct immediate {
        std::uint64_t id;
        std::string name;
        //! if there are several: the value in the heaps of each output
        std::vector<std::int64_t> values = {};
    };

    //! none: heaps of one size, of which each has the next heap counter
    std::optional<std::uint64_t> timestamp_id = 0x1600;
    unsigned timestamp_bits = 64; //!< after which it wraps, if the heap address is wider
    std::uint64_t samples_id = 0x3300;
    std::vector<immediate> immediates = {};
    unsigned bits = 8; //!< of the integers in a packet
    byte_order order = byte_order::big;
    //! of the samples of a heap, if that is fixed: so few bytes may be an immediate value
    std::size_t heap_bytes = 0;

    //! Which of the immediate items tells outputs apart, or immediates.size().
    std::size_t selector() const;
};

//! The most immediate items whose values become tags, if descriptors name them.
constexpr std::size_t most_learned_immediates = 32;

//! Finds out the format from the descriptors of a stream, for outputs of \p type. Throws
//! std::invalid_argument that says why that is not possible.
stream_format learn_format(const std::vector<item_description>& descriptions,
                           sample_type type);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_FORMAT_H */
