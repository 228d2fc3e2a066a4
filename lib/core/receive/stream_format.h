/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_STREAM_FORMAT_H
#define INCLUDED_SPEAD_CORE_STREAM_FORMAT_H

#include "axes/heap_axes.h"
#include "protocol/descriptor_reader.h"
#include "protocol/sample_format.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gr::spead {

/*!
 * \brief The meaning of the items in heaps: which item is the timestamp, which one holds
 * the samples, and how their numbers are encoded.
 */
struct stream_format {
    //! An item whose value becomes a tag.
    struct immediate {
        std::uint64_t id;
        std::string name;
        number_format format = {};
        //! The values that select heaps: one for all outputs, or one per output. Empty:
        //! any value.
        std::vector<std::int64_t> values = {};
    };

    //! None: heaps have equal lengths and consecutive heap counters.
    std::optional<std::uint64_t> timestamp_id = 0x1600;
    //! If no timestamp has been described, the IDs of the described items: heaps with
    //! others wait for their descriptors.
    std::vector<std::uint64_t> described_ids = {};
    number_format timestamp_format = {};
    std::uint64_t samples_id = 0x3300;
    std::vector<immediate> immediates = {};
    //! The format of the numbers of samples, or 'c' for complex samples.
    number_format samples_format{ 'i', 8 };
    //! A line for users about the shape of the samples, if these have several axes.
    std::string axes_hint = {};

    //! Whether all items of \p previous keep their meaning.
    bool extends(const stream_format& previous) const;
};

//! The samples are described, but cannot be received.
class unsuitable_samples : public std::invalid_argument
{
    using std::invalid_argument::invalid_argument;
};

//! Maximum number of immediate items from descriptors whose values become tags.
constexpr std::size_t max_described_immediates = 32;

//! Adds the description of an item, or replaces that of the same ID. Returns whether this
//! changes \p items. False if there is no room for more items.
bool merge(std::vector<item_description>& items, item_description description);

//! Derives the format of a stream from its descriptors, for outputs of \p type. Keeps the
//! samples item of \p current, if any, as long as it is described. Throws
//! std::invalid_argument with the reason if the descriptors are insufficient, and
//! unsuitable_samples if they do not match \p type or \p axes.
stream_format format_for(const std::vector<item_description>& items,
                         sample_type type,
                         const heap_axes& axes,
                         const stream_format* current);

//! Whether decoding numbers of \p samples as \p wire gives their values, or cannot be
//! told from the description. As integers of the same size keep their bits, it depends on
//! the \p type of the outputs. Outputs of bytes take any numbers.
bool is_compatible(const item_description& samples,
                   const number_format& wire,
                   sample_type type);

//! Throws unsuitable_samples with the reason if the samples of \p format are described,
//! and is_compatible() is false.
void check_samples(const stream_format& format,
                   const std::vector<item_description>& items,
                   sample_type type);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_STREAM_FORMAT_H */
