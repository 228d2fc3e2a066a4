/* -*- c++ -*- */
/*
 * Copyright 2026 The gr-spead authors
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#ifndef INCLUDED_SPEAD_MESSAGE_PORTS_H
#define INCLUDED_SPEAD_MESSAGE_PORTS_H

#include "core/items.h"
#include <gnuradio/spead/sink.h>
#include <gnuradio/spead/source_stats.h>
#include <pmt/pmt.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::spead {

//! Returns the value of an integer or of a whole real number, limited to 64 bits with
//! sign, or nullopt.
std::optional<std::int64_t> integer(const pmt::pmt_t& value);

//! The pair (dict, NIL). The keys of the dict are the names of the struct's members.
//! \{
pmt::pmt_t stats_message(const sink_stats& stats);
pmt::pmt_t stats_message(const source_stats& stats);
//! \}

//! Parses a message to the port "items", see sink. Throws std::invalid_argument with the
//! reason if the message is invalid.
std::vector<item_update> read_items_message(const pmt::pmt_t& message,
                                            const immediate_items& items);

//! Parses a message to the port "rate": a number, or a pair of any key and a number.
//! Throws std::invalid_argument if it is neither.
double read_rate_message(const pmt::pmt_t& message);

} // namespace gr::spead

#endif /* INCLUDED_SPEAD_MESSAGE_PORTS_H */
