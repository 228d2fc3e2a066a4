/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_CORE_ITEM_NUMBER_H
#define INCLUDED_SPEAD_CORE_ITEM_NUMBER_H

#include "packet_parser.h"
#include "sample_format.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gr::spead {

//! Reads a number from bytes \p begin to \p end of the heap's payload, which holds
//! numbers too wide for an item pointer. None if the packet does not hold all of them.
std::optional<std::uint64_t> number_at(const packet_view& packet,
                                       std::uint64_t begin,
                                       std::uint64_t end,
                                       const number_format& format);

//! The value of an item, if this packet holds it. Assumes that addressed items are in the
//! order of their addresses.
std::optional<std::uint64_t>
number_of(const packet_view& packet, std::size_t index, const number_format& format);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_CORE_ITEM_NUMBER_H */
